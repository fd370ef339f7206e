"""Rows written in bulk: the same files as a scenario of the same rows makes on the ordinary path."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import numpy as np
import pyarrow as pa

import forge
from forge import Facts, Scenario, Session, insert
from forge.binlog.reader import read_events
from forge.bulk.writing.cells import CellWriter
from forge.compile.files.compilation import compile_files, write_files
from forge.errors import ScenarioError
from forge.scenario import plan

pytestmark = pytest.mark.slow

TABLE = """CREATE TABLE shop.orders (
  id BIGINT NOT NULL, qty INT UNSIGNED, small TINYINT, price DOUBLE, who VARCHAR(300) CHARACTER SET utf8,
  day DATETIME, seen TIMESTAMP NULL,
  state ENUM('new','paid','sent'), PRIMARY KEY (id), UNIQUE KEY (qty))"""
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "qty": pa.uint32(),
        "small": pa.int8(),
        "price": pa.float64(),
        "who": pa.string(),
        "day": pa.timestamp("us"),
        "seen": pa.timestamp("us"),
        "state": pa.string(),
    }
)
LINES = ["mysql-5.1", "mysql-5.5", "mysql-5.6", "mysql-5.7", "mysql-8.0", "mysql-8.4", "mysql-9.7"]
LINES += ["mariadb-10.2", "mariadb-10.6", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8"]
_MOMENTS = st.datetimes(dt.datetime(1970, 1, 2), dt.datetime(2037, 12, 31)).map(lambda at: at.replace(microsecond=0))


#: The log names the columns.
NAMED = Session(row_metadata="full")


def _maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "small": _maybe(st.integers(-128, 127)),
            "price": _maybe(st.floats(allow_nan=False, allow_infinity=False)),
            "who": _maybe(st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF), max_size=300)),
            "day": _maybe(_MOMENTS),
            "seen": _maybe(_MOMENTS),
            "state": _maybe(st.sampled_from(["new", "paid", "sent"])),
            "with_qty": st.booleans(),
        }
    ),
    min_size=1,
    max_size=40,
)


def _numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with keys that none of the others has."""
    return [
        {"id": number - 3, "qty": number + 7 if row["with_qty"] else None}
        | {name: value for name, value in row.items() if name != "with_qty"}
        for number, row in enumerate(rows)
    ]


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, dt.datetime) else value


def _by_scenario(rows: Sequence[dict[str, Any]], rows_each: int | None, server: str, session: Session) -> list[bytes]:
    each = len(rows) if rows_each is None else rows_each
    parts = [rows[begin : begin + each] for begin in range(0, len(rows), each)]
    transactions: list[Any] = [
        [insert("shop.orders", *({name: _cell(value) for name, value in row.items()} for row in part))]
        for part in parts
    ]
    made = plan(Scenario(scenario="rows", server=server, session=session, tables=[TABLE], transactions=transactions))
    return write_files(made, compile_files(made))


def _written(
    rows: Sequence[dict[str, Any]], rows_each: int | None, server: str, session: Session, batch: int
) -> list[bytes]:
    table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
    with TemporaryDirectory() as folder:
        written = forge.write_rows(
            table.to_batches(max_chunksize=batch),
            TABLE,
            Path(folder) / "binlog.000001",
            server=server,
            session=session,
            rows_per_transaction=rows_each,
        )
        assert sorted(Path(folder).iterdir()) == sorted(written.files)
        assert written.rows == len(rows)
        files = [path.read_bytes() for path in written.files]
        assert written.bytes == sum(map(len, files))
        return files


