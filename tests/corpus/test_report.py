"""The table at the end of a build, and the manifest that it is made of."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

pa = pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")

from forge.corpus.cases import Case
from forge.corpus.judge import CaseFile, DecoderVerdict, Judgement
from forge.corpus.manifest import (
    SCHEMA,
    Entry,
    Summary,
    digest,
    part_name,
    read_case,
    read_entries,
    read_summary,
    row_of,
    write_part,
    write_summary,
)
from forge.corpus.outcomes import OUTCOMES
from forge.corpus.report import Tally, finding_lines, kind_of, summary_lines, summary_object, topic
from forge.errors import ScenarioError
from forge.render.aligned import aligned

SHA256 = hashlib.sha256(b"bin").hexdigest()
FILE = CaseFile(name="binlog.000001", data=b"bin", sha256=SHA256, decode="{}\n")


def judgement(name: str, *verdicts: DecoderVerdict, file: str = "s/a.yaml") -> Judgement:
    case = Case(id=name, file=file, text="", server="mysql-9.7", tags=("t",))
    return Judgement(case=case, status="compiled", files=[FILE], verdicts=list(verdicts))


def verdict(decoder: str, outcome: str = "agree", detail: str | None = None) -> DecoderVerdict:
    return DecoderVerdict(decoder=decoder, version="1", outcome=outcome, detail=detail)  # type: ignore[arg-type]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    judged = [
        judgement("b", verdict("ours"), verdict("theirs", "disagree", "row 1 is 2, theirs shows 3")),
        judgement("a", verdict("ours"), verdict("theirs", "disagree", "row 9 is 2, theirs shows 3")),
        judgement("c", verdict("ours"), verdict("theirs", "refused", "at 17: no"), file="s/c.yaml"),
        judgement("d", verdict("ours"), verdict("theirs", "refused", "at 99: no"), file="s/d.yaml"),
        Judgement(case=Case("e", "s/e.yaml", "", "mysql-9.7"), status="unsupported", error="XA is not here yet"),
    ]
    rows = [row_of(one) for one in judged]
    write_part(tmp_path / part_name(0), pa.Table.from_pylist(rows, schema=SCHEMA))
    sha256 = digest([tmp_path / part_name(0)])
    versions = {"ours": "1", "theirs": "1"}
    write_summary(
        tmp_path, Summary(format=2, forge="0", cases=5, sha256=sha256, decoders=versions, absent={"mine": "not here"})
    )
    return tmp_path


def test_a_part_is_sorted_and_read_back(corpus: Path) -> None:
    entries = list(read_entries(corpus))
    assert [entry.case for entry in entries] == ["a", "b", "c", "d", "e"]
    assert entries[0].verdicts[1].detail == "row 9 is 2, theirs shows 3"
    assert (entries[3].files[0].name, entries[3].size, entries[4].size) == ("binlog.000001", 3, 0)
    assert read_case(corpus, "c")["files"] == [
        {"name": "binlog.000001", "size": 3, "sha256": SHA256, "bytes": b"bin", "decode": "{}\n"}
    ]


def test_an_unknown_case_is_answered_with_the_nearest(corpus: Path) -> None:
    with pytest.raises(ScenarioError, match="no case 'first-dy'"):
        read_case(corpus, "first-dy")


def test_a_folder_without_a_summary_is_no_corpus(corpus: Path) -> None:
    (corpus / "_corpus.json").unlink()
    with pytest.raises(ScenarioError, match="no corpus"):
        list(read_entries(corpus))


def test_the_summary_counts_verdicts_and_gives_first_differences(corpus: Path) -> None:
    lines = summary_lines(Tally(read_entries(corpus)), read_summary(corpus), "out/corpus")
    assert lines[0] == "5 cases: 4 compiled, 1 unsupported"
    assert lines[1] == "a reader must accept 5, must reject 0, may do either with 0"
    assert [line.split() for line in lines[3:6]] == [
        ["decoder", "version", *OUTCOMES, "warned"],
        ["ours", "1", *("4" if outcome == "agree" else "0" for outcome in OUTCOMES), "0"],
        ["theirs", "1", *("2" if outcome in ("disagree", "refused") else "0" for outcome in OUTCOMES), "0"],
    ]
    assert "mine  NOT RUN: not here" in lines
    assert lines[7:] == [
        "",
        "what is not right, by decoder, with the number of cases:",
        "     1  forge unsupported: XA is not here yet",
        "     2  theirs disagree: row # is #, shows #",
        "     2  theirs refused: at #: no",
        "(`forge corpus show out/corpus --findings` has all of it with the cases)",
        "",
        f"sha256 of the manifest {read_summary(corpus).sha256}",
    ]


def test_the_summary_of_thousands_of_findings_fits_a_screen() -> None:
    details = ["should be " + "".join(chr(97 + int(digit)) for digit in f"{n:04d}") for n in range(2000)]
    entries = [
        msgspec.convert(
            row_of(judgement(str(n), *(verdict(f"decoder-{d}", "disagree", detail) for d in range(7)))), Entry
        )
        for n, detail in enumerate(details)
    ]
    decoders = {f"decoder-{d}": "1" for d in range(7)}
    summary = Summary(format=2, forge="0", cases=2000, sha256="ab", decoders=decoders, absent={})
    lines = summary_lines(Tally(entries), summary, "out/corpus")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 110
    assert "     1  decoder-6 disagree: should be aaaa" in lines
    assert any("decoder-6: 1998 more kinds" in line for line in lines)


def test_all_findings_are_told_with_their_first_case(corpus: Path) -> None:
    assert list(finding_lines(Tally(read_entries(corpus)))) == [
        "1 failed here:",
        "  forge unsupported: e",
        "    XA is not here yet",
        "2 disagreements, by decoder and scenario, with the first difference:",
        "  theirs disagree: a and 1 more",
        "    row 9 is 2, theirs shows 3",
        "2 not read to the end, by decoder and message:",
        "  theirs refused: c and 1 more",
        "    at 17: no",
    ]


@pytest.mark.parametrize(
    ("detail", "kind"),
    [
        (
            "event 8 at 807, TABLE_MAP of bits.b: column 6 should be '`s` INT', mariadb-binlog-10.11 shows 'INT'",
            "TABLE_MAP: column # should be ..., shows ...",
        ),
        ("binlog.000001: the event at 762: UnicodeDecodeError: byte 0xbc", "UnicodeDecodeError: byte #"),
        ("event 8 at 807 (bits.b), row 3, after image, column 2 YEAR is 1", "row #, after image, column # YEAR is #"),
        ("it was ended by SIGSEGV", "it was ended by SIGSEGV"),
    ],
)
def test_a_kind_of_finding_has_no_place_and_no_numbers(detail: str, kind: str) -> None:
    assert kind_of(detail, "mariadb-binlog-10.11") == kind


def test_cases_whose_verdict_our_reader_goes_against_are_failures_and_right_rejections_are_not(tmp_path: Path) -> None:
    broken = Case("right", "s/a.yaml", "", "mysql-9.7", verdict="reject", phase="row")
    judged = [
        Judgement(case=broken, status="unreadable", error="stops", verdicts=[verdict("theirs", "rejects", "no")]),
        Judgement(case=replace(broken, id="wrong"), status="compiled", against="our reader accepts it"),
        Judgement(case=replace(broken, id="their"), status="unreadable", verdicts=[verdict("theirs", "accepts", "")]),
    ]
    rows = [row_of(one) for one in judged]
    write_part(tmp_path / part_name(0), pa.Table.from_pylist(rows, schema=SCHEMA))
    write_summary(tmp_path, Summary(format=2, forge="0", cases=3, sha256="", decoders={"theirs": "1"}, absent={}))
    assert [entry.case for entry in read_entries(tmp_path) if entry.failing] == ["their", "wrong"]
    tally = Tally(read_entries(tmp_path))
    assert tally.against == {"wrong": "our reader accepts it"}
    assert [(found.cases, found.first) for found in tally.failures] == [(["wrong"], "our reader accepts it")]
    assert [(found.outcome, found.cases) for found in tally.findings] == [("accepts", ["their"])]
    assert "must reject 3" in "\n".join(summary_lines(tally, read_summary(tmp_path), "out/corpus"))


def test_the_summary_as_json_has_every_finding(corpus: Path) -> None:
    found = summary_object(Tally(read_entries(corpus)), read_summary(corpus))
    assert found["decoders"]["theirs"]["disagree"] == 2
    assert [(one["outcome"], one["cases"]) for one in found["findings"]] == [
        ("disagree", ["a", "b"]),
        ("refused", ["c", "d"]),
    ]


def test_columns_of_a_table_are_as_wide_as_their_widest_cell() -> None:
    assert aligned([["name", "n"], ["a", "10"], ["long name", "7"]], numbers_from=1) == [
        "name        n",
        "a          10",
        "long name   7",
    ]


@pytest.mark.parametrize(
    "file",
    [
        "scenarios/values/bits.yaml",
        "recordings/values/bits/mariadb-10.11/scenario.yaml",
        "templates/values/bits.yaml.j2",
    ],
)
def test_a_recording_and_the_scenario_that_was_recorded_are_one_topic(file: str) -> None:
    assert topic(file) == "values/bits"
