"""``spark.read.format("binlog")``: what it reads is what ``forge.read_rows`` reads."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from forge.binlog.logged import logged_events
from forge.bulk.reading.rows import read_rows
from forge.decode.decode import canonical_events, canonical_rows
from forge.errors import FormatError, ScenarioError
from forge.events.mariadb_compressed import uncompressed
from forge.events.rows import ROWS_BODIES
from forge.spark.read_options import EVENT_COLUMNS
from forge.spark.reader import SplitPartition
from forge.spark.source import BinlogDataSource
from tests.spark.as_spark import as_spark_has

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDINGS = Path(__file__).parents[2] / "corpora" / "recordings"
MARIADB = RECORDINGS / "compressed-events" / "mariadb-11.8" / "binlog.000001"
PAYLOADS = RECORDINGS / "compressed" / "binlog.000001"
ROWS = RECORDINGS / "images-minimal" / "binlog.000001"
DIFFS = RECORDINGS / "images-partial-json-mysql-9.7-full" / "binlog.000001"
CHANGED = RECORDINGS / "ddl-keys-and-partitions-mysql-9.7" / "binlog.000001"
LARGE = RECORDINGS / "metadata" / "columns-1017" / "mariadb-11.8" / "binlog.000001"
BODY = ("type", "fields", "database", "table", "rows", "readers", "events")


def read(**options: Any) -> pa.Table:
    """What Spark's workers give it, in this process."""
    source = BinlogDataSource({name.lower(): str(value) for name, value in options.items()})
    schema = source.schema()
    reader = source.reader(schema)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return pa.Table.from_batches(batches)


def test_the_rows_of_a_table_are_those_of_read_rows() -> None:
    [name, *_] = {name for name, _ in read_rows(MARIADB)}
    for split_size in (1, 1 << 20):
        table = read(path=MARIADB, table=name, split_size=split_size)
        assert table.to_pylist() == as_spark_has(read_rows(MARIADB, name).read_all())


def test_without_a_table_every_change_is_a_row_with_its_images_as_json() -> None:
    changes = read(path=ROWS)
    expected = list(canonical_rows(ROWS.read_bytes()))
    assert len(changes) == len(expected)
    for row, change in zip(changes.sort_by("_event").to_pylist(), expected, strict=True):
        assert row["_table"] == f"{change.database}.{change.table}"
        for half, image in (("before", change.before), ("after", change.after)):
            shown = None if row[half] is None else json.loads(row[half])
            assert (shown is None) == (image is None)
            assert [*(shown or ())] == [cell.column.name or f"@{cell.number}" for cell in image or ()]


@pytest.mark.parametrize("log", [ROWS, MARIADB, PAYLOADS, DIFFS], ids=lambda log: log.parts[-2])
def test_the_bytes_of_images_are_those_of_the_log(log: Path) -> None:
    changes = read(path=log, values="binary").to_pylist()
    images: dict[int, bytes] = defaultdict(bytes)
    for row in changes:
        images[row["_event"]] += (row["before"] or b"") + (row["after"] or b"")
    logged: dict[int, bytes] = defaultdict(bytes)
    for event in logged_events(log.read_bytes()):
        body = uncompressed(event.body)
        if isinstance(body, ROWS_BODIES):
            logged[event.index] += body.rows
    assert images == logged
    # Null says that an image has all columns.
    left_out = [row["_event"] for row in changes if row["after"] is not None and row["_present_after"] is not None]
    assert (len(left_out) > 0) == (log == ROWS)


