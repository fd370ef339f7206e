"""Scenario files become cases that any process can compile again."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import pytest

from forge.corpus.cases import BinlogFile, Case, compile_case, find_cases, shipped_folders
from forge.corpus.judge import judge_case
from forge.resources import corpora_dir

pytestmark = pytest.mark.slow

PLAIN = """\
scenario: plain
tags: [a, b]
tables: [CREATE TABLE t.a (id INT PRIMARY KEY)]
transactions: [[{insert: {into: t.a, rows: [{id: 1}]}}]]
"""
FAMILY = """\
scenario: family
matrix: {server: [mysql-8.0, mysql-9.7], width: [1, 2]}
tables: ["CREATE TABLE t.a (id INT PRIMARY KEY, d DECIMAL(5,2))"]
transactions: [[{insert: {into: t.a, rows: [{id: 1, d: {{ width }}}]}}]]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "plain.yaml").write_text(PLAIN)
    (tmp_path / "deep" / "family.yaml").write_text(FAMILY)
    (tmp_path / "notes.txt").write_text("no scenario")
    return tmp_path


def test_a_file_is_one_case_and_a_matrix_is_many(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    cases = find_cases([("mine", folder)], progress=lambda *seen: told.append(seen))
    assert told == [(1, 1)]
    assert [case.id for case in cases] == [
        "deep/family[server=mysql-8.0,width=1]",
        "deep/family[server=mysql-8.0,width=2]",
        "deep/family[server=mysql-9.7,width=1]",
        "deep/family[server=mysql-9.7,width=2]",
        "plain",
    ]
    assert (cases[-1].server, cases[-1].tags, cases[0].server) == ("mysql-9.7", ("a", "b"), "mysql-8.0")


def test_a_case_does_not_depend_on_where_its_folder_is(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere")
    (other / "plain.yaml").write_text(PLAIN)
    assert find_cases([("mine", other)]) == find_cases([("mine", folder)])[-1:]


def test_a_case_compiles_to_the_same_bytes_after_a_journey(folder: Path) -> None:
    for case in find_cases([("mine", folder)]):
        again: Case = pickle.loads(pickle.dumps(case))
        assert again == case
        assert compile_case(again) == compile_case(case)


def test_the_choices_of_a_case_decide_its_bytes(folder: Path) -> None:
    made = {file.data for case in find_cases([("mine", folder)]) for file in compile_case(case).files}
    assert len(made) == 5


def test_a_wrong_file_is_a_case_that_is_judged_invalid(folder: Path) -> None:
    (folder / "wrong.yaml").write_text("scenario: wrong\ntables: [CREATE TABLE t.a (id INTT)]\n" + "transactions: 7\n")
    (folder / "latin1.yaml").write_bytes("scenario: é".encode("latin1"))
    wrong = [judge_case(case, decoders=[]) for case in find_cases([("mine", folder)]) if case.id in ("wrong", "latin1")]
    assert [(found.case.id, found.status) for found in wrong] == [("latin1", "invalid"), ("wrong", "invalid")]
    assert "mine/wrong.yaml:3" in (wrong[1].error or "")


def test_a_family_that_breaks_off_keeps_its_good_cases(folder: Path) -> None:
    (folder / "half.yaml").write_text("scenario: half\nmatrix: {session.checksum: [none, crc64]}\n")
    assert [case.id for case in find_cases([("mine", folder)]) if case.file.endswith("half.yaml")] == [
        "half",
        "half[checksum=none]",
    ]


def test_a_recording_is_one_case_with_the_bytes_of_its_server() -> None:
    folder = corpora_dir() / "recordings"
    cases = [case for case in find_cases([("recordings", folder)]) if case.id == "recordings/first-day"]
    assert [(case.server, "recorded" in case.tags) for case in cases] == [("mysql-9.7", True)]
    recorded = (folder / "first-day" / "binlog.000001").read_bytes()
    assert compile_case(cases[0]).files == [BinlogFile("binlog.000001", recorded)]


def test_a_session_of_several_files_is_one_case(tmp_path: Path) -> None:
    rows = "\n".join(f"  - - insert: {{into: t.a, rows: [{{id: {number}}}]}}" for number in range(60))
    text = "scenario: long\nsession: {max_binlog_size: 4096, log_name: log}\ntables: [CREATE TABLE t.a (id INT)]\n"
    (tmp_path / "long.yaml").write_text(f"{text}transactions:\n{rows}\n")
    [case] = find_cases([("mine", tmp_path)])
    made = compile_case(case).files
    assert [file.name for file in made] == [f"log.{number:06}" for number in range(1, len(made) + 1)]
    assert len(made) > 3
    assert all(made[place + 1].name.encode() in file.data[-60:] for place, file in enumerate(made[:-1]))
    judged = judge_case(case, decoders=["forge"])
    assert (judged.status, [one.outcome for one in judged.verdicts]) == ("compiled", ["agree"])
    rows_shown = "".join(file.decode or "" for file in judged.files).count('"WRITE_ROWS"')
    assert rows_shown == 60


def test_a_title_has_the_choices_that_tell_its_case_from_others_of_its_family(tmp_path: Path) -> None:
    told = "description: Rows {{ word }}.\nmatrix: {session.checksum: [none, crc32], word: [of one, of two]}\n"
    (tmp_path / "told.yaml").write_text(f"scenario: told\n{told}")
    assert sorted(str(case.title) for case in find_cases([("mine", tmp_path)])) == [
        "Rows of one (checksum=crc32).",
        "Rows of one (checksum=none).",
        "Rows of two (checksum=crc32).",
        "Rows of two (checksum=none).",
    ]


def test_the_shipped_cases_have_different_ids_and_titles() -> None:
    cases = find_cases(shipped_folders())
    assert len(cases) > 9000
    for told in (Counter(case.id for case in cases), Counter(case.title for case in cases)):
        assert [word for word, count in told.items() if count > 1] == []
        assert None not in told
    # With those that have every feature, some 140, they are the profile smoke.
    assert 200 < sum("chosen" in case.tags for case in cases) < 260
