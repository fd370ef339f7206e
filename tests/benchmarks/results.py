"""What a run says: the figure of every line, as a table and as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.lines import Key, Line
from tests.benchmarks.measure import Cost
from tests.benchmarks.run import Run, Spread, spread

_MEGA = 1e6


@dataclass(frozen=True, slots=True)
class Figure:
    """A line's figure by the processor, where it is of times, and by the clock; or why there is none."""

    line: Line
    wall: Spread | None
    cpu: Spread | None
    #: What kept it from being taken, or left a peer out of it.
    remarks: tuple[str, ...]

    @property
    def is_met(self) -> bool | None:
        """By the processor, if the figure is of times; None where there is no goal, or no figure."""
        first = self.cpu or self.wall
        return None if first is None or self.line.goal is None else self.line.is_met(first.median)


def figure_of(line: Line, run: Run) -> Figure:
    """The median over the rounds of the figure of each round."""
    remarks = tuple(dict.fromkeys(_remarks(line, run)))
    over = [run.costs[key] for key in line.over if key in run.costs]
    wanted = [key for key in line.keys if key not in line.over]
    if not over or any(key not in run.costs for key in wanted):
        return Figure(line, None, None, remarks)
    under = run.costs[line.under] if line.under is not None else None
    control = [run.costs[key] for key in line.control or ()]
    walls, cpus = [], []
    # What takes long is timed in the first rounds alone.
    for number in range(min(len(run.costs[key]) for key in line.keys if key in run.costs)):
        numerators = [costs[number] for costs in over]
        denominator = under[number] if under is not None else None
        walls.append(_value(line, numerators, denominator, lambda cost: cost.wall))
        cpus.append(_value(line, numerators, denominator, lambda cost: cost.cpu))
        if control:
            walls[-1] /= control[0][number].wall / control[1][number].wall
    has_cpu = line.unit in ("", "s", "MB/s", "Mrows/s") and not control
    return Figure(line, spread(walls), spread(cpus) if has_cpu else None, remarks)


def _value(line: Line, over: Sequence[Cost], under: Cost | None, time: Callable[[Cost], float]) -> float:
    first = over[0]
    match line.unit:
        case "MB/s" | "Mrows/s":
            return first.rows / time(first) / _MEGA
        case "MB" if under is not None:
            return (first.peak - under.peak) / _MEGA
        case "B/row" if under is not None:
            return (first.peak - under.peak) / (first.rows - under.rows)
    quickest = min(time(cost) for cost in over)
    return quickest / time(under) if under is not None else quickest


def _remarks(line: Line, run: Run) -> Iterator[str]:
    for key in line.keys:
        if key in run.missing:
            yield f"missing: {run.missing[key]}"
        if key in run.failed:
            yield f"failed: {' '.join(key)}: {run.failed[key]}"


def table(figures: Sequence[Figure]) -> str:
    """For a terminal: the figure beside its goal."""
    rows: list[tuple[str, ...]] = [("", "", "CPU", "min..max", "wall", "goal", "")]
    rows += [_cells(figure) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row, figure in zip(rows, [None, *figures], strict=True):
        aligned = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        aligned += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(aligned).rstrip())
        lines += [f"       {remark}" for remark in (figure.remarks if figure else ())]
    return "\n".join(lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    line, first = figure.line, figure.cpu or figure.wall
    unit = f" {line.unit}" if line.unit else ""
    met = {True: "met", False: "MISSED", None: ""}[figure.is_met]
    return (
        f"{line.name} {line.workload}",
        line.what,
        f"{number(first.median)}{unit}" if first else "-",
        f"{number(first.least)}..{number(first.greatest)}" if first else "",
        number(figure.wall.median) if figure.cpu and figure.wall else "",
        goal_text(line),
        met,
    )


def goal_text(line: Line) -> str:
    return "" if line.goal is None else f"{line.sense} {line.goal:g}"


def number(value: float) -> str:
    """Three digits that count."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def document(run: Run, figures: Sequence[Figure], versions: Mapping[str, str]) -> dict[str, Any]:
    """Everything, as JSON has it."""
    return {
        "machine": machine(),
        "versions": dict(versions),
        "rounds": run.rounds,
        "load": run.load,
        "lines": [
            {
                "name": figure.line.name,
                "workload": figure.line.workload,
                "what": figure.line.what,
                "unit": figure.line.unit,
                "goal": figure.line.goal,
                "sense": figure.line.sense,
                "wall": asdict(figure.wall) if figure.wall else None,
                "cpu": asdict(figure.cpu) if figure.cpu else None,
                "met": figure.is_met,
                "remarks": list(figure.remarks),
            }
            for figure in figures
        ],
        "subjects": [
            {"kind": kind, "on": name, "costs": [asdict(cost) for cost in costs]}
            for (kind, name), costs in run.costs.items()
        ],
        "missing": _named(run.missing),
        "failed": _named(run.failed),
    }


def _named(reasons: Mapping[Key, str]) -> dict[str, str]:
    return {" ".join(key).strip(): reason for key, reason in reasons.items()}


def machine() -> dict[str, str | int]:
    """Processor, memory, system and Python; no name and no folder."""
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        models = [
            line.partition(":")[2].strip() for line in information.read_text().splitlines() if "model name" in line
        ]
        model = models[0] if models else model
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": model,
        "processors": os.cpu_count() or 1,
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
