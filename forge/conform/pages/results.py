"""Results of runs kept beside the pages: ``results/NAME.jsonl``, the lines of ``forge conform --json``.

``results/before/NAME.jsonl`` is the last run of the testee that came out otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from forge.check.compare.differences import Difference
from forge.conform.expected_failures import ExpectedFailure
from forge.conform.kit.protocol import Hello
from forge.conform.kit.registry import safe_word
from forge.conform.reports import result_object, summary_object
from forge.conform.runner import CaseResult, Standing
from forge.corpus.outcomes import RIGHT, Outcome
from forge.errors import ManifestError

RESULTS, BEFORE = "results", "before"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One case: as ``forge conform --json`` writes it.  ``reason`` is that of the list of expected failures."""

    id: str
    outcome: Outcome
    standing: Standing = "right"
    reason: str | None = None
    file: str | None = None
    message: str | None = None
    difference: Difference | None = None
    #: Of other columns and kinds than the first.
    others: list[Difference] = []

    @property
    def right(self) -> bool:
        return self.outcome in RIGHT

    @property
    def fails(self) -> bool:
        """Whether it did something wrong: to say that one does not support a thing is none."""
        return not self.right and self.outcome != "unsupported"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a testee did with each case, by its id."""

    testee: Hello
    results: Mapping[str, Result]

    @property
    def name(self) -> str:
        """The name as a part of file names."""
        return safe_word(self.testee.name)


@dataclass(frozen=True, slots=True)
class Trend:
    """What a run of a testee changed since its last one that came out otherwise: ids of cases."""

    before: Run
    mended: list[str]
    broken: list[str]


class _Summary(msgspec.Struct, frozen=True):
    testee: Hello


class _Line(msgspec.Struct, frozen=True):
    summary: _Summary | None = None


def result_lines(hello: Hello, results: Sequence[CaseResult], listed: Mapping[str, ExpectedFailure]) -> Iterable[bytes]:
    """A run as its file holds it."""
    for result in results:
        yield msgspec.json.encode(result_object(result, listed)) + b"\n"
    yield msgspec.json.encode({"summary": summary_object(hello, results, listed)}) + b"\n"


def keep_run(report: Path, lines: Iterable[bytes], hello: Hello) -> None:
    """Put a run in the place of the testee's earlier one, which is kept if it came out otherwise.

    Raises ManifestError for a damaged one; OSError.
    """
    name = f"{safe_word(hello.name)}.jsonl"
    path = report / RESULTS / name
    (report / RESULTS / BEFORE).mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_bytes(b"".join(lines))
    if path.is_file() and _outcomes(_read_run(path)) != _outcomes(_read_run(draft)):
        (report / RESULTS / BEFORE / name).write_bytes(path.read_bytes())
    draft.replace(path)


def _outcomes(run: Run) -> Mapping[str, Outcome]:
    return {name: result.outcome for name, result in run.results.items()}


def read_trends(folder: Path, runs: Sequence[Run]) -> dict[str, Trend]:
    """What changed, by the name of the run; of those with an earlier run.  Raises ManifestError, OSError."""
    trends = {}
    for run in runs:
        path = folder / RESULTS / BEFORE / f"{run.name}.jsonl"
        if path.is_file():
            before = _read_run(path)
            both = sorted(run.results.keys() & before.results.keys())
            mended = [one for one in both if before.results[one].fails and run.results[one].right]
            broken = [one for one in both if run.results[one].fails and before.results[one].right]
            trends[run.name] = Trend(before, mended, broken)
    return trends


def read_runs(folder: Path) -> list[Run]:
    """All runs of a report, by the names of the testees.  Raises ManifestError for a damaged one; OSError."""
    return [_read_run(path) for path in sorted((folder / RESULTS).glob("*.jsonl"))]


def _read_run(path: Path) -> Run:
    *lines, last = path.read_bytes().splitlines() or [b""]
    try:
        summary = msgspec.json.decode(last, type=_Line).summary
        results = [msgspec.json.decode(line, type=Result) for line in lines]
    except msgspec.MsgspecError as error:
        raise ManifestError(
            f"{path.name} is no result of `forge conform --json`: {error}", folder=str(path.parent)
        ) from None
    if summary is None:
        raise ManifestError(f"{path.name} is cut off: it has no summary", folder=str(path.parent))
    return Run(testee=summary.testee, results={result.id: result for result in results})
