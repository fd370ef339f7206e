"""Findings stay true: the file, the right value, and as long as it is open what the decoder does with it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import forge
from forge.cli.app import run
from forge.conform.expected_failures import ExpectedFailure, read_expected_failures
from forge.conform.findings.pages import DEFECTS, defect_of
from forge.conform.findings.records import (
    LARGEST,
    VENDORS,
    Finding,
    Made,
    count_withheld,
    findings_dir,
    public,
    read_finding,
    read_findings,
)
from forge.conform.kit.reading import OpenKit, open_kit
from forge.conform.kit.registry import read_registry, short_id
from forge.conform.kit.sparse import Hole, sparse_rows
from forge.conform.kit.withheld import withheld_cases
from forge.conform.one_file import ask, writer_of
from forge.conform.testee import Limits, Testee
from forge.corpus.outcomes import RIGHT, Outcome
from forge.decode.expected import expected_of
from forge.errors import ScenarioError, Verdict
from forge.resources import corpora_dir
from tests.findings import make
from tests.findings.causes import unmet_needs
from tests.findings.make import file_verdict, made_of, right_of
from tests.findings.record_text import record_text
from tests.findings.site import finding_pages
from tests.testees import command_of_testee

FINDINGS = read_findings()
OPEN = [finding for finding in FINDINGS if finding.status == "open"]
LISTS = sorted((corpora_dir() / "testees").glob("*/expected-failures.txt"))
TABLE = {"scenario": "one-int", "server": "mysql-9.7", "tables": ["CREATE TABLE d.t (a INT)"]}


@pytest.mark.parametrize("finding", public(FINDINGS), ids=lambda finding: str(finding.name))
def test_the_file_is_small_and_has_the_right_value(finding: Finding) -> None:
    made = finding.made
    assert made is not None, "python -m tests.findings --make makes the file"
    assert len(made.data) <= LARGEST
    assert made.outcome not in RIGHT
    assert right_of(expected_of(made.data), made.cell, made.event, made.field) == made.right


@pytest.mark.parametrize("finding", public(FINDINGS), ids=lambda finding: str(finding.name))
def test_the_file_has_what_its_record_needs_and_its_text_names(finding: Finding) -> None:
    assert finding.needs, "the record does not say what its file needs (tests/findings/causes.py)"
    assert finding.made is not None
    assert unmet_needs(finding, finding.made) == []


def test_a_need_that_the_file_does_not_meet_and_a_name_that_it_does_not_have_are_told() -> None:
    finding, made = finding_with(
        title="A VECTOR in MariaDB", why="TRANSACTION_PAYLOAD, record ENUM_AND_SET_DEFAULT_CHARSET."
    )
    needs = ["column JSON", "no column LONG", "family mysql", r"TABLE_MAP column_count: \d"]
    unmet = unmet_needs(msgspec.structs.replace(finding, needs=needs), made)
    assert unmet == [
        "column JSON", "no column LONG", "column VECTOR", "event TRANSACTION_PAYLOAD",
        "record enum_set_default_charset", "family mariadb",
    ]  # fmt: skip


def finding_with(*, title: str, why: str) -> tuple[Finding, Made]:
    """A finding that says so of a log of MySQL with one row of an INT."""
    log = forge.build({**TABLE, "transactions": [[{"insert": {"into": "d.t", "rows": [{"a": 1}]}}]]})
    made = Made(case="", outcome="refused", verdict="accept", readers={}, right="", wrong="", log=log.data.hex())
    return Finding(decoder="", title=title, releases=["1"], covers=[], why=why, sources=[], searched=""), made


@pytest.mark.parametrize("finding", public(FINDINGS), ids=lambda finding: str(finding.name))
def test_the_verdict_is_that_of_the_file_and_the_vendors_do_not_gainsay_it(finding: Finding) -> None:
    made = finding.made
    assert made is not None
    own = made.readers[VENDORS[writer_of(made.data)[0]]]
    assert made.verdict == file_verdict(expected_of(made.data), [own, *made.servers.values()])
    done = {*made.readers.values(), *made.servers.values()}
    if made.verdict == "accept":
        assert "reads" in made.readers.values(), "no vendor's reader reads the file"
    if made.outcome == "accepts":
        assert any(does.startswith(("stops", "says")) for does in (own, *made.servers.values())), (
            "the vendor reads it in silence"
        )
    if "crashes" in done:
        assert finding.decoder in VENDORS.values(), "the vendor's reader ends: it has the file first (SECURITY.md)"
        assert made.servers, "the servers of the vendor have to be tried (SECURITY.md)"
        assert "crashes" not in made.servers.values()


@pytest.mark.parametrize("verdict", get_args(Verdict))
@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_the_text_to_be_filed_says_what_is_wrong_and_never_that_it_is_right(outcome: Outcome, verdict: Verdict) -> None:
    assert OPEN[0].made is not None
    made = msgspec.structs.replace(OPEN[0].made, outcome=outcome, verdict=verdict)
    finding = msgspec.structs.replace(OPEN[0], made=made)
    assert ((outcome, verdict) in DEFECTS) == (outcome not in (*RIGHT, "not_here"))
    if (outcome, verdict) not in DEFECTS:
        with pytest.raises(ScenarioError, match="is no defect where the verdict is"):
            finding_pages([finding])
        return
    pages = finding_pages([finding])
    filed = pages[f"{finding.name}.md"].partition("## To be filed")[2].partition("Expected:")[0]
    assert defect_of(made) in filed
    assert defect_of(made) in pages["index.md"]
    assert "right" not in filed
    ended = outcome in ("crashed", "timeout")
    assert ("has to read" in filed) == (outcome in ("refused", "unsupported") or (ended and verdict == "accept"))
    assert ("has to stop" in filed) == (verdict == "reject" and (ended or outcome == "accepts"))


@pytest.mark.slow
@pytest.mark.parametrize("decoder", sorted({finding.decoder for finding in public(FINDINGS)}))
def test_the_decoder_does_what_its_findings_say(decoder: str, tmp_path: Path) -> None:
    wrong = []
    path = tmp_path / "binlog.000001"
    with Testee(command_of_testee(decoder), Limits(seconds=2)) as testee:
        for finding in public(FINDINGS):
            made = finding.made
            if finding.decoder != decoder or made is None:
                continue
            path.write_bytes(made.data)
            result = ask(testee, path, made.data, finding.level, inventions=finding.inventions)
            now = made_of(made.case, made.data, result)
            if finding.status == "mended" and not result.right:
                wrong.append(f"{finding.name} is there again: {now.outcome}, {now.wrong}")
            if finding.status == "open" and result.right:
                wrong.append(f"{finding.name} is mended in {testee.hello().version}: its status is not 'open' any more")
            if finding.status == "open" and not result.right and (now.outcome, now.kind) != (made.outcome, made.kind):
                wrong.append(f"{finding.name}: {now.outcome}, {now.kind}; the record says {made.outcome}, {made.kind}")
    assert wrong == []


@pytest.mark.parametrize("path", LISTS, ids=lambda path: str(path.parent.name))
def test_each_reason_of_a_list_belongs_to_a_finding_or_is_no_defect(path: Path) -> None:
    decoder = path.parent.name
    reasons = {failure.reason for failure in read_expected_failures(path).values()}
    limits = {
        line.split(maxsplit=1)[1].strip()
        for line in (findings_dir() / "limits.txt").read_text("utf-8").splitlines()
        if line.split(maxsplit=1)[0] == decoder
    }
    covered = {reason for finding in FINDINGS if finding.decoder == decoder for reason in finding.covers}
    assert reasons - limits - covered == set()
    of_open = {reason for finding in OPEN if finding.decoder == decoder for reason in finding.covers}
    assert of_open - reasons == set(), "a finding covers a reason that is not in the list"


@cache
def living() -> set[str]:
    """Ids that stand for a case today; those of the profile ``sparse`` follow from their names."""
    registered = {row.id for row in read_registry().rows if row.retired is None}
    return registered | {short_id(row["case"]) for row in sparse_rows()}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: str(path.parent.name))
def test_the_cases_of_a_list_are_not_retired(path: Path) -> None:
    assert set(read_expected_failures(path)) - living() == set()


def test_the_cases_that_findings_were_made_of_are_not_retired() -> None:
    cases = {finding.name: {finding.made.case, *finding.cases} for finding in FINDINGS if finding.made is not None}
    there = living()
    assert {name: of - there for name, of in cases.items() if of - there} == {}


def test_a_finding_has_cases_of_its_own_or_those_of_a_list() -> None:
    assert [finding.name for finding in public(FINDINGS) if not (finding.covers or finding.cases)] == []
    assert [finding.name for finding in FINDINGS if bool(finding.level) != bool(finding.cases)] == []


def test_each_record_that_may_be_shown_gives_a_page() -> None:
    made = {f"{finding.name}.md" for finding in public(FINDINGS) if finding.made is not None}
    assert set(finding_pages(FINDINGS)) == {*made, "index.md"}


def test_what_a_vendor_has_to_hear_first_is_on_no_page_but_counted() -> None:
    withheld = msgspec.structs.replace(OPEN[0], status="disclose-first", name="withheld-one", title="Not to be told")
    pages = finding_pages([*OPEN, withheld])
    assert "withheld-one.md" not in pages
    assert not any("Not to be told" in text for text in pages.values())
    assert "1 more wait for their vendor" in pages["index.md"]


def test_cases_are_withheld_as_long_as_the_list_has_them(tmp_path: Path) -> None:
    (tmp_path / "withheld.txt").write_text("# Why.\n\na/case[of=1,and=2]\n")
    assert withheld_cases(tmp_path) == {"a/case[of=1,and=2]"}
    assert withheld_cases(tmp_path / "none") == frozenset()


def test_records_of_what_is_withheld_say_nothing_of_it() -> None:
    for finding in FINDINGS:
        if finding.status == "disclose-first":
            assert finding.made is None
            assert (finding.title, finding.covers, finding.sources) == ("Withheld", [], [])
            assert finding.why == "Its vendor has it first: SECURITY.md."


def test_the_page_about_findings_counts_what_is_withheld() -> None:
    count = count_withheld(FINDINGS)
    text = (corpora_dir().parent / "docs" / "findings.md").read_text("utf-8")
    assert f"told to its vendor first: {count} wait" in " ".join(text.split())


def test_a_record_keeps_what_people_wrote(tmp_path: Path) -> None:
    finding = OPEN[0]
    assert finding.made is not None
    path = findings_dir() / f"{finding.name}.toml"
    text = path.read_text("utf-8")
    assert record_text(text, finding.made) == text
    (tmp_path / path.name).write_text(record_text(text.partition("\n[made]")[0], finding.made), "utf-8")
    assert read_finding(tmp_path / path.name) == finding


def test_a_record_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('decoder = "go-mysql"\n')
    with pytest.raises(ScenarioError, match="not the record of a finding"):
        read_findings(tmp_path)


def test_the_command_lists_them(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "findings", OPEN[0].name]) == 0
    assert OPEN[0].title in capfd.readouterr().out
    assert run(["corpus", "findings", "no-such-finding"]) == 2


def test_each_file_of_a_case_may_become_that_of_a_finding(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_kit(kit)
    finding, case = OPEN[0], opened.cases[0]
    second = msgspec.structs.replace(case.files[0], name="binlog.000002", size=1)
    sparse = msgspec.structs.replace(second, name="binlog.000003", holes=[Hole(offset=4, length=9)])
    chain = msgspec.structs.replace(case, files=[case.files[0], second, sparse])
    listed = {case.id: ExpectedFailure(case=case.id, outcome="refused", reason=finding.covers[0])}
    monkeypatch.setattr(make, "read_expected_failures", lambda path: listed)
    found = make._files(finding, OpenKit(kit, [chain]))
    assert [file.name for _, file in found] == ["binlog.000002", case.files[0].name]