def test_a_table_whose_columns_change_is_an_error_that_says_where_or_has_the_columns_of_all() -> None:
    with pytest.raises(
        ScenarioError, match=r"shop.children has other .* at event 28, offset 2901 of .*schema_change=union"
    ):
        read(path=CHANGED, table="shop.children")
    for split_size in (1, 1 << 20):
        table = read(path=CHANGED, table="shop.children", schema_change="union", split_size=split_size)
        assert table.schema.names[:4] == ["id", "parent", "made", "other"]
        rows = [row for name, batch in read_rows(CHANGED) for row in as_spark_has(batch) if name == "shop.children"]
        assert table.to_pylist() == [dict.fromkeys(table.schema.names) | row for row in rows]
    some = read(path=CHANGED, table="shop.children", schema_change="union", columns="other,id", beside="_event")
    assert some.schema.names == ["other", "id", "_event"]
    both = read(path=CHANGED, table="shop.children", schema_change="union", images="both", beside="_event")
    assert [field.name for field in both.schema.field("after").type] == ["id", "parent", "made", "other"]
    with pytest.raises(ScenarioError, match="did you mean 'other'"):
        read(path=CHANGED, table="shop.children", schema_change="union", columns="othr")
    ddl = RECORDINGS / "ddl" / "binlog.000001"
    with pytest.raises(ScenarioError, match=r"no types hold the columns of ddl\.t before and after event 31"):
        read(path=ddl, table="ddl.t", schema_change="union", on_odd="text")


def test_columns_that_are_not_asked_for_are_not_read() -> None:
    [name, *_] = {name for name, _ in read_rows(MARIADB)}
    whole = read_rows(MARIADB, name).read_all()
    column = whole.schema.names[1]
    table = read(path=MARIADB, table=name, columns=json.dumps([column]), beside="_gtid, _position")
    assert table.schema.names == [column, "_position", "_gtid"]
    assert table.to_pylist() == whole.select(table.schema.names).to_pylist()


def test_a_file_without_its_end_is_an_error_or_read_up_to_the_last_whole_transaction(tmp_path: Path) -> None:
    torn = tmp_path / "binlog.000001"
    torn.write_bytes(PAYLOADS.read_bytes()[:1500])
    with pytest.raises(FormatError, match=r"binlog.000001, event 9, offset 1164, framing") as met:
        read(path=torn)
    assert met.value.event_index is not None
    whole = read(path=PAYLOADS, beside="_position").to_pylist()
    assert read(path=torn, beside="_position", tail="lenient").to_pylist() == [
        row for row in whole if row["_position"] < 1085
    ]


