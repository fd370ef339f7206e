"""The report: results of several testees joined, pages whose links lead somewhere, and nothing from outside."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

pytest.importorskip("pyarrow")

from forge.cli.app import run
from forge.conform.findings.records import public, read_findings
from forge.conform.kit.case_files import KitCase
from forge.conform.kit.reading import open_kit
from forge.conform.pages.matrix import Count, feature_page, servers
from forge.conform.pages.results import Result, read_runs
from forge.conform.pages.write import add_to_report
from forge.conform.runner import run_cases
from forge.conform.testee import Limits
from forge.corpus.outcomes import Outcome
from forge.corpus.vocabulary import vocabulary
from forge.errors import ManifestError
from forge.resources import corpora_dir
from tests.conform.test_testee import WRONG

pytestmark = pytest.mark.slow

ECHO = corpora_dir() / "testees/echo/echo.py"


class Links(HTMLParser):
    """The targets and the anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[tuple[str, str]] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.targets.append((tag, value or ""))
            if name == "id":
                self.anchors.add(value or "")


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A testee that takes every 1 for a 9."""
    program = tmp_path_factory.mktemp("testee") / "wrong.py"
    echo = ECHO.read_text().replace("{row.strip()}", "{wrong(row)}").replace("import json", "import json\n" + WRONG)
    program.write_text(re.sub(r'"name": "[^"]*"', '"name": "Wrong One"', echo))
    return shlex.join([sys.executable, str(program)])


@pytest.fixture(scope="module")
def report(kit: Path, wrong: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "site"
    assert run(["conform", wrong, "--kit", str(kit), "-j", "1", "--report", str(folder)]) == 1
    command = shlex.join([sys.executable, str(ECHO)])
    assert run(["conform", command, "--kit", str(kit), "-j", "1", "--report", str(folder)]) == 0
    return folder


def test_the_results_of_both_testees_are_in_it(report: Path) -> None:
    runs = read_runs(report)
    assert [run.name for run in runs] == ["echo", "wrong-one"] or len(runs) == 2
    index = (report / "index.html").read_text("utf-8")
    assert "Wrong One" in index
    assert "echo" in index
    assert list(report.parent.iterdir()) == [report]


def test_a_page_for_each_case_that_fails_somewhere_and_no_other(report: Path) -> None:
    failing = {result.id for run in read_runs(report) for result in run.results.values() if result.fails}
    assert failing
    assert {path.stem for path in (report / "case").iterdir()} == failing
    text = (report / "case" / f"{min(failing)}.html").read_text("utf-8")
    for shown in ("expected", "given", "Bytes", "header.event_size", "row 1.", "Scenario"):
        assert shown in text


def test_every_link_leads_to_a_page_and_nothing_is_loaded_from_outside(report: Path) -> None:
    pages = {path: Links(path) for path in report.rglob("*.html")}
    for page, links in pages.items():
        for tag, target in links.targets:
            if target.startswith("https:"):
                assert tag == "a", f"{page} loads {target}"
                continue
            name, _, anchor = target.partition("#")
            there = (page.parent / name).resolve()
            assert there.is_file(), f"{page.name}: {target}"
            assert not anchor or anchor in pages[there].anchors, f"{page.name}: {target}"
        assert "url(" not in page.read_text("utf-8")
    assert not re.search(r"url\(|@import", (report / "style.css").read_text())


def test_pages_need_no_script_but_to_search(report: Path) -> None:
    with_script = {path.name for path in report.rglob("*.html") if "<script" in path.read_text("utf-8")}
    assert with_script == {"cases.html"}


def test_badges_are_what_shields_reads_and_svg(report: Path) -> None:
    badge = json.loads((report / "badge/wrong-one.json").read_text())
    assert badge["schemaVersion"] == 1
    assert re.fullmatch(r"[\d.]+ % of \d+", badge["message"])
    assert badge["message"] in "".join(ElementTree.parse(report / "badge/wrong-one.svg").getroot().itertext())


def test_values_of_a_log_cannot_become_part_of_a_page(kit: Path, wrong: str, tmp_path: Path) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases[:3], wrong, limits=Limits(seconds=5))
    nasty = [dataclasses.replace(one, outcome="crashed", message="<script>alert(1)</script>") for one in results]
    add_to_report(tmp_path / "site", opened, hello, nasty, {})
    pages = [path.read_text("utf-8") for path in (tmp_path / "site/case").iterdir()]
    assert pages
    assert not any("<script>" in page for page in pages)


def test_the_same_results_give_the_same_pages_with_any_number_of_processes(
    kit: Path, wrong: str, tmp_path: Path
) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases, wrong)
    for jobs in (1, 2):
        add_to_report(tmp_path / str(jobs), opened, hello, results, {}, jobs=jobs)
    one, two = ({str(p.relative_to(tmp_path / n)): p.read_bytes() for p in (tmp_path / n).rglob("*.*")} for n in "12")
    assert one == two


def test_a_folder_of_something_else_is_left_alone(
    kit: Path, wrong: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    assert run(["conform", wrong, "--kit", str(kit), "--report", str(tmp_path)]) == 2
    assert "holds something else than a report" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_damaged_results_leave_the_report_as_it_was(kit: Path, wrong: str, tmp_path: Path) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases[:2], wrong)
    folder = tmp_path / "site"
    add_to_report(folder, opened, hello, results, {})
    (folder / "results/other.jsonl").write_text('{"id": 1}\n')
    before = (folder / "index.html").read_bytes()
    with pytest.raises(ManifestError, match=r"other\.jsonl"):
        add_to_report(folder, opened, hello, results[:1], {})
    assert (folder / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_results_are_kept_without_pages_until_a_run_makes_them(kit: Path, wrong: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    assert run(["conform", wrong, "--kit", str(kit), "-j", "1", "--report", str(folder), "--no-pages"]) == 1
    assert [path.name for path in folder.rglob("*.*")] == ["wrong-one.jsonl"]
    command = shlex.join([sys.executable, str(ECHO)])
    assert run(["conform", command, "--kit", str(kit), "-j", "1", "--report", str(folder)]) == 0
    assert "Wrong One" in (folder / "index.html").read_text("utf-8")
    assert run(["conform", command, "--kit", str(kit), "--no-pages"]) == 2


def test_findings_are_those_of_the_readers_that_are_shown(kit: Path, wrong: str, tmp_path: Path) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases[:3], wrong)
    for name in ("Wrong One", "zongji"):
        add_to_report(tmp_path / "site", opened, msgspec.structs.replace(hello, name=name), results, {})
        of_zongji = [one for one in public(read_findings()) if one.decoder == "zongji" and one.made is not None]
        count = len(of_zongji) if name == "zongji" else 0
        assert f"for which {count} <a" in (tmp_path / "site/index.html").read_text("utf-8").replace("\n", " ")
        assert len(list((tmp_path / "site/finding").iterdir())) == count


def test_what_fails_comes_first(kit: Path, report: Path) -> None:
    text = (report / "index.html").read_text("utf-8")
    readers = text[: text.index("<h2>Servers</h2>")]
    assert readers.index("Wrong One") < readers.index("echo-python")
    runs = read_runs(report)
    lines = servers(runs, open_kit(kit).cases)
    failing = [line.failing for line in lines]
    assert failing == sorted(failing, reverse=True)
    assert failing[0] > 0


def test_a_cell_is_graded_by_the_cases_that_have_to_be_accepted(kit: Path) -> None:
    case = open_kit(kit).cases[0]
    accept, reject = (msgspec.structs.replace(case, verdict=verdict) for verdict in ("accept", "reject"))

    def grade(*results: tuple[KitCase, Outcome]) -> tuple[str, str]:
        count = Count()
        for one, outcome in results:
            count.add(one, Result(id=one.id, outcome=outcome))
        return count.grade, count.share

    assert grade((accept, "agree")) == ("share-100", "100 %")
    assert grade((accept, "agree"), (reject, "accepts")) == ("share-99", "100 %")
    nine: list[tuple[KitCase, Outcome]] = [(accept, "agree")] * 9
    assert grade(*nine, (accept, "disagree"), (reject, "rejects")) == ("share-90", "90.0 %")
    assert grade((accept, "disagree"), (reject, "rejects")) == ("share-0", "0 %")
    assert grade((reject, "rejects"), (reject, "accepts")) == ("share-50", "50.0 %")
    assert grade((accept, "unsupported")) == ("none", "–")


def test_on_a_phone_every_cell_of_a_matrix_says_whose_it_is(report: Path) -> None:
    text = (report / "index.html").read_text("utf-8")
    matrix = text[text.index("<h2>Servers</h2>") :]
    cells = re.findall(r"<td [^>]*>", matrix)
    assert cells
    assert all('data-label="' in cell for cell in cells)


def test_no_two_features_have_one_page() -> None:
    words = vocabulary().all
    assert len({feature_page(word) for word in words}) == len(words)


def test_the_page_of_a_reader_says_what_changed_since_its_last_other_run(kit: Path, wrong: str, tmp_path: Path) -> None:
    opened = open_kit(kit)
    hello, results = run_cases(opened, opened.cases, wrong)
    outcomes: tuple[Outcome, Outcome] = ("agree", "disagree")
    right, failing = (next(one for one in results if one.outcome == outcome) for outcome in outcomes)
    folder = tmp_path / "site"
    add_to_report(folder, opened, hello, results, {})
    page = folder / "reader-wrong-one.html"
    assert "Since" not in page.read_text("utf-8")
    swapped: dict[str, Outcome] = {right.case.id: "disagree", failing.case.id: "agree"}
    changed = [dataclasses.replace(one, outcome=swapped.get(one.case.id, one.outcome)) for one in results]
    # The same once more is no other run.
    for _ in range(2):
        add_to_report(folder, opened, hello, changed, {})
        text = page.read_text("utf-8")
        assert "<strong>1 mended</strong>, <strong>1 newly wrong</strong>" in text
        assert f'<a href="case/{right.case.id}.html">' in text
    assert all((folder / target.partition("#")[0]).is_file() for _, target in Links(page).targets)
