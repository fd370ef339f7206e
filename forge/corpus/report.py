"""The table at the end of a build: cases, verdicts by decoder, and where decoders first differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from textwrap import shorten
from typing import Any, get_args

from forge.corpus.cases import RECORDED
from forge.corpus.judge import OUTCOMES, RIGHT, DecoderVerdict, Outcome, Status
from forge.corpus.manifest import Entry, Summary
from forge.errors import Verdict
from forge.servers import server_names

STATUSES: tuple[Status, ...] = get_args(Status)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: Outcomes that say something wrong of the bytes, in contrast to those that say nothing.
_WRONG: frozenset[Outcome] = frozenset(("disagree", "accepts"))
#: Groups of findings that a table shows; the rest is counted.
SHOWN = 40
#: Characters of what was said of a finding.
_WIDTH = 220


@dataclass(slots=True)
class Finding:
    """Cases on which one decoder (or our own compiler) comes to one outcome for what seems to be one reason."""

    who: str
    outcome: str
    reason: str
    cases: list[str] = field(default_factory=list)
    #: What was said of the first of the cases.
    first: str = ""

    @property
    def order(self) -> tuple[int, str, str]:
        """Disagreements first: they are what a reader of the table looks for."""
        return (self.outcome not in _WRONG, self.who, self.reason)


class Tally:
    """Counts over the cases of a corpus."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.statuses: Counter[Status] = Counter()
        self.verdicts: Counter[Verdict] = Counter()
        #: How our own reader goes against the verdict, by case.
        self.against: dict[str, str] = {}
        self.outcomes: dict[str, Counter[Outcome]] = {}
        self.warnings: Counter[str] = Counter()
        self._failures: dict[tuple[str, str], Finding] = {}
        self._findings: dict[tuple[str, str, str], Finding] = {}
        for entry in entries:
            self._count(entry)

    @property
    def cases(self) -> int:
        return self.statuses.total()

    @property
    def failures(self) -> list[Finding]:
        """Cases without a binlog, or with one that our own reader takes otherwise than it should."""
        return list(self._failures.values())

    @property
    def findings(self) -> list[Finding]:
        """Outcomes other than the right ones, disagreements first."""
        return sorted(self._findings.values(), key=lambda finding: finding.order)

    def _count(self, entry: Entry) -> None:
        self.statuses[entry.status] += 1
        self.verdicts[entry.verdict] += 1
        if entry.against is not None:
            self.against[entry.case] = entry.against
        if entry.against is not None or entry.status not in ("compiled", "unreadable"):
            about = topic(entry.file)
            failure = self._failures.setdefault((entry.status, about), Finding("forge", entry.status, about))
            _add(failure, entry.case, entry.against or entry.error)
        for verdict in entry.verdicts:
            self.outcomes.setdefault(verdict.decoder, Counter())[verdict.outcome] += 1
            self.warnings[verdict.decoder] += bool(verdict.warnings)
            if verdict.outcome not in RIGHT:
                key = (verdict.decoder, verdict.outcome, _reason(entry, verdict))
                finding = self._findings.setdefault(key, Finding(*key))
                _add(finding, entry.case, verdict.detail)


def _reason(entry: Entry, verdict: DecoderVerdict) -> str:
    """What makes findings alike: the scenario for what is wrong, the message (numbers aside) for everything else."""
    return topic(entry.file) if verdict.outcome in _WRONG else re.sub(r"[0-9]+", "#", verdict.detail or "")


def topic(file: str) -> str:
    """What a scenario file is about: ``scenarios/values/bits.yaml`` and ``recordings/values/bits/SERVER/...`` agree."""
    parts = file.split("/")[1:]
    if parts[-1] == RECORDED and len(parts) > 1:
        parts = [part for part in parts[:-1] if part not in server_names()]
    return "/".join(parts).partition(".")[0]


def _add(finding: Finding, case: str, said: str | None) -> None:
    if not finding.cases:
        finding.first = said or ""
    finding.cases.append(case)


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
    accept, reject, either = (tally.verdicts[verdict] for verdict in VERDICTS)
    yield f"a reader has to accept {accept}, has to reject {reject}, may do either with {either}"
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
    yield from _listing("failed here", tally.failures)
    disagreements = [finding for finding in tally.findings if finding.outcome in _WRONG]
    yield from _listing("disagreements, by decoder and scenario, with the first difference", disagreements)
    others = [finding for finding in tally.findings if finding.outcome not in _WRONG]
    yield from _listing("not read to the end, by decoder and message", others)
    yield ""
    yield f"sha256 of the manifest {summary.sha256}"


def summary_object(tally: Tally, summary: Summary) -> dict[str, Any]:
    """The same as a JSON-able object, with every finding."""
    return {
        "cases": tally.cases,
        "statuses": {status: tally.statuses[status] for status in STATUSES},
        "verdicts": {verdict: tally.verdicts[verdict] for verdict in VERDICTS},
        "against": tally.against,
        "sha256": summary.sha256,
        "decoders": {
            name: {"version": version, **{o: tally.outcomes.get(name, Counter())[o] for o in OUTCOMES}}
            for name, version in summary.decoders.items()
        },
        "not_run": summary.absent,
        "failures": [asdict(finding) for finding in tally.failures],
        "findings": [asdict(finding) for finding in tally.findings],
    }


def _listing(title: str, found: Sequence[Finding]) -> Iterator[str]:
    if not found:
        return
    yield ""
    yield f"{sum(len(finding.cases) for finding in found)} {title}:"
    for finding in found[:SHOWN]:
        count = len(finding.cases)
        more = f" and {count - 1} more" if count > 1 else ""
        word = "" if finding.outcome == "disagree" else f" {finding.outcome}"
        yield f"  {finding.who}{word}: {finding.cases[0]}{more}"
        yield f"    {shorten(finding.first, _WIDTH, placeholder=' ...')}"
    if len(found) > SHOWN:
        yield f"  ... and {len(found) - SHOWN} groups more (`forge corpus show DIR --failing`)"