def _many_rows(count: int = 200) -> list[dict[str, Any]]:
    day = dt.datetime(2024, 2, 29, 12)
    return [
        {
            "id": number,
            "qty": number if number % 3 else None,
            "small": number % 100,
            "price": number / 7,
            "who": "é" * (number % 90),
            "day": day,
            "seen": day if number % 5 else None,
            "state": "paid",
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("rows_each", [None, 1, 7])
@pytest.mark.parametrize("server", LINES)
def test_each_server_line_logs_rows_as_its_scenario_does(server: str, rows_each: int | None) -> None:
    rows = _many_rows(30)
    assert _written(rows, rows_each, server, Session(), 11) == _by_scenario(rows, rows_each, server, Session())


SESSIONS = [
    ("mysql-9.7", Session(gtid=True)),
    ("mysql-9.7", Session(checksum="none", ends_with="nothing")),
    ("mysql-9.7", Session(compression=True)),
    ("mysql-9.7", Session(max_binlog_size=6000, gtid=True)),
    ("mysql-9.7", Session(binlog_row_event_max_size=256, row_metadata="full", ends_with="rotate")),
    ("mysql-8.0", Session(row_image="minimal")),
    ("mysql-5.7", Session(row_image="noblob", gtid=True)),
    ("mariadb-11.8", Session(log_bin_compress=True, log_bin_compress_min_len=50)),
    ("mariadb-11.8", Session(max_binlog_size=5000, gtid_domain_id=3)),
    ("mariadb-10.11", Session(checksum="none", row_metadata="full")),
    (
        "mysql-9.7",
        Session(
            server_id=9,
            facts=Facts(
                first_xid=77,
                first_table_id=400,
                thread_id=12,
                commit_timestamps=[1, 2, 3_000_000, 4_000_000],
                timestamps=[[5], [6], [7, 8], [9, 10, 11], [12]],
                xids=[1, 2, 3, 9, 7],
            ),
        ),
    ),
]


@pytest.mark.parametrize("rows_each", [None, 1, 30])
@pytest.mark.parametrize(("server", "session"), SESSIONS)
def test_settings_and_facts_count_as_on_the_ordinary_path(server: str, session: Session, rows_each: int | None) -> None:
    rows = _many_rows(80)
    assert _written(rows, rows_each, server, session, 25) == _by_scenario(rows, rows_each, server, session)


@given(
    rows=ROWS.map(_numbered),
    rows_each=st.none() | st.integers(1, 12),
    server=st.sampled_from(LINES),
    image=st.sampled_from(["full", "minimal", "noblob"]),
    most=st.sampled_from([256, 300, 1024, 8192]),
    batch=st.integers(1, 50),
)
def test_any_rows_give_the_bytes_of_the_ordinary_path(
    rows: list[dict[str, Any]], rows_each: int | None, server: str, image: Any, most: int, batch: int
) -> None:
    if server in ("mysql-5.1", "mysql-5.5"):
        image = "full"
    session = Session(row_image=image, binlog_row_event_max_size=most)
    assert _written(rows, rows_each, server, session, batch) == _by_scenario(rows, rows_each, server, session)


def test_a_value_that_its_column_cannot_hold_is_refused_by_row_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    rows = [{**row, "state": "lost"} if row["id"] == 150 else row for row in _many_rows()]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    with pytest.raises(ScenarioError, match=r"row 151, column 'state'"):
        forge.write_rows(table, TABLE, tmp_path / "rows.binlog")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rows_each", [None, 1, 1000])
def test_far_behind_the_rows_that_are_written_a_row_is_refused_by_its_number(
    rows_each: int | None, tmp_path: Path
) -> None:
    values = np.zeros(400_000, np.int64)
    values[345_678] = 300
    table = pa.table({"a": values, "b": pa.array(["x" * 50] * len(values))})
    with pytest.raises(ScenarioError, match=r"row 345679, column 'a'"):
        forge.write_rows(
            table, "CREATE TABLE a.b (a TINYINT, b TEXT)", tmp_path / "rows.binlog", rows_per_transaction=rows_each
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rows_each", [None, 1])
def test_a_file_that_cannot_grow_is_an_error_and_is_taken_away(rows_each: int | None, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are POSIX's")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    table = pa.table({"a": pa.array(["x" * 100] * 400_000)})
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            forge.write_rows(table, "a.b", tmp_path / "rows.binlog", rows_per_transaction=rows_each)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rows_each", [None, 1])
def test_an_interrupt_leaves_neither_a_file_nor_a_thread(rows_each: int | None, tmp_path: Path) -> None:
    def interrupted() -> Iterator[pa.RecordBatch]:
        yield from pa.table({"a": np.arange(400_000)}).to_batches(max_chunksize=50_000)
        raise KeyboardInterrupt

    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        forge.write_rows(interrupted(), "a.b", tmp_path / "rows.binlog", rows_per_transaction=rows_each)
    assert not list(tmp_path.iterdir())
    assert threading.active_count() == threads


def test_null_in_a_column_that_is_not_null_is_refused(tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([1, None], pa.int64())})
    with pytest.raises(ScenarioError, match="row 2, column 'id'"):
        forge.write_rows(table, "CREATE TABLE a.b (id BIGINT PRIMARY KEY)", tmp_path / "rows.binlog")


@pytest.mark.parametrize(
    ("columns", "problem"),
    [({"id": [1], "more": [1]}, "has no column 'more'"), ({"other": [1]}, "has no column 'other'")],
)
def test_columns_are_those_of_the_table(columns: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=problem):
        forge.write_rows(pa.table(columns), "CREATE TABLE a.b (id BIGINT PRIMARY KEY)", tmp_path / "rows.binlog")


def test_a_column_that_a_full_image_has_is_missed(tmp_path: Path) -> None:
    table = "CREATE TABLE a.b (id BIGINT PRIMARY KEY, c INT)"
    with pytest.raises(ScenarioError, match="no column 'c'"):
        forge.write_rows(pa.table({"id": [1]}), table, tmp_path / "rows.binlog")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, None], pa.int64()),
        pa.array([1.0, 2.0, None]),
        pa.array([True, False, None]),
        pa.array([1, 2, None], pa.decimal128(9, 0)),
        pa.array([1, 2, None]).dictionary_encode(),
    ],
)
def test_other_types_are_taken_where_the_values_stay_the_same(column: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.binlog"
    forge.write_rows(pa.table({"c": column}), "CREATE TABLE a.b (c TINYINT)", path, session=NAMED)
    read = forge.read_rows(path, table="a.b").read_all()
    assert read.column("c").to_pylist() == [None if value is None else int(value) for value in column.to_pylist()]


def test_the_columns_of_a_named_table_follow_from_the_schema(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "a": pa.array([1, None], pa.uint16()),
            "b": pa.array(["x", "é"]),
            "c": pa.array([b"\0", None]),
            "d": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 678), None], pa.timestamp("us")),
            "e": pa.array([dt.date(2024, 1, 2), None]),
            "f": pa.array([None, 12], pa.decimal128(12, 2)),
        }
    )
    forge.write_rows(rows, "a.b", tmp_path / "rows.binlog", session=NAMED)
    assert forge.read_rows(tmp_path / "rows.binlog", table="a.b").read_all().select(rows.column_names).equals(rows)


