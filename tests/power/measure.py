"""The figures of one subject: lines, branches, mutants."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.power.logs import Log
from tests.power.mutants import mutants_of
from tests.power.subjects import Subject
from tests.power.tracing import Reached, branches_of, functions_of, traced
from tests.power.trials import Functions, baselines, in_child, tried

#: Logs that a mutant is tried with at most: the smallest that reach its function, and others spread over all of them.
_SMALLEST, _SPREAD = 60, 240


def covered(subject: Subject, reached: Reached) -> dict[str, Any]:
    """Lines and branches of the functions that a file can reach, and what is not reached."""
    lines = hit = branches = taken = 0
    never: dict[str, str] = {}
    missed: dict[str, list[int]] = {}
    for path in subject.files:
        name = f"{path.parent.name}/{path.name}"
        functions = [one for one in functions_of(path) if one.lines]
        reachable: set[int] = set()
        for function in functions:
            reason = _reason(subject, function.place[1])
            if reason is not None or function.place not in reached.logs:
                never[f"{name}: {function.place[1]}"] = reason or "no log reaches it"
            if reason is None and (function.place in reached.logs or subject.unreachable):
                reachable |= function.lines
        got = reachable & reached.lines.get(str(path), set())
        lines, hit = lines + len(reachable), hit + len(got)
        if reachable - got:
            missed[name] = sorted(reachable - got)
        steps = reached.steps.get(str(path), set())
        for first, last, body in branches_of(path):
            if first not in reachable:
                continue
            seen = {to for at, to in steps if first <= at <= last and not first <= to <= last}
            branches += 2
            taken += (body in seen) + bool(seen - {body})
    return {"lines": lines, "hit": hit, "branches": branches, "taken": taken, "missed": missed, "never": never}


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
    reached = in_child(lambda: _plain(traced(subject, logs)))
    say(f"{subject.name}: traced {len(logs)} logs")
    figures: dict[str, Any] = {"corpus": covered(subject, reached), "logs": len(logs)}
    if real:
        figures["real"] = covered(subject, in_child(lambda: _plain(traced(subject, real)))) | {"logs": len(real)}
    right = in_child(lambda: baselines(subject, logs))
    again = in_child(lambda: baselines(subject, logs[:500]))
    if right[:500] != again:
        raise SystemExit(f"{subject.name} does not show the same twice")
    functions = Functions(subject)
    every = [one for path in subject.files for one in mutants_of(path) if one.function in reached.logs]
    chosen = every if not sample or sample >= len(every) else random.Random(seed).sample(every, sample)
    say(f"{subject.name}: {len(chosen)} of {len(every)} mutants")
    order = sorted(range(len(logs)), key=lambda number: len(logs[number].data))
    rank = {number: place for place, number in enumerate(order)}
    survivors: list[dict[str, Any]] = []
    killers: Counter[str] = Counter()
    counted = Counter[str]()

    def one(mutant: Any) -> tuple[Any, int | None]:
        numbers = sorted(reached.logs[mutant.function], key=rank.__getitem__)
        rest = numbers[_SMALLEST:]
        spread = sorted(rest)[:: max(1, len(rest) // _SPREAD)]
        return mutant, tried(subject, functions, mutant, logs, [*numbers[:_SMALLEST], *spread], right)

    with ThreadPoolExecutor(jobs) as pool:
        for count, (mutant, outcome) in enumerate(pool.map(one, chosen), start=1):
            if count % 100 == 0:
                say(f"{subject.name}: {count} mutants, {len(survivors)} survive")
            if outcome is None:
                counted["not made"] += 1
            elif outcome < 0:
                is_reached = mutant.line in reached.lines.get(str(mutant.path), set())
                name = f"{mutant.path.parent.name}/{mutant.path.name}"
                survivors.append({"file": name, "line": mutant.line, "what": mutant.what, "reached": is_reached})
            else:
                counted["killed"] += 1
                killers[logs[outcome].name] += 1
    figures |= {
        "mutants": len(every), "tried": len(chosen) - counted["not made"], "killed": counted["killed"],
        "survivors": sorted(survivors, key=lambda one: (one["file"], one["line"])), "killers": len(killers),
    }  # fmt: skip
    return figures


def _plain(reached: Reached) -> Reached:
    """Without the functions that make missing entries, which no pipe takes."""
    return Reached(dict(reached.lines), dict(reached.steps), dict(reached.logs))