def test_bytes_that_break_a_rule_are_an_error_with_file_event_and_offset(tmp_path: Path) -> None:
    damaged = tmp_path / "binlog.000001"
    data = bytearray(ROWS.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    for options in ({}, {"table": next(name for name, _ in read_rows(ROWS))}, {"rows": "events"}):
        with pytest.raises(FormatError, match=r"binlog\.000001, event \d+, offset \d+, checksum"):
            read(path=damaged, **options)


def test_a_path_without_a_log_is_an_error_that_says_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001.gz").write_bytes(gzip.compress(ROWS.read_bytes()))
    for path, said in (
        (tmp_path, "no log is in .*; expected files such as binlog.000001"),
        (tmp_path / "binlog.000001.gz", "this file is compressed by gzip: unpack it first"),
        (tmp_path / "nothing", "there is no log at .*nothing"),
    ):
        for options in ({}, {"table": "shop.orders"}, {"rows": "events"}):
            with pytest.raises((ScenarioError, FormatError), match=said):
                read(path=path, **options)


def test_a_read_without_rows_has_no_partitions_and_no_rows() -> None:
    empty = RECORDINGS / "empty" / "binlog.000001"
    source = BinlogDataSource({"path": str(empty)})
    reader = source.reader(source.schema())
    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []


def test_events_are_rows_with_what_the_canonical_decode_says_of_them() -> None:
    events = read(path=PAYLOADS, rows="events").to_pylist()
    assert events == read(path=PAYLOADS, rows="events", split_size=1).to_pylist()
    held: list[dict[str, Any]] = []
    for event in canonical_events(PAYLOADS.read_bytes()):
        if "inner" not in event:
            held.append(event | {"events": []})
        else:
            held[-1]["events"].append({name: event[name] for name in BODY if name in event})
    assert len(events) == len(held)
    for row, event in zip(events, held, strict=True):
        shown = (row["_position"], row["_event"], row["_type"], row["_type_code"], row["_size"], row["_server_id"])
        names = ("offset", "index", "type", "type_code", "event_size", "server_id")
        assert shown == tuple(event[name] for name in names)
        assert row["_timestamp"].timestamp() == event["timestamp"]
        body = json.loads(row["body"])
        assert body == {name: event[name] for name in BODY if name in event and name != "type" and event[name] != []}


def test_events_without_their_bodies_are_told_by_their_headers_alone(tmp_path: Path) -> None:
    headers = [name for name in EVENT_COLUMNS if name != "body"]
    for log in (PAYLOADS, LARGE):
        every = read(path=log, rows="events")
        assert read(path=log, rows="events", columns=",".join(headers)) == every.select(headers)


def test_a_log_may_be_a_folder_a_list_an_index_or_a_uri(tmp_path: Path) -> None:
    folder = tmp_path / "a log"
    folder.mkdir()
    for number in (2, 1):
        (folder / f"binlog.00000{number}").write_bytes(PAYLOADS.read_bytes())
    (folder / "binlog.index").write_text("./binlog.000002\n./binlog.000001\n")
    files = [str(folder / "binlog.000001"), str(folder / "binlog.000002")]
    for options in (
        {"path": folder}, {"path": folder / "binlog.index"}, {"path": folder.as_uri()}, {"paths": json.dumps(files)},
    ):  # fmt: skip
        events = read(rows="events", columns="_file,_event", **options)
        assert [row["_file"] for row in events.to_pylist() if row["_event"] == 0] == files


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tabel": "x"}, "did you mean 'table'"),
        ({"path": "s3://bucket/binlog.000001"}, "cannot open as a file"),
        ({"path": "/nowhere"}, "there is no log at /nowhere"),
        ({"table": "t.none"}, "no table 't.none' is in the log"),
        ({"table": "t.none", "rows": "events"}, "'table' has no meaning for rows=events"),
        ({"columns": "a"}, "'columns' has no meaning for a read without table"),
        ({"rows": "event"}, "did you mean 'events'"),
        ({"rows": "events", "columns": "_typ"}, "did you mean '_type"),
        ({"beside": "_position,_filee"}, "did you mean '_file'"),
        ({"split_size": "64x"}, "expected bytes from 1 on"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        read(**{"path": PAYLOADS, **options})


def test_a_file_is_cut_into_pieces_that_are_alike(tmp_path: Path) -> None:
    size = MARIADB.stat().st_size
    source = BinlogDataSource({"path": str(MARIADB), "split_size": str(size - 1), "rows": "events"})
    first, last = source.reader(source.schema()).partitions()
    assert isinstance(first, SplitPartition)
    assert isinstance(last, SplitPartition)
    assert size // 4 < last.split.begin < size * 3 // 4
    assert last.split.end == size


def test_columns_without_a_null_are_known_as_such() -> None:
    [name, *_] = {name for name, _ in read_rows(MARIADB)}
    for options in ({"table": name}, {}, {"rows": "events"}):
        schema = BinlogDataSource({"path": str(MARIADB), **options}).schema()
        nullable = {field.name for field in schema if field.nullable and field.name.startswith("_")}
        assert nullable <= {"_gtid", "_present"}
        assert "_file" not in nullable
        assert read(path=MARIADB, **options).schema.field("_file").nullable is False


def test_a_table_is_found_behind_what_a_file_that_is_still_written_lacks(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(PAYLOADS.read_bytes()[:1500])
    (tmp_path / "binlog.000002").write_bytes(CHANGED.read_bytes())
    source = BinlogDataSource({"path": str(tmp_path), "table": "shop.children"})
    assert source.schema() == BinlogDataSource({"path": str(CHANGED), "table": "shop.children"}).schema()


@pytest.mark.slow
def test_spark_filters_what_is_left_and_says_where_a_file_ends(spark: SparkSession, tmp_path: Path) -> None:
    changes = spark.read.format("binlog").load(str(PAYLOADS), split_size="1")
    gtid = "054930bc-e52a-11f1-9d7b-02fc00000001:4"
    [row, *others] = changes.where(f"_gtid = '{gtid}' AND _position > 200").collect()
    assert {one["_gtid"] for one in (row, *others)} == {gtid}
    assert len(others) + 1 == sum(one["_gtid"] == gtid for one in read(path=PAYLOADS).to_pylist())
    torn = tmp_path / "binlog.000001"
    torn.write_bytes(PAYLOADS.read_bytes()[:1500])
    with pytest.raises(Exception, match=r"FormatError: .*binlog.000001, event 9, offset 1164, framing: .*are left"):
        spark.read.format("binlog").load(str(torn)).collect()
