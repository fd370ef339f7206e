"""A log that goes on from another one: the files are those of one scenario in which the first log ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import msgspec
import pyarrow as pa

import forge
from forge import Facts, Scenario, Session, insert
from forge.bulk.writing.log_end import LogEnd
from forge.compile.files.compilation import compile_files, write_files
from forge.errors import ScenarioError
from forge.scenario import plan
from forge.scenario.build import flush_binary_logs, restart

pytestmark = pytest.mark.slow

TABLE = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(20))"
ROWS = [{"id": number, "who": "x" * (number % 15)} for number in range(25)]
#: How the first log ends, and the statement that ends the scenario's file likewise.
ENDS = {"stop": restart(), "rotate": flush_binary_logs(), "nothing": restart(crash=True)}


@pytest.mark.parametrize("ends_with", ENDS)
@pytest.mark.parametrize(
    ("server", "session"),
    [
        ("mysql-9.7", Session(gtid=True, facts=Facts(first_gno=5, executed_from=2))),
        ("mysql-9.7", Session(max_binlog_size=900)),
        ("mysql-5.7", Session(gtid=True, max_binlog_size=900)),
        ("mariadb-11.8", Session(gtid_domain_id=2)),
    ],
)
def test_what_goes_on_from_a_log_is_what_one_scenario_makes(
    tmp_path: Path, server: str, session: Session, ends_with: str
) -> None:
    session = msgspec.structs.replace(session, ends_with=ends_with)
    steps: list[Any] = [[insert("shop.orders", *ROWS[begin : begin + 2])] for begin in range(0, 10, 2)]
    steps += [[ENDS[ends_with]]]
    steps += [[insert("shop.orders", *ROWS[begin : begin + 3])] for begin in range(10, 25, 3)]
    schema = pa.schema({"id": pa.int32(), "who": pa.string()})
    parts = [pa.Table.from_pylist(rows, schema=schema) for rows in (ROWS[:10], ROWS[10:])]

    made = plan(Scenario(scenario="rows", server=server, session=session, tables=[TABLE], transactions=steps))
    files = write_files(made, compile_files(made))
    first = forge.write_rows(
        parts[0], TABLE, tmp_path / "binlog.000001", server=server, session=session, rows_per_transaction=2
    )
    # It may be kept as text meanwhile.
    end = msgspec.json.decode(msgspec.json.encode(first.end), type=LogEnd)
    path = tmp_path / f"binlog.{end.next_file:06}"
    second = forge.write_rows(parts[1], TABLE, path, server=server, session=session, rows_per_transaction=3, after=end)
    assert [path.name for path in (*first.files, *second.files)] == [
        f"binlog.{number + 1:06}" for number in range(len(files))
    ]
    written = [path.read_bytes() for path in (*first.files, *second.files)]
    # A session ends a second after its last group, a file in the middle of one in that second.
    closing = {"stop": 19 + 4, "rotate": 19 + 8 + len(path.name) + 4, "nothing": 0}[ends_with]
    last = first.end.files - 1
    assert len(written[last]) == len(files[last])
    written[last], files[last] = written[last][: -closing or None], files[last][: -closing or None]
    if ends_with == "nothing" and server.startswith("mysql"):
        # A server that is started again takes the mark IN_USE off the file that its crash left.
        written[last] = written[last][:21] + b"\0" + written[last][22:]
    assert written == files
    assert second.end.groups == first.end.groups + 5
    assert second.end.files == len(files)


def test_another_table_of_the_same_database_is_defined_without_it(tmp_path: Path) -> None:
    first = forge.write_rows(pa.table({"a": [1]}), "a.b", tmp_path / "binlog.000001", session=Session(gtid=True))
    second = forge.write_rows(
        pa.table({"a": [1]}), "a.c", tmp_path / "binlog.000002", session=Session(gtid=True), after=first.end
    )
    uuid = first.end.gtid_set.partition(":")[0]
    assert first.end.gtid_set == f"{uuid}:1-3"
    assert second.end.gtid_set == f"{uuid}:1-5"
    assert second.end.databases == ["a"]
    assert list(second.end.tables) == ["a.b", "a.c"]


@pytest.mark.parametrize(
    ("name", "table", "server", "session", "problem"),
    [
        ("binlog.000003", "a.b", "mysql-9.7", Session(), "has the number 3; expected 2"),
        ("other.000002", "a.b", "mysql-9.7", Session(), "session.log_name is 'other'; expected 'binlog'"),
        ("binlog.000002", "a.b", "mysql-8.4", Session(), "written for mysql-9.7"),
        ("binlog.000002", "a.b", "mysql-9.7", Session(gtid=True), "session.gtid is True; expected False"),
        ("binlog.000002", "CREATE TABLE a.b (a INT)", "mysql-9.7", Session(), "the log before makes a.b otherwise"),
    ],
)
def test_what_goes_on_keeps_to_the_log_before(
    tmp_path: Path, name: str, table: str, server: str, session: Session, problem: str
) -> None:
    first = forge.write_rows(pa.table({"a": [1]}), "a.b", tmp_path / "binlog.000001")
    with pytest.raises(ScenarioError, match=problem):
        forge.write_rows(pa.table({"a": [1]}), table, tmp_path / name, server=server, session=session, after=first.end)
    assert [path.name for path in tmp_path.iterdir()] == ["binlog.000001"]
