"""forge.build, forge.read and forge.diff: a log with what a correct reader gets of it."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path

import pytest

import forge
from forge.errors import FormatError, ScenarioError
from forge.logs import is_text
from forge.resources import corpora_dir

TEXT = """
scenario: orders
tables:
  - CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60), at DATETIME(3), size ENUM('S', 'L'), doc JSON)
transactions:
  - - insert:
        into: shop.orders
        rows: [{id: 1, who: Ann, at: 2024-01-02 03:04:05.678, size: L, doc: {a: 1}}, {id: 2}]
  - - update: {table: shop.orders, where: {id: 1}, set: {who: Bob}}
    - delete: {from: shop.orders, where: {id: 2}}
"""
ANN = {
    "id": 1,
    "who": "Ann",
    "at": dt.datetime(2024, 1, 2, 3, 4, 5, 678000),
    "size": "L",
    "doc": '{"a": 1}',
}  # fmt: skip


@pytest.mark.parametrize("server", ["mysql-9.7", "mysql-5.7", "mariadb-11.8"])
def test_rows_have_the_names_of_the_scenario_and_python_values(server: str) -> None:
    log = forge.build(TEXT, server=server)
    assert log.server == server
    assert [row.kind for row in log.rows] == ["insert", "insert", "update", "delete"]
    assert log.rows[0].after == log.rows[2].before == ANN
    assert log.rows[2].after == ANN | {"who": "Bob"}
    assert log.rows[3].before == {"id": 2, "who": None, "at": None, "size": None, "doc": None}
    assert log.tables == {"shop.orders": [ANN | {"who": "Bob"}]}
    assert log.problem is None


def test_a_scenario_may_be_a_file_a_mapping_or_python() -> None:
    mapping = {
        "tables": ["CREATE TABLE s.t (id INT)"],
        "transactions": [[{"insert": {"into": "s.t", "rows": [{"id": 3}]}}]],
    }
    scenario = forge.Scenario("one", tables=["CREATE TABLE s.t (id INT)"]).transaction(forge.insert("s.t", {"id": 3}))
    assert [row.after for row in forge.build(mapping).rows] == [{"id": 3}]
    assert forge.build(scenario, server="mysql-5.6").rows == forge.build(mapping).rows
    path = corpora_dir() / "scenarios" / "first-day.yaml"
    assert forge.build(path).data == forge.build(str(path)).data == forge.build(path.read_text()).data
    table, row = "CREATE TABLE s.t (id INT)", "{id: 3}"
    one_line = f"{{scenario: one, tables: [{table}], transactions: [[{{insert: {{into: s.t, rows: [{row}]}}}}]]}}"
    assert forge.build(one_line).data == forge.build(scenario).data
    full = forge.build(path, settings={"session.row_metadata": "full"})
    assert len(full.data) > len(forge.build(path).data)


def test_a_line_that_names_a_file_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("{a: b}").write_text(TEXT)
    assert forge.build("{a: b}").data == forge.build(TEXT).data
    assert is_text("{a: b}", tmp_path.parent)
    assert not is_text("{a: b}", tmp_path)


def test_a_wrong_scenario_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(TEXT.replace("set: {who", "set: {whom"))
    with pytest.raises(ScenarioError, match=r"wrong\.yaml:9: "):
        forge.build(tmp_path / "wrong.yaml")
    with pytest.raises(ScenarioError, match="cannot read the file"):
        forge.build("nowhere.yaml")
    with pytest.raises(ScenarioError, match="the name of the file has the character"):
        forge.build("no\0where")
    with pytest.raises(ScenarioError, match=r"scenario:1: unknown word 'tabels'"):
        forge.build("{tabels: []}")
    with pytest.raises(ScenarioError, match="settings has session"):
        forge.build(forge.Scenario("one"), settings={"session.rows_query": True})


def test_what_was_built_is_read_again_from_a_path_bytes_and_a_stream(tmp_path: Path) -> None:
    log = forge.build(TEXT, settings={"session.row_metadata": "full"})
    [path] = log.write(tmp_path / "orders.000001")
    for source in (path, str(path), path.read_bytes(), io.BytesIO(log.data)):
        again = forge.read(source)
        assert again.rows == log.rows
        assert again.events == log.events
    inserted = log.rows[0].after
    assert inserted == ANN
    assert forge.read(log.data, "raw").rows == []
    assert len(forge.read(log.data, "raw").events) == len(log.events)


def test_broken_bytes_are_an_error_or_the_problem_of_a_lenient_log() -> None:
    log = forge.build(TEXT)
    with pytest.raises(FormatError, match=r"bytes, event 18, .* framing: ") as caught:
        forge.read(log.data[:-3])
    lenient = forge.read(log.data[:-3], "lenient")
    assert str(lenient.problem) in str(caught.value)
    assert (len(lenient.events), [row.kind for row in lenient.rows]) == (18, [row.kind for row in log.rows])
    with pytest.raises(ScenarioError, match="mode is 'loose'; expected one of strict, lenient, raw"):
        forge.read(log.data, "loose")  # type: ignore[arg-type]


def test_several_files_are_written_with_their_index(tmp_path: Path) -> None:
    log = forge.build(TEXT.replace("transactions:", "session: {max_binlog_size: 1}\ntransactions:"))
    assert len(log.files) > 1
    with pytest.raises(ScenarioError, match=r"the log has .* files"):
        log.write(tmp_path / "one")
    paths = log.write(f"{tmp_path}/logs/")
    assert [path.name for path in paths] == [file.name for file in log.files]
    assert (tmp_path / "logs" / "binlog.index").read_text().split() == [f"./{path.name}" for path in paths]
    assert [row.file for row in log.rows] == sorted(row.file for row in log.rows)
    with pytest.raises(ScenarioError, match="expected one"):
        _ = log.data


def test_diff_tells_cells_and_none_of_what_follows_from_them() -> None:
    left, right = forge.build(TEXT), forge.build(TEXT.replace("who: Ann", "who: Annabel"))
    assert forge.diff(left, left) == []
    found = forge.diff(left, right)
    assert {one.event_type for one in found} == {"WRITE_ROWS", "UPDATE_ROWS"}
    assert [(one.left, one.right) for one in found] == [("'Ann'", "'Annabel'")] * 2
    assert forge.diff(left.data, right) == found