def test_without_definitions_the_log_has_nothing_but_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.binlog"
    written = forge.write_rows(pa.table({"a": [1]}), "a.b", path, definitions=False)
    names = [placed.event.type_name for placed in read_events(path.read_bytes())]
    expected = ["FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "ANONYMOUS_GTID", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]
    assert names == [*expected, "STOP"]
    assert written.events == len(names)


def test_a_transaction_of_more_than_16_mb_says_how_long_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rows.binlog"
    rows = pa.table({"a": pa.array(["x" * 100_000] * 200)})
    forge.write_rows(rows, "a.b", path, definitions=False)
    events = [placed.event for placed in read_events(path.read_bytes())]
    sizes = path.stat().st_size
    gtid: Any = events[2].body
    # FORMAT_DESCRIPTION and PREVIOUS_GTIDS before it, STOP behind it.
    assert gtid.transaction_length == sizes - 4 - 119 - 4 - 27 - 4 - 19 - 4
    assert all(event.checksum is None and event.log_pos is None for event in events)


def test_cells_are_made_once_and_rows_that_were_written_are_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    most = 0
    inner = CellWriter._made

    def counted(self: CellWriter, changes: Any, *arguments: Any) -> Any:
        made.append(changes.rows)
        return inner(self, changes, *arguments)

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal most
        for _ in range(50):
            yield pa.record_batch({"a": pa.array(["x" * 10_000] * 200)})
            most = max(most, pa.total_allocated_bytes())

    monkeypatch.setattr(CellWriter, "_made", counted)
    before = pa.total_allocated_bytes()
    forge.write_rows(batches(), "a.b", tmp_path / "rows.binlog", sync=False)
    assert sum(made) == 50 * 200
    assert most - before < 60_000_000


@pytest.mark.parametrize("allocate", [None, lambda *_: -1])
def test_a_log_is_the_same_and_as_long_where_no_room_is_kept_for_it(
    allocate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"a": np.arange(200_000), "b": pa.array([None, 1] * 100_000, pa.int32())})
    usual, other = tmp_path / "usual", tmp_path / "other"
    forge.write_rows(rows, "a.b", usual)
    monkeypatch.setattr("forge.bulk.writing.output._allocate", allocate)
    forge.write_rows(rows, "a.b", other)
    assert usual.read_bytes() == other.read_bytes()
    # What was kept and not needed is given back.
    assert usual.stat().st_blocks * 512 <= usual.stat().st_size + (1 << 16)


