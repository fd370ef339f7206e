"""The figures of one subject: lines, branches, mutants."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.power.left_out import left_out, spans
from tests.power.logs import Log
from tests.power.mutants import Mutant, mutants_of
from tests.power.subjects import Subject
from tests.power.tracing import Living, Place, Reached, functions_of, traced
from tests.power.trials import baselines, in_child, tried

#: Logs that a mutant is tried with at most: the smallest that reach its function, and others spread over all of them.
_SMALLEST, _SPREAD, _RARE = 60, 240, 4


def covered(subject: Subject, reached: Reached) -> dict[str, Any]:
    """Lines and branches of the functions that a file can reach, and what is not reached."""
    lines = hit = branches = taken = 0
    never: dict[str, str] = {}
    missed: dict[str, list[int]] = {}
    reasons = Counter[str]()
    for path in subject.files:
        name = f"{path.parent.name}/{path.name}"
        got = {line for file, line in reached.logs if file == str(path)}
        reachable: set[int] = set()
        out = unreachable(subject, path)
        for function in functions_of(path):
            reason = _reason(subject, function.place[1])
            if reason is None and function.lines and function.lines <= out.keys():
                reason = out[min(function.lines)]
            if reason is not None or not function.lines & got:
                never[f"{name}: {function.place[1]}"] = reason or "no log reaches it"
            if reason is None and (function.lines & got or subject.decodes):
                reasons.update(out[line] for line in function.lines & out.keys())
                reachable |= function.lines - out.keys()
                for line, body, other in function.branches:
                    if line in out:
                        continue
                    branches += 2
                    past = (str(path), line) in reached.passed if other is None else other in got
                    taken += (body in got) + past
        lines, hit = lines + len(reachable), hit + len(reachable & got)
        if reachable - got:
            missed[name] = sorted(reachable - got)
    return {
        "lines": lines, "hit": hit, "branches": branches, "taken": taken, "missed": missed, "never": never,
        "left out": dict(reasons.most_common()),
    }  # fmt: skip


def unreachable(subject: Subject, path: Path) -> dict[int, str]:
    """The lines of a file that are left out as those that no file reaches, with the reason."""
    return {
        line: entry.reason
        for entry in left_out(subject.name)
        if not entry.what and path.as_posix().endswith(entry.file)
        for span in spans(path, entry)
        for line in span
    }


def counted_mutants(subject: Subject, path: Path) -> tuple[list[Mutant], Counter[str]]:
    """The mutants of a file that count, and how many are left out, by reason."""
    lines = unreachable(subject, path)
    changes = {
        (line, what): entry.reason
        for entry in left_out(subject.name)
        if path.as_posix().endswith(entry.file)
        for span in spans(path, entry) if entry.what
        for line in span for what in entry.what
    }  # fmt: skip
    kept, reasons = [], Counter[str]()
    for mutant in mutants_of(path):
        reason = _reason(subject, mutant.function[1]) or lines.get(mutant.statement)
        reason = reason or changes.get((mutant.line, mutant.what))
        if reason is None:
            kept.append(mutant)
        else:
            reasons[reason] += 1
    return kept, reasons


def _reason(subject: Subject, name: str) -> str | None:
    last = name.rpartition(".")[2]
    return next((reason for suffix, reason in subject.unreachable if re.fullmatch(suffix, last)), None)


def measured(
    make: Callable[[], Subject],
    logs: Sequence[Log],
    real: Sequence[Log],
    *,
    sample: int,
    seed: int,
    jobs: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """All figures of one subject.  ``sample`` mutants are tried, chosen by ``seed`` (0: all)."""
    subject = make()
    reached = in_child(lambda: traced(subject, logs))
    say(f"{subject.name}: traced {len(logs)} logs")
    figures: dict[str, Any] = {"corpus": covered(subject, reached), "logs": len(logs)}
    if real:
        figures["real"] = covered(subject, in_child(lambda: traced(subject, real))) | {"logs": len(real)}
    right = in_child(lambda: baselines(subject, logs))
    again = in_child(lambda: baselines(subject, logs[:500]))
    if right[:500] != again:
        raise SystemExit(f"{subject.name} does not show the same twice")
    living = Living(subject)
    statements = {
        one.place: [(str(path), line) for line in one.lines] for path in subject.files for one in functions_of(path)
    }
    functions = {place for place, places in statements.items() if any(at in reached.logs for at in places)}
    counted_by_file = [counted_mutants(subject, path) for path in subject.files]
    every = [one for kept, _ in counted_by_file for one in kept if one.function in functions]
    chosen = every if not sample or sample >= len(every) else random.Random(seed).sample(every, sample)
    say(f"{subject.name}: {len(chosen)} of {len(every)} mutants")
    order = sorted(range(len(logs)), key=lambda number: len(logs[number].data))
    rank = {number: place for place, number in enumerate(order)}
    survivors: list[dict[str, Any]] = []
    killers: Counter[int] = Counter()
    #: The logs that told a mutant of the function: they often tell the next one.
    by_function: dict[Place, Counter[int]] = defaultdict(Counter)
    counted = Counter[str]()

    def one(mutant: Mutant) -> tuple[Mutant, int | None]:
        numbers = sorted(reached.logs.get((str(mutant.path), mutant.statement), ()), key=rank.__getitem__)
        if not numbers:
            return mutant, -1
        among = set(numbers)
        known = [number for number, _ in by_function[mutant.function].most_common(20) if number in among]
        # Those that also run what few logs run of the function: the other side of a condition is there.
        beside = sorted((reached.logs.get(at, ()) for at in statements[mutant.function]), key=len)
        rare = [number for some in beside for number in sorted(among.intersection(some), key=rank.__getitem__)[:_RARE]]
        rest = numbers[_SMALLEST:]
        spread = sorted(rest)[:: max(1, len(rest) // _SPREAD)]
        order = list(dict.fromkeys([*known, *rare, *numbers[:_SMALLEST], *spread]))
        return mutant, tried(subject, living, mutant, logs, order, right)

    with ThreadPoolExecutor(jobs) as pool:
        for count, (mutant, outcome) in enumerate(pool.map(one, chosen), start=1):
            if count % 100 == 0:
                say(f"{subject.name}: {count} mutants, {len(survivors)} survive")
            if outcome is None:
                counted["not made"] += 1
            elif outcome < 0:
                is_reached = (str(mutant.path), mutant.statement) in reached.logs
                name = f"{mutant.path.parent.name}/{mutant.path.name}"
                survivors.append(
                    {
                        "file": name, "line": mutant.line, "what": mutant.what, "reached": is_reached,
                        "function": mutant.function[1], "number": mutant.number,
                    }
                )  # fmt: skip
            else:
                counted["killed"] += 1
                killers[outcome] += 1
                by_function[mutant.function][outcome] += 1
    figures |= {
        "mutants": len(every), "tried": len(chosen) - counted["not made"], "killed": counted["killed"],
        "left out": dict(sum((reasons for _, reasons in counted_by_file), Counter[str]()).most_common()),
        "survivors": sorted(survivors, key=lambda one: (one["file"], one["line"])), "killers": len(killers),
    }  # fmt: skip
    return figures
