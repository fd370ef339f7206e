"""The report written: results of the testees, and pages of all of them.

::

    index.html              matrix of features and testees, server lines and testees
    reader-*.html           a testee on one screen: its score, what changed, what fails most
    feature-*.html server-*.html    the failing cases of a line, by testee
    cases.html              all failing cases
    case/ID.html            a case that fails somewhere
    findings.html finding/NAME.html
    badge/NAME.json badge/NAME.svg
    results/NAME.jsonl      the lines of `forge conform --json`; before/ has the last run that came out otherwise
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from forge import __version__
from forge.conform.expected_failures import ExpectedFailure
from forge.conform.findings.pages import defect_of, finding_view
from forge.conform.findings.records import Finding, count_withheld, public, read_findings
from forge.conform.kit.case_files import KitCase
from forge.conform.kit.protocol import Hello
from forge.conform.kit.reading import OpenKit
from forge.conform.kit.registry import safe_word
from forge.conform.pages.case_view import Answer, answers, case_view, finding_of
from forge.conform.pages.matrix import Count, Group, Line, feature_page, features, servers, whole
from forge.conform.pages.results import BEFORE, RESULTS, Run, keep_run, read_runs, read_trends, result_lines
from forge.conform.runner import CaseResult
from forge.corpus.outcomes import percent_text
from forge.corpus.workers import in_chunks
from forge.drafts import check_replaceable, draft_folder, replace_folder
from forge.progress import Progress
from forge.render.templates import render

#: Ids of failing cases that a page lists for one reason.
_LISTED = 40
#: Reasons, features and server lines on the page of a reader.
_ON_A_SCREEN = 10
#: Cases that a worker writes at once.
_CHUNK = 16
#: Colours of a badge by the grade of its share.
_COLOURS = {
    "share-100": "#1f7a45", "share-99": "#4d7a1f", "share-95": "#7a741a", "share-90": "#8a6414", "share-75": "#a3521f",
    "share-50": "#b0402a", "share-0": "#b3261e", "none": "#6b7280",
}  # fmt: skip


def check_report(folder: Path) -> None:
    """Raises ScenarioError unless a report may be written to ``folder``."""
    check_replaceable(folder, "report", lambda report: (report / RESULTS).is_dir())


def add_results(folder: Path, hello: Hello, results: Sequence[CaseResult], listed: dict[str, ExpectedFailure]) -> None:
    """Put the results of a testee in the place of its earlier ones, and leave the pages as they are.

    Raises ScenarioError for a folder that holds something else; OSError.
    """
    check_report(folder)
    keep_run(folder, result_lines(hello, results, listed), hello)


def add_to_report(
    folder: Path,
    kit: OpenKit,
    hello: Hello,
    results: Sequence[CaseResult],
    listed: dict[str, ExpectedFailure],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> int:
    """Put the results of a testee in the place of its earlier ones, and make the pages of all anew.

    ``folder`` is the whole report at the end, or what it was before.  Returns the number of pages.  Raises
    ScenarioError for a folder that holds something else; ManifestError for damaged results or a damaged kit; OSError.
    """
    check_report(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(folder) as scratch:
        out = scratch / "report"
        for kept in (RESULTS, f"{RESULTS}/{BEFORE}"):
            (out / kept).mkdir(parents=True)
            for run in (folder / kept).glob("*.jsonl"):
                (out / kept / run.name).write_bytes(run.read_bytes())
        keep_run(out, result_lines(hello, results, listed), hello)
        pages = write_pages(out, kit, read_runs(out), jobs=jobs, progress=progress)
        replace_folder(out, folder)
    return pages


@dataclass(frozen=True, slots=True)
class _Site:
    """The folder, and what every page knows."""

    out: Path
    runs: Sequence[Run]
    findings: Sequence[Finding]

    def page(self, name: str, template: str, **values: Any) -> None:
        """Write one page."""
        _write_page(self.out / name, template, runs=self.runs, **values)

    def overview(self, kit: OpenKit, cases: Sequence[KitCase], failing: Sequence[KitCase]) -> None:
        """The matrices, a page for each of their lines, and the list of failing cases."""
        lines, groups = servers(self.runs, cases), features(self.runs, cases)
        total = whole(self.runs, cases)
        self.page(
            "index.html", "index", servers=lines, features=groups, total=total, cases=cases, failing=failing,
            findings=self.findings, forge=__version__, share=percent_text,
            readers=sorted(self.runs, key=lambda run: total[run.name].score.percent() or 0.0),
        )  # fmt: skip
        by_id = {case.id: case for case in cases}
        for line in (*lines, *(line for group in groups for line in group.lines)):
            runs = sorted(self.runs, key=lambda run: -len(line.cells[run.name].failing))
            reasons = [(run, line.cells[run.name], self._reasons(run, line)) for run in runs]
            self.page(f"{line.page}.html", "line", line=line, reasons=reasons, by_id=by_id, listed=_LISTED)
        self.readers(total, lines, groups)
        fails = {case.id: [run for run in self.runs if _fails(run, case)] for case in failing}
        most = sorted(failing, key=lambda case: -len(fails[case.id]))
        self.page("cases.html", "cases", failing=most, fails=fails)

    def readers(self, total: Mapping[str, Count], lines: Sequence[Line], groups: Sequence[Group]) -> None:
        """A page for each reader, which its maintainer is sent: one screen, what fails most first."""
        trends = read_trends(self.out, self.runs)
        of_features = [line for group in groups for line in group.lines]
        for run in self.runs:
            count = total[run.name]
            reasons = self._reasons(run, Line(run.testee.name, "", total))
            self.page(
                f"reader-{run.name}.html", "reader", run=run, count=count, reasons=reasons, shown=_ON_A_SCREEN,
                trend=trends.get(run.name), share=percent_text,
                lines=[_failing_most(of, run) for of in (of_features, lines)],
            )  # fmt: skip

    def _reasons(self, run: Run, line: Line) -> list[tuple[str, Finding | None, list[str]]]:
        """The failing cases of a cell by reason, the most first."""
        groups: dict[tuple[str, str], list[str]] = {}
        finding: dict[tuple[str, str], Finding | None] = {}
        for case in line.cells[run.name].failing:
            result = run.results[case]
            key = (result.outcome, result.reason or "not on the list of expected failures")
            groups.setdefault(key, []).append(case)
            finding[key] = finding_of(run, result, self.findings)
        ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
        return [(f"{key[0]}: {key[1]}", finding[key], ids) for key, ids in ordered]

    def write_findings(self) -> None:
        """A page for each finding that is public, and their list."""
        names: Iterable[str] = sorted({finding.decoder for finding in self.findings})
        groups = [(name, [finding for finding in self.findings if finding.decoder == name]) for name in names]
        of_shown = _of_shown(read_findings(), self.runs)
        self.page("findings.html", "findings", groups=groups, withheld=count_withheld(of_shown))
        for finding in self.findings:
            self.page(f"finding/{finding.name}.html", "finding", root="../", **finding_view(finding))

    def badges(self, cases: Sequence[KitCase]) -> None:
        """For each testee a badge as SVG, and what shields.io makes one of."""
        for name, count in whole(self.runs, cases).items():
            message = f"{count.share} of {count.score.supported[count.told_by]}"
            colour = _COLOURS[count.grade]
            shield = {"schemaVersion": 1, "label": "binlog-forge", "message": message, "color": colour}
            (self.out / "badge" / f"{name}.json").write_bytes(msgspec.json.encode(shield) + b"\n")
            svg = render("report/badge.svg.j2", label="binlog-forge", message=message, colour=colour)
            (self.out / "badge" / f"{name}.svg").write_text(svg, "utf-8")


def _failing_most(lines: Iterable[Line], run: Run) -> list[Line]:
    """The lines of a matrix in which a reader fails most, as many as a screen has room for."""
    failing = [line for line in lines if line.cells[run.name].failing]
    return sorted(failing, key=lambda line: -len(line.cells[run.name].failing))[:_ON_A_SCREEN]


def write_pages(
    out: Path, kit: OpenKit, runs: Sequence[Run], *, jobs: int = 1, progress: Progress | None = None
) -> int:
    """All pages of some runs, into a folder.  Returns their number.  Raises ManifestError, OSError."""
    shown = [finding for finding in public(_of_shown(read_findings(), runs)) if finding.made is not None]
    cases = [case for case in kit.cases if any(case.id in run.results for run in runs)]
    failing = [case for case in cases if any(_fails(run, case) for run in runs)]
    site = _Site(out, runs, shown)
    for folder in ("case", "finding", "badge"):
        (out / folder).mkdir()
    (out / "style.css").write_text(render("report/style.css.j2"), "utf-8")
    site.overview(kit, cases, failing)
    site.write_findings()
    site.badges(cases)
    # A worker gets what it needs of the runs and the kit, not all of them again and again.
    work = [(case, answers(case, runs, shown)) for case in failing]
    in_chunks(partial(_write_cases, OpenKit(kit.folder, ()), out), work, _CHUNK, jobs=jobs, progress=progress)
    return sum(1 for _ in out.rglob("*.html"))


def _of_shown(findings: Sequence[Finding], runs: Sequence[Run]) -> list[Finding]:
    """The findings of the readers that the report shows."""
    names = {run.testee.name for run in runs}
    return [finding for finding in findings if finding.decoder in names]


def _fails(run: Run, case: KitCase) -> bool:
    return case.id in run.results and run.results[case.id].fails


def _write_cases(kit: OpenKit, out: Path, work: Sequence[tuple[KitCase, list[Answer]]]) -> list[KitCase]:
    for case, given in work:
        _write_page(out / "case" / f"{case.id}.html", "case", root="../", **case_view(kit, case, given))
    return [case for case, _ in work]


def _write_page(path: Path, template: str, **values: Any) -> None:
    values.setdefault("root", "")
    text = render(
        f"report/{template}.html.j2", defect_of=defect_of, safe_word=safe_word, feature_page=feature_page, **values
    )
    path.write_text(text, "utf-8")
