"""Random cells against a live replica: what the model predicts of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from forge.errors import ForgeError
from tests.long.replicas.drawing import drawn
from tests.long.replicas.replica import Refused, Servers
from tests.long.vendors.applier import ServerEnded
from tests.replay.cells import Cell, line_of, packed
from tests.replay.predicted import predicted

RUNS = Path(__file__).with_name("runs.jsonl")


@dataclass(slots=True)
class Search:
    """A run over the cells of a seed: how many were right, refused by the model, and wrong."""

    line: str
    seed: int
    first: int
    count: int = 0
    #: What the server itself refuses: it says nothing of them.
    void: int = 0
    right: int = 0
    #: Words of the model's refusals, and how many there were.
    refused: Counter[str] = field(default_factory=Counter)
    found: list[Cell] = field(default_factory=list)
    seconds: float = 0.0

    def run(self, servers: Servers, seconds: float) -> None:
        """Draw and compare for so many seconds."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            self._one(servers, self.first + self.count)
            self.count += 1
        self.seconds = time.monotonic() - began

    def _one(self, servers: Servers, number: int) -> None:
        cell = live(servers, drawn(Random(f"{self.seed}/{number}"), f"{self.seed}/{number}"), self.line)
        if cell is None:
            self.void += 1
            return
        verdict = judged(cell, self.line)
        if verdict is None:
            self.found.append(smallest(servers, cell, self.line))
        elif verdict:
            self.refused[verdict] += 1
        else:
            self.right += 1

    def told(self) -> dict[str, object]:
        """What its line says."""
        return {
            "line": self.line, "seed": self.seed, "first": self.first, "count": self.count, "void": self.void,
            "right": self.right, "refused": self.refused.total(), "wrong": len(self.found),
            "seconds": round(self.seconds),
        }  # fmt: skip


def live(servers: Servers, cell: Cell, line: str) -> Cell | None:
    """The cell with what a live replica makes of it; None if the server does not take its statements."""
    try:
        log = servers[line].log(cell)
        result = servers[line].result(cell, log)
    except (Refused, ServerEnded):
        return None
    return replace(cell, results={line: result}, logs={line: packed(log)})


def judged(cell: Cell, line: str) -> str | None:
    """Why the model refuses the cell, nothing if it is right, None if it is wrong."""
    try:
        return "" if predicted(cell, line) == cell.results[line].outcome else None
    except ForgeError as error:
        return str(error)[:100]


def smallest(servers: Servers, cell: Cell, line: str) -> Cell:
    """A cell that is wrong as well, with fewer rows and statements."""
    while True:
        for smaller in _smaller(cell):
            tried = live(servers, smaller, line)
            if tried is not None and judged(tried, line) is None:
                cell = tried
                break
        else:
            return cell


def _smaller(cell: Cell) -> Iterator[Cell]:
    for number in range(len(cell.dml)):
        yield replace(cell, dml=cell.dml[:number] + cell.dml[number + 1 :])
    for number in range(len(cell.rows)):
        yield replace(cell, rows=cell.rows[:number] + cell.rows[number + 1 :])
    for number in range(len(cell.rrows)):
        yield replace(cell, rrows=cell.rrows[:number] + cell.rrows[number + 1 :])
    for change in ({"conv": ""}, {"image": "full"}, {"mode": "STRICT"}):
        if any(getattr(cell, name) != value for name, value in change.items()):
            yield replace(cell, **change)  # type: ignore[arg-type]


def keep(path: Path, search: Search) -> None:
    """Add what was found to a file of cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for cell in search.found:
            file.write(line_of(replace(cell, name=f"{cell.name} on {search.line}")))


def refusals(search: Search) -> str:
    """The most frequent ones, a line each."""
    return "".join(f"  {count} {words}\n" for words, count in search.refused.most_common(15))
