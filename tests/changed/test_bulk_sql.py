"""The SQL that is made in bulk is that of the reference path; on real servers it leaves what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

import forge
from forge.binlog.logged import logged_events
from forge.binlog.selection import ALL
from forge.changed.bulk_sql import BulkSql
from forge.changed.chosen_events import Asked
from forge.changed.known_tables import KnownTables
from forge.changed.log_sql import LogSql
from forge.changed.row_statements import RowStatements
from forge.changed.spill import Spill
from forge.changed.sql_cells import SqlCells
from forge.errors import UnsupportedError
from forge.record.retold.log_settings import line_of
from forge.servers import server_line
from tests.long.applied.applying import Servers, differences

RECORDINGS = Path(__file__).resolve().parents[2] / "corpora" / "recordings"
#: Rows of many types, several tables in a transaction, data definition, compression, old formats.
SAMPLE = (
    "bits", "values/decimals/mysql-9.7", "values/floats/mysql-9.7", "values/json/mysql-9.7", "values/enums/mysql-9.7",
    "values/sets/mysql-9.7", "values/zero-dates/mysql-9.7", "values/datetimes/mariadb-10.11", "ddl",
    "everyday-mysql-5.6", "client-charsets-mariadb-10.11", "images/primary-minimal/mysql-9.7", "characters-utf8mb4",
    "compressed-events/mariadb-10.11", "auto-increment-and-defaults", "crossings-mariadb-10.5",
)  # fmt: skip


def sql_of(path: Path, *, bulk: bool, flashback: bool) -> str:
    events = list(logged_events(path.read_bytes()))
    tables = KnownTables(server_line(line_of(events[0].placed)))
    asked = Asked(RowStatements(SqlCells(), flashback=flashback), ALL, statements=not flashback)
    with Spill() as spill:
        log = LogSql(asked, tables, lambda _line: None, spill if flashback else None)
        pieces: Iterator[str] = BulkSql(log, path, "log", None).read() if bulk else log.read("log", events)
        text = "".join(pieces) + "".join(log.end())
        return text + "".join(map(bytes.decode, spill.backwards()))


def is_same(path: Path) -> None:
    for flashback in (False, True):
        try:
            made = sql_of(path, bulk=True, flashback=flashback)
        except UnsupportedError:
            continue
        assert made == sql_of(path, bulk=False, flashback=flashback)


@pytest.mark.parametrize("name", SAMPLE)
def test_bulk_says_what_the_reference_path_says_of_recordings(name: str) -> None:
    is_same(RECORDINGS / name / "binlog.000001")


TYPES = {
    "INT": st.integers(-(2**31), 2**31 - 1).map(str),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False).map(repr),
    "FLOAT": st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    "DECIMAL(12,8)": st.decimals(-9999, 9999, places=8).map(str),
    "VARCHAR(20)": st.text("aé'\\\n\t\x01日", max_size=8).map(lambda text: f"x'{text.encode().hex()}'"),
    "VARBINARY(9)": st.binary(max_size=9).map(lambda data: f"x'{data.hex()}'"),
    "DATETIME(3)": st.sampled_from(["'2024-02-29 10:00:00.125'", "'1000-01-01 00:00:00'"]),
    "TIME(2)": st.sampled_from(["'-838:59:59'", "'00:00:00.25'"]),
    "ENUM('a','b')": st.sampled_from(["'a'", "'b'"]),
    "SET('x','y')": st.sampled_from(["''", "'x'", "'x,y'"]),
    "BIT(9)": st.integers(0, 511).map(str),
}


@settings(max_examples=25)
@given(st.data())
def test_bulk_says_what_the_reference_path_says_of_generated_rows(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    types = data.draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=5))
    columns = ", ".join(f"c{number} {type_name}" for number, type_name in enumerate(types))
    text = "-- forge: server: mysql-9.7\n-- forge: session: {row_metadata: full}\nCREATE DATABASE d;\n"
    text += f"CREATE TABLE d.t (id INT PRIMARY KEY, {columns});\nCREATE TABLE d.u (id INT PRIMARY KEY);\n"
    for number in range(data.draw(st.integers(1, 6))):
        cells = [data.draw(st.just("NULL") | TYPES[type_name]) for type_name in types]
        text += f"INSERT INTO d.t VALUES ({number}, {', '.join(cells)});\nINSERT INTO d.u VALUES ({number});\n"
    text += "BEGIN;\nUPDATE d.t SET id = id + 10 WHERE id < 3;\nDELETE FROM d.u;\n"
    text += "UPDATE d.t SET c0 = NULL WHERE id > 2;\nDELETE FROM d.t WHERE id = 11;\nCOMMIT;\n"
    [path] = forge.build(text).write(tmp_path_factory.mktemp("log") / "log.000001")
    is_same(path)


@pytest.mark.servers
@pytest.mark.parametrize("name", ["bits", "values/json/mysql-9.7", "ddl", "auto-increment-and-defaults"])
def test_the_sql_of_a_recording_leaves_its_contents_and_flashback_nothing(name: str) -> None:
    with ExitStack() as stack:
        assert list(differences(RECORDINGS / name, Servers(stack))) == []
