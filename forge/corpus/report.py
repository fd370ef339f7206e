"""The table at the end of a build: cases, verdicts by decoder, and where decoders first differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from forge.check.compare import Outcome
from forge.corpus.judge import Status
from forge.corpus.manifest import Entry, Summary

OUTCOMES: tuple[Outcome, ...] = tuple(outcome for outcome in get_args(Outcome) if outcome != "not_here")
STATUSES: tuple[Status, ...] = get_args(Status)
#: Differences and failures that a table shows; the rest is counted.
SHOWN = 20


class Tally:
    """Counts over the cases of a corpus."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.statuses: Counter[Status] = Counter()
        self.outcomes: dict[str, Counter[Outcome]] = {}
        self.warnings: Counter[str] = Counter()
        self.differences: list[tuple[str, str, str]] = []
        self.failures: list[tuple[str, str, str]] = []
        for entry in entries:
            self._count(entry)

    @property
    def cases(self) -> int:
        return self.statuses.total()

    def _count(self, entry: Entry) -> None:
        self.statuses[entry.status] += 1
        if entry.status != "compiled":
            self.failures.append((entry.case, entry.status, entry.error or ""))
        for verdict in entry.verdicts:
            self.outcomes.setdefault(verdict.decoder, Counter())[verdict.outcome] += 1
            self.warnings[verdict.decoder] += bool(verdict.warnings)
            if verdict.outcome != "agree":
                outcome = verdict.decoder if verdict.outcome == "disagree" else f"{verdict.decoder} {verdict.outcome}"
                self.differences.append((entry.case, outcome, verdict.detail or ""))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a plain text table: the first column to the left, the others to the right."""
    whole = [list(header), *map(list, rows)]
    widths = [max(len(row[column]) for row in whole) for column in range(len(header))]
    for row in whole:
        first, *others = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others]).rstrip()


def summary_lines(tally: Tally, summary: Summary) -> Iterator[str]:
    """What `forge corpus build` prints at its end."""
    yield f"{tally.cases} cases: " + ", ".join(
        f"{tally.statuses[status]} {status}" for status in STATUSES if tally.statuses[status] or status == "compiled"
    )
    yield ""
    yield from table(
        ["decoder", "version", *OUTCOMES, "warned"],
        (
            [
                name,
                version,
                *(str(tally.outcomes.get(name, Counter())[outcome]) for outcome in OUTCOMES),
                str(tally.warnings[name]),
            ]
            for name, version in summary.decoders.items()
        ),
    )
    for name, reason in summary.absent.items():
        yield f"{name}  NOT RUN: {reason}"
    yield from _listing("cases without a binlog", tally.failures)
    yield from _listing("verdicts other than agreement, with their first difference", tally.differences)
    yield ""
    yield f"sha256 of the manifest {summary.sha256}"


def summary_object(tally: Tally, summary: Summary) -> dict[str, Any]:
    """The same as a JSON-able object, with every difference."""
    return {
        "cases": tally.cases,
        "statuses": {status: tally.statuses[status] for status in STATUSES},
        "sha256": summary.sha256,
        "decoders": {
            name: {"version": version, **{o: tally.outcomes.get(name, Counter())[o] for o in OUTCOMES}}
            for name, version in summary.decoders.items()
        },
        "not_run": summary.absent,
        "failures": [{"case": case, "status": status, "error": error} for case, status, error in tally.failures],
        "differences": [
            {"case": case, "verdict": verdict, "first": first} for case, verdict, first in tally.differences
        ],
    }


def _listing(title: str, found: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield f"{len(found)} {title}:"
    for case, word, detail in found[:SHOWN]:
        yield f"  {case}: {word}: {detail}"
    if len(found) > SHOWN:
        yield f"  ... and {len(found) - SHOWN} more (`forge corpus show DIR --failing`)"
