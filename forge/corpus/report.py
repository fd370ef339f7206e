"""The table at the end of a build: cases, verdicts by decoder, and where decoders first differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

import msgspec

from forge.corpus.cases import RECORDED
from forge.corpus.judge import DecoderVerdict, Status
from forge.corpus.manifest import Entry, RandomSummary, Summary
from forge.corpus.outcomes import OUTCOMES, RIGHT, Outcome
from forge.errors import Verdict, counted
from forge.render.aligned import aligned
from forge.servers import server_names

STATUSES: tuple[Status, ...] = get_args(Status)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: Outcomes that say something wrong of the bytes, in contrast to those that say nothing.
_WRONG: frozenset[Outcome] = frozenset(("disagree", "accepts"))
#: Lines and characters of the summary at the end of a build.
SCREEN = 40
WIDTH = 100
#: Where in a file a difference is: what findings of one kind do not share.
_PLACE = re.compile(r"\A(?:\S+\.\d{6}: )?(?:the event at \d+: |event \d+ at \d+(?: \(\S+\))?,? ?)?")
_QUOTED = re.compile(r"'[^']*(?:'|\Z)|`[^`]*(?:`|\Z)")
_TABLE = re.compile(r" of \S+\.\S+?:")


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
        #: Cases by who says something, outcome, and kind of what is said.
        self.kinds: Counter[tuple[str, str, str]] = Counter()
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
            self.kinds["forge", entry.status, kind_of(entry.against or entry.error or "", "forge")] += 1
        for verdict in entry.verdicts:
            self.outcomes.setdefault(verdict.decoder, Counter())[verdict.outcome] += 1
            self.warnings[verdict.decoder] += bool(verdict.warnings)
            if verdict.outcome not in RIGHT:
                key = (verdict.decoder, verdict.outcome, _reason(entry, verdict))
                finding = self._findings.setdefault(key, Finding(*key))
                _add(finding, entry.case, verdict.detail)
                self.kinds[verdict.decoder, verdict.outcome, kind_of(verdict.detail or "", verdict.decoder)] += 1


def _reason(entry: Entry, verdict: DecoderVerdict) -> str:
    """What makes findings alike: the scenario for what is wrong, the message (numbers aside) for everything else."""
    return topic(entry.file) if verdict.outcome in _WRONG else re.sub(r"[0-9]+", "#", verdict.detail or "")


def kind_of(detail: str, decoder: str) -> str:
    """What was said, without the place, the names and the numbers: `TABLE_MAP: column # should be ..., shows ...`."""
    text = _TABLE.sub(":", _PLACE.sub("", detail)).replace(f"{decoder} ", "")
    return re.sub(r"0x[0-9a-f]+|(?<![\w.-])\d+", "#", _QUOTED.sub("...", text))


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


def summary_lines(tally: Tally, summary: Summary, folder: str) -> list[str]:
    """What `forge corpus build` prints at its end: at most SCREEN lines, whatever the decoders say."""
    accept, reject, either = (tally.verdicts[verdict] for verdict in VERDICTS)
    statuses = (status for status in STATUSES if tally.statuses[status] or status == "compiled")
    head = [
        f"{counted(tally.cases, 'case')}: " + ", ".join(f"{tally.statuses[status]} {status}" for status in statuses),
        f"a reader must accept {accept}, must reject {reject}, may do either with {either}",
        *_random_lines(summary.random),
        "",
        *_decoder_table(tally, summary),
    ]
    end = ["", f"sha256 of the manifest {summary.sha256}"]
    if tally.kinds:
        head += ["", "what is not right, by decoder, with the number of cases:"]
        end.insert(0, f"(`forge corpus show {folder} --findings` has all of it with the cases)")
    return head + _kind_lines(tally, SCREEN - len(head) - len(end)) + end


def _random_lines(drawn: RandomSummary | None) -> Iterator[str]:
    if drawn is not None:
        yield (
            f"drawn with the seed {drawn.seed}: {drawn.drawn}, of which {drawn.repeated} cover what others do;"
            f" {sum(drawn.refused.values())} more were no scenario"
        )


def _decoder_table(tally: Tally, summary: Summary) -> Iterator[str]:
    rows = [["decoder", "version", *OUTCOMES, "warned"]]
    for name, version in summary.decoders.items():
        outcomes = tally.outcomes.get(name, Counter())
        rows.append([name, version, *(str(outcomes[outcome]) for outcome in OUTCOMES), str(tally.warnings[name])])
    yield from aligned(rows, numbers_from=1)
    for name, reason in summary.absent.items():
        yield f"{name}  NOT RUN: {reason}"


def _kind_lines(tally: Tally, room: int) -> list[str]:
    """A line for every kind of finding, the commonest of each decoder first, in no more than ``room`` lines."""
    by_decoder: dict[str, list[str]] = {}
    for (who, outcome, kind), count in tally.kinds.most_common():
        by_decoder.setdefault(who, []).append(shorten(f"{count:>6}  {who} {outcome}: ", kind))
    share = max(room // max(len(by_decoder), 1), 1)
    lines: list[str] = []
    for who, kinds in sorted(by_decoder.items()):
        shown = kinds if len(kinds) <= share else kinds[: share - 1]
        lines += shown
        if len(kinds) > len(shown):
            lines.append(f"     +  {who}: {len(kinds) - len(shown)} more kinds")
    return lines[:room]


def finding_lines(tally: Tally) -> Iterator[str]:
    """Every finding with its first case and what was said of it: failures of ours, wrong outcomes, the others."""
    wrong = [finding for finding in tally.findings if finding.outcome in _WRONG]
    others = [finding for finding in tally.findings if finding.outcome not in _WRONG]
    yield from _listing("failed here", tally.failures)
    yield from _listing("disagreements, by decoder and scenario, with the first difference", wrong)
    yield from _listing("not read to the end, by decoder and message", others)


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
        "random": None if summary.random is None else msgspec.structs.asdict(summary.random),
        "failures": [asdict(finding) for finding in tally.failures],
        "findings": [asdict(finding) for finding in tally.findings],
    }


def _listing(title: str, findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield f"{sum(len(finding.cases) for finding in findings)} {title}:"
    for finding in findings:
        more = f" and {len(finding.cases) - 1} more" if len(finding.cases) > 1 else ""
        yield f"  {finding.who} {finding.outcome}: {finding.cases[0]}{more}"
        yield f"    {finding.first}"


def shorten(head: str, text: str) -> str:
    """``head`` and ``text`` in one line of at most WIDTH characters."""
    line = head + " ".join(text.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 4] + " ..."
