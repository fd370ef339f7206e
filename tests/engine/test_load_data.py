"""LOAD DATA: files of rows, split as servers do (forge.engine.dml.load_file, loads)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.engine.dml.load_file import LineReader, file_text
from forge.errors import ScenarioError
from forge.scenario import LoadData, Scenario, Session, Statement, load_data, plan
from forge.scenario.matrix import base_scenario

TABLE = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), n INT DEFAULT 5)"
CELLS = st.one_of(st.none(), st.text("ab,;'\"\\|N\n\t\0NUL", max_size=8))


def read(text: str, **more: Any) -> list[list[str | None]]:
    return list(LineReader(text, LoadData(into="t", text=text, **more)).lines())


@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=4),
    enclosed=st.sampled_from(("", "'", '"')),
    terminated=st.sampled_from((",", "\t", ";;", "ab,")),
    starting=st.sampled_from(("", ">>")),
)
def test_rows_are_read_as_they_were_written(
    rows: list[list[str | None]], enclosed: str, terminated: str, starting: str
) -> None:
    load = LoadData(
        into="t", rows=rows, enclosed_by=enclosed, fields_terminated_by=terminated, lines_starting_by=starting
    )
    assert list(LineReader(file_text(load), load).lines()) == rows


@pytest.mark.parametrize(
    ("text", "more", "rows"),
    [
        ("1\t\\N\n2\tN", {}, [["1", None], ["2", "N"]]),
        ("a\\tb\\\nc\td\n", {}, [["a\tb\nc", "d"]]),
        ("'a,''b',NULL\n'NULL',x", {"fields_terminated_by": ",", "enclosed_by": "'"}, [["a,'b", None], ["NULL", "x"]]),
        ("head\nx>>1\n>>2", {"lines_starting_by": ">>", "ignore_lines": 1}, [["1"], ["2"]]),
        ("a\\b", {"escaped_by": ""}, [["a\\b"]]),
    ],
)
def test_lines_are_taken_apart_as_servers_do(text: str, more: dict[str, Any], rows: list[list[str | None]]) -> None:
    assert read(text, **more) == rows


def planned(load: LoadData, **session: Any) -> list[str]:
    scenario = Scenario("s", session=Session(**session), tables=[TABLE]).transaction(Statement(load_data=load))
    return [placed.event.type_name for placed in read_events(write_binlog(compile_plan(plan(scenario))))]


def test_a_long_file_travels_in_blocks_each_after_the_number_that_it_begins_with() -> None:
    load = LoadData(into="d.t", columns=["n"], text=("0" * 99 + "\n") * 2_700)
    names = planned(load, binlog_format="statement")
    begin = names.index("BEGIN_LOAD_QUERY")
    assert names[begin - 1 : -2] == [
        "INTVAR", "BEGIN_LOAD_QUERY", "INTVAR", "APPEND_BLOCK", "INTVAR", "APPEND_BLOCK", "INTVAR",
        "EXECUTE_LOAD_QUERY",
    ]  # fmt: skip


def test_a_file_that_the_client_sends_comes_in_its_blocks() -> None:
    load = LoadData(into="d.t", columns=["n"], text=("0" * 99 + "\n") * 200, local=True)
    names = planned(load, binlog_format="statement")
    assert (names.count("BEGIN_LOAD_QUERY"), names.count("APPEND_BLOCK")) == (1, 1)


def test_a_number_stands_before_a_block_only_if_a_row_was_read_before_the_files_end() -> None:
    for text, before in (("1\n", ["INTVAR"]), ("1", [])):
        names = planned(LoadData(into="d.t", columns=["n"], text=text), binlog_format="statement")
        begin = names.index("BEGIN_LOAD_QUERY")
        assert names[begin - len(before) : begin + 3] == [*before, "BEGIN_LOAD_QUERY", "INTVAR", "EXECUTE_LOAD_QUERY"]
        assert names[begin - len(before) - 1] == "QUERY"


def test_set_computes_columns_of_fields() -> None:
    load = LoadData(
        into="d.t",
        columns=["v", "@x", "@d"],
        text="a\t5\t\nb\t-7\t1\n",
        set={"n": {"sql": "IF(@d = '', NULL, @x * 2 + 1)"}},
    )
    scenario = Scenario("s", tables=[TABLE]).transaction(Statement(load_data=load))
    assert [row[2] for row in plan(scenario).contents["d.t"]] == [None, -13]


def test_mixed_logs_the_rows_of_a_file() -> None:
    assert "WRITE_ROWS" in planned(LoadData(into="d.t", rows=[[1, "a", 2]]), binlog_format="mixed")


@pytest.mark.parametrize(
    ("load", "problem"),
    [
        (LoadData(into="d.t", text="1\ta\n"), "has 2 fields"),
        (LoadData(into="d.t", columns=["nope"], text="1\n"), "nope"),
        (LoadData(into="d.t", columns=["n"], text="x\n"), "INT"),
        (LoadData(into="d.t", columns=["v", "@a"], text="x\ty\n", set={"n": {"sql": "SLEEP(@a)"}}), "SLEEP"),
        (LoadData(into="d.t", columns=["v", "@a"], text="x\ty\n", set={"n": {"sql": "@a / 2"}}), "DOUBLE"),
        (LoadData(into="d.t", columns=["v", "@a"], text="x\ty\n", set={"n": {"sql": "@b + 1"}}), "@b is not among"),
        (
            LoadData(into="d.t", columns=["v"], text="x\n", set={"n": {"sql": "UUID()", "values": []}}),
            "no value for line 1",
        ),
        (LoadData(into="d.t", hex="1"), "hexadecimal"),
        (LoadData(into="d.t", columns=["v"], rows=[["a\tb"]], escaped_by=""), "escape character"),
    ],
)
def test_what_cannot_be_loaded_is_refused(load: LoadData, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        planned(load)


@pytest.mark.parametrize(
    ("file", "local", "path"),
    [("/tmp/in.txt", False, "/tmp/in.txt"), ("/var/lib/my files/in", True, "/var/lib/my files/in"),
     ("in", False, "./in"), ("in/2024.01.csv.gz", False, "./in/2024.01.csv.gz"), ("in.csv", True, "in.csv"),
     ("/ввод.txt", False, "/ввод.txt")],
)  # fmt: skip
def test_a_file_has_any_usual_name(file: str, local: bool, path: str) -> None:
    made = Scenario(
        scenario="load", session=Session(binlog_format="statement"), tables=["CREATE TABLE d.s (v VARCHAR(50))"],
        transactions=[[load_data("d.s", [["a"]], file=file, local=local)]],
    )  # fmt: skip
    texts = [event.body.query for event in compile_plan(plan(made)) if event.type_name == "EXECUTE_LOAD_QUERY"]  # type: ignore[attr-defined]
    assert f" INFILE '{path}'" in texts[0]


@pytest.mark.parametrize("file", ["", "/", "a//b", "../a", "/tmp/../etc/passwd", "it's", "a\\b", "a\nb", "in/"])
def test_other_names_of_files_are_refused_in_a_sentence(file: str) -> None:
    text = "scenario: x\ntables: [CREATE TABLE d.s (v INT)]\ntransactions:\n"
    text += "  - - load_data: {into: d.s, rows: [[1]], file: FILE}\n"
    with pytest.raises(ScenarioError) as caught:
        plan(base_scenario(text.replace("FILE", json.dumps(file))))
    assert "regex" not in str(caught.value)
