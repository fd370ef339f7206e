"""Lists of the cases that a testee is known to fail: text that its authors keep beside its code.

A line is ``ID OUTCOME REASON``; lines that begin with ``#`` and empty ones are passed over::

    integers-3kq7abcd  disagree  negative MEDIUMINT is not sign-extended
    payload-9a8b7c6d   refused   payloads without compression are refused
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.corpus.outcomes import OUTCOMES, RIGHT, Outcome
from forge.errors import ScenarioError, nearest


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """A case that is known to fail: how, and why."""

    case: str
    outcome: Outcome
    reason: str
    line: int = 0


def read_expected_failures(path: Path) -> dict[str, ExpectedFailure]:
    """The failures of a list, by case.  Raises ScenarioError with the line of what is no entry; OSError."""
    found: dict[str, ExpectedFailure] = {}
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        case, outcome, reason = (*text.split(maxsplit=2), "", "")[:3]
        if not reason:
            raise ScenarioError(
                f"{text.strip()!r} is no entry", file=str(path), line=number, expected="ID OUTCOME REASON"
            )
        word = next((known for known in OUTCOMES if known == outcome), None)
        if word is None or word in RIGHT:
            failures = [known for known in OUTCOMES if known not in RIGHT]
            raise ScenarioError(
                f"{outcome!r} is no outcome that fails", file=str(path), line=number,
                expected=", ".join(failures), suggestion=nearest(outcome, failures),
            )  # fmt: skip
        if case in found:
            raise ScenarioError(
                f"{case} is in the list twice; the first is in line {found[case].line}", file=str(path), line=number
            )
        found[case] = ExpectedFailure(case, word, reason.strip(), number)
    return found


def failures_text(failures: Iterable[ExpectedFailure], *, title: str) -> str:
    """A list as its file holds it, by case."""
    rows = sorted(failures, key=lambda failure: failure.case)
    width = max((len(failure.case) for failure in rows), default=0)
    lines = [f"{failure.case:<{width}}  {failure.outcome:<11}  {failure.reason}" for failure in rows]
    return "\n".join([f"# {title}", "# ID OUTCOME REASON", *lines]) + "\n"


def kept_reasons(
    failing: Mapping[str, tuple[Outcome, str]], before: Mapping[str, ExpectedFailure]
) -> list[ExpectedFailure]:
    """Entries for the cases that fail now: with the reason that was written down, else with what was seen."""
    entries: list[ExpectedFailure] = []
    for case, (outcome, message) in failing.items():
        known = before.get(case)
        kept = known is not None and known.outcome == outcome
        entries.append(ExpectedFailure(case, outcome, known.reason if kept and known else " ".join(message.split())))
    return entries