@pytest.mark.parametrize(("operation", "row_image"), [("insert", "full"), ("delete", "minimal")])
def test_rows_in_one_batch_or_in_many_are_the_same_transaction(operation: Any, row_image: Any, tmp_path: Path) -> None:
    """Of one batch it is known at once whether more than 16 MB will follow: here of the first, not of the second."""
    rows = pa.table({name: np.arange(800_000) for name in ("id", "a", "b")})
    table = "CREATE TABLE a.b (id BIGINT PRIMARY KEY, a BIGINT, b BIGINT)"
    logs = []
    for name, batches in (("one", rows), ("many", rows.to_batches(max_chunksize=70_000))):
        session = Session(row_image=row_image)
        forge.write_rows(batches, table, tmp_path / name, operation=operation, session=session, sync=False)
        logs.append((tmp_path / name).read_bytes())
    assert logs[0] == logs[1]
    assert (len(logs[0]) > 1 << 24) == (operation == "insert")


def test_gtids_from_before_the_session_stand_in_previous_gtids(tmp_path: Path) -> None:
    uuid = "36447c92-e662-11f1-8db3-02fc00000001"
    path = tmp_path / "binlog.000007"
    session = Session(gtid=True, facts=Facts(server_uuid=uuid, executed_from=1, first_gno=462))
    forge.write_rows(pa.table({"a": [1, 2]}), "a.b", path, definitions=False, session=session, rows_per_transaction=1)
    bodies: list[Any] = [placed.event.body for placed in read_events(path.read_bytes())]
    assert bodies[1].gtid_set == (False, ((uuid, "", ((1, 461),)),))
    assert [body.gno for body in bodies if body.type_name == "GTID"] == [462, 463]


def test_transactions_that_are_larger_than_a_batch_go_on_in_the_next_one(tmp_path: Path) -> None:
    rows = pa.table({"a": pa.array(range(50_000), pa.int64())})
    one, other = tmp_path / "one", tmp_path / "other"
    forge.write_rows(rows.to_batches(max_chunksize=7_000), "a.b", one, rows_per_transaction=20_000)
    forge.write_rows(rows, "a.b", other, rows_per_transaction=20_000, sync=False)
    assert one.read_bytes() == other.read_bytes()
    names = [placed.event.type_name for placed in read_events(one.read_bytes())]
    assert names.count("XID") == 3
