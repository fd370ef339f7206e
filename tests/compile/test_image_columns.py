"""Which columns an image has, and which keys a transaction writes: what rows of few columns do not show."""

from __future__ import annotations

from typing import Any

import pytest

from forge.compile.groups.dependency import written_keys
from forge.compile.row_images import image_columns
from forge.compile.rows.rows import RowEncoder
from forge.compile.rows.table_map import wire_columns
from forge.plan.keys import key_entries, key_of_rows
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.scenario import Scenario, Statement, insert, plan, update
from forge.servers import server_line


def _last(*statements: Statement, tables: list[str], server: str = "mysql-9.7") -> RowsStatement:
    scenario = Scenario("x", server=server, tables=list(tables))
    for statement in statements:
        scenario = scenario.transaction(statement)
    (last,) = plan(scenario).groups[-1].rows_statements  # type: ignore[union-attr]
    return last


def _images(table: str, cells: dict[str, Any], image: str, server: str = "mysql-9.7", **row: Any) -> tuple[Any, Any]:
    change = update("d.t", set=cells, where={"id": 1})
    last = _last(insert("d.t", {"id": 1, **row}), change, tables=[f"CREATE TABLE d.t ({table})"], server=server)
    before, after = image_columns(last, "update", Session(row_image=image), server_line(server))  # type: ignore[arg-type]
    assert before is not None
    assert after is not None
    return before, after


def test_a_virtual_column_is_computed_where_a_key_has_it_and_where_it_follows() -> None:
    table = "id INT PRIMARY KEY, a INT, b INT AS (a + 1) VIRTUAL, c INT AS (a + 2) VIRTUAL, v INT, KEY (b)"
    assert _images(table, {"v": 1}, "minimal")[1].columns == (2, 4)
    assert _images(table, {"a": 1}, "minimal")[1].columns == (1, 2, 3)


def test_a_column_that_the_clock_sets_is_written() -> None:
    table = "id INT PRIMARY KEY, v INT, c TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP"
    assert _images(table, {"v": 1}, "minimal")[1].columns == (1, 2)


@pytest.mark.parametrize(("server", "after"), [("mysql-9.7", (0, 2)), ("mariadb-11.8", (0, 1, 2))])
def test_without_blobs_those_of_the_key_are_in_before_images_and_on_mariadb_in_after_images(
    server: str, after: tuple[int, ...]
) -> None:
    images = _images("id INT, b BLOB, v INT, c BLOB, PRIMARY KEY (id, b(3))", {"v": 1}, "noblob", server, b=b"x")
    assert [image.columns for image in images] == [(0, 1, 2), after]


def test_hidden_columns_show_in_the_bitmap_of_an_after_image_and_not_of_a_minimal_before_image() -> None:
    table = "id INT PRIMARY KEY, v INT, KEY k ((v + 1)), KEY l ((v + 2))"
    before, after = _images(table, {"v": 1}, "minimal")
    assert (before.bitmap.hex(), after.bitmap.hex()) == ("01", "0e")


@pytest.mark.parametrize(("width", "size"), [(7, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_a_row_has_as_many_bytes_of_null_bits_as_its_columns_need(width: int, size: int) -> None:
    columns = ", ".join(f"c{number} TINYINT" for number in range(width))
    last = _last(insert("d.t", {"c0": 1}), tables=[f"CREATE TABLE d.t ({columns})"])
    line = server_line("mysql-9.7")
    encoder = RowEncoder(wire_columns(last.table, Session(), line), range(width), line)
    assert len(encoder.encode((None,) * width)) == size


def test_a_key_with_a_null_has_no_entry_and_stands_for_no_row() -> None:
    tables = ["CREATE TABLE d.t (a INT NOT NULL, b INT, UNIQUE KEY (a, b))"]
    last = _last(insert("d.t", {"a": 1, "b": None}), tables=tables)
    assert list(key_entries(last.table, last.table.keys[0], (1, None))) == []
    assert list(key_entries(last.table, last.table.keys[0], (1, 2))) == [(1, 2)]
    assert key_of_rows(last.table) is None


def test_a_child_writes_the_key_of_its_own_parent() -> None:
    tables = [
        "CREATE TABLE d.p (id INT PRIMARY KEY)",
        "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))",
    ]
    parents = insert("d.p", {"id": 1}, {"id": 2})
    (first, second) = written_keys(_last(parents, tables=tables))
    child = set(written_keys(_last(parents, insert("d.c", {"id": 9, "p": 1}), tables=tables)))
    assert first in child
    assert second not in child
