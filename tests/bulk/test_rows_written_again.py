"""Rows that `forge.read_rows` read are written again: the same rows, or the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import pyarrow as pa

import forge
from forge import Scenario, Session, insert
from forge.compile.files.compilation import compile_files, write_files
from forge.scenario import plan

pytestmark = pytest.mark.slow

NAMED = Session(row_metadata="full")


def test_changes_of_a_log_that_is_read_make_the_same_rows_again(tmp_path: Path) -> None:
    scenario = Scenario(
        scenario="changes",
        session=Session(row_image="minimal", row_metadata="full"),
        tables=["CREATE TABLE a.b (id INT PRIMARY KEY, c VARCHAR(9), d INT)"],
    )
    scenario = scenario.transaction(insert("a.b", {"id": 1, "c": "x"}, {"id": 2, "d": 5}))
    scenario = scenario.transaction(forge.update("a.b", where={"id": 1}, set={"c": "y"}))
    scenario = scenario.transaction(forge.delete("a.b", where={"id": 2}))
    made = plan(scenario)
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(write_files(made, compile_files(made))[0])
    with_images = forge.read_rows(first, table="a.b", images="both")
    table = "CREATE TABLE a.b (id INT PRIMARY KEY, c VARCHAR(9), d INT)"
    forge.write_rows(with_images, table, second, operation="operation", rows_per_transaction=2, session=NAMED)
    again = forge.read_rows(second, table="a.b", images="both").read_all()
    rows = forge.read_rows(first, table="a.b", images="both").read_all()
    same = ["_operation", "before", "after", "_present_before", "_present_after"]
    assert again.select(same).to_pylist() == rows.select(same).to_pylist()


def test_columns_without_names_are_found_by_their_position(tmp_path: Path) -> None:
    table = "CREATE TABLE a.b (id INT PRIMARY KEY, c VARCHAR(9))"
    first, second = tmp_path / "first", tmp_path / "second"
    forge.write_rows(pa.table({"c": ["x", "y"], "id": [1, 2]}), table, first)
    read = forge.read_rows(first, table="a.b")
    assert read.schema.names[:2] == ["@1", "@2"]
    forge.write_rows(read, table, second)
    assert second.read_bytes() == first.read_bytes()
