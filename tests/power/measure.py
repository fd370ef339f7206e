"""The figures of one subject: lines, branches, mutants."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.power.kept import code_of
from tests.power.left_out import left_out, numbered, spans
from tests.power.logs import Log
from tests.power.mutants import Mutant, mutants_of
from tests.power.outcomes import Outcomes
from tests.power.subjects import Subject
from tests.power.tracing import Reached, functions_of
from tests.power.trials import baselines, in_child
from tests.power.tries import Tries

#: Mutants after which it is said how far it is.
_SAID = 50
#: Logs that are read once more, to see that a decoder shows the same.
_AGAIN = 200


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
    for mutant, name in numbered(mutants_of(path)):
        reason = _reason(subject, mutant.function[1]) or lines.get(mutant.statement)
        reason = reason or changes.get((mutant.line, mutant.what)) or changes.get((mutant.line, name))
        if reason is None:
            kept.append(mutant)
        else:
            reasons[reason] += 1
    return kept, reasons


def _reason(subject: Subject, name: str) -> str | None:
    last = name.rpartition(".")[2]
    return next((reason for suffix, reason in subject.unreachable if re.fullmatch(suffix, last)), None)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a subject, and what the choice of cases needs.

    ``told`` has the log that told each mutant that was told, of other samples too.
    """

    figures: dict[str, Any]
    told: dict[Mutant, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """How many mutants are tried, which, and each with how many of the logs that run its statement (0: all)."""

    size: int
    seed: int
    tries: int


def measured(
    subject: Subject,
    logs: Sequence[Log],
    reached: Reached,
    right: Sequence[bytes],
    *,
    favoured: Container[str],
    sample: Sample,
    folder: Path,
    jobs: int,
    say: Callable[[str], None],
) -> Measured:
    """All figures of one subject: each mutant of the sample is tried until a log tells it.

    ``folder`` keeps what became of them.
    """
    figures: dict[str, Any] = {"corpus": covered(subject, reached), "logs": len(logs)}
    again = in_child(lambda: baselines(subject, logs[:_AGAIN]))
    if list(right[:_AGAIN]) != again:
        raise SystemExit(f"{subject.name} does not show the same twice")
    statements = {
        one.place: [(str(path), line) for line in one.lines] for path in subject.files for one in functions_of(path)
    }
    functions = {place for place, places in statements.items() if any(at in reached.logs for at in places)}
    counted_by_file = [counted_mutants(subject, path) for path in subject.files]
    every = [one for kept, _ in counted_by_file for one in kept if one.function in functions]
    # A mutant that is left out later moves no other one.
    drawn = sorted(every, key=lambda one: hashlib.sha256(f"{sample.seed} {one.name}".encode()).digest())
    chosen = drawn[: sample.size or None]
    say(f"{subject.name}: {len(chosen)} of {len(every)} mutants")
    tries = Tries(
        subject,
        logs,
        reached,
        right,
        favoured=favoured,
        most=sample.tries,
        outcomes=Outcomes(folder / f"{subject.name}.json", code_of(subject)),
    )
    survivors: list[dict[str, Any]] = []
    told: set[Mutant] = set()
    not_made = 0
    for done, (mutant, outcome) in enumerate(tries.outcomes_of(chosen, statements, jobs), 1):
        if outcome is None:
            not_made += 1
        elif outcome >= 0:
            told.add(mutant)
        else:
            survivors.append(
                {
                    "file": f"{mutant.path.parent.name}/{mutant.path.name}", "line": mutant.line,
                    "what": mutant.what, "function": mutant.function[1],
                    "logs": len(reached.logs.get(mutant.at, ())),
                }
            )  # fmt: skip
            say(f"{subject.name}: not told: {survivors[-1]}")
        if done % _SAID == 0:
            say(f"{subject.name}: {done} of {len(chosen)} mutants, {len(told)} told")
    figures |= {
        "mutants": len(every), "tried": len(chosen) - not_made, "killed": len(told), "sample": sample.size,
        "seed": sample.seed, "most": sample.tries,
        "left out": dict(sum((reasons for _, reasons in counted_by_file), Counter[str]()).most_common()),
        "survivors": sorted(survivors, key=lambda one: (one["file"], one["line"])),
    }  # fmt: skip
    known = {mutant: tries.told_by(mutant) for mutant in every}
    return Measured(figures, {mutant: number for mutant, number in known.items() if number is not None})
