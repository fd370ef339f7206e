"""What Spark's processes ask the reader of a stream, asked in this process."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow as pa
from pyspark.sql.types import StructType

import forge
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.spark import stream
from forge.spark.source import BinlogDataSource
from forge.spark.stream import HAS_ADMISSION, BinlogStreamReader
from tests.bulk.growing import TABLE, Ending, GrowingFolder, LogFile, server_runs

ENDINGS: tuple[Ending, ...] = ("stop", "crash", "stop")
with_admission = pytest.mark.skipif(not HAS_ADMISSION, reason="PySpark before 4.2 has no read limits")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[LogFile]:
    return server_runs(tmp_path_factory.mktemp("made"), ENDINGS, rows=150, file_size=6000)


@pytest.fixture
def folder(files: list[LogFile], tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    GrowingFolder(tmp_path / "log", files).grow()
    return tmp_path / "log"


def reader(path: Path, schema: StructType | None = None, **options: Any) -> BinlogStreamReader:
    given = {name.lower(): str(value) for name, value in {"path": path, **options}.items()}
    source = BinlogDataSource(given)
    made = source.streamReader(source.schema() if schema is None else schema)
    assert isinstance(made, BinlogStreamReader)
    return made


def of_table(path: Path, **options: Any) -> BinlogStreamReader:
    return reader(path, table=TABLE, **options)


def rows(reader: BinlogStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
    travelled: BinlogStreamReader = pickle.loads(pickle.dumps(reader))
    return [
        row
        for partition in reader.partitions(json.loads(json.dumps(start)), json.loads(json.dumps(end)))
        for batch in travelled.read(pickle.loads(pickle.dumps(partition)))
        for row in batch.to_pylist()
    ]


def triggers(reader: BinlogStreamReader) -> Iterator[list[dict[str, Any]]]:
    """The rows of each batch that Spark would ask for."""
    place = reader.initialOffset()
    while (end := reader.latestOffset(place, reader.getDefaultReadLimit())) != place:
        yield rows(reader, place, end)
        place = end


def test_all_that_is_there_is_one_batch_without_limits(folder: Path, files: list[LogFile]) -> None:
    following = of_table(folder)
    start = following.initialOffset()
    assert start == {"file": "binlog.000001", "position": 4, "began": 0}
    found = rows(following, start, following.latestOffset())
    assert [row["id"] for row in found] == [id for file in files for id in file.ids]
    assert {Path(row["_file"]).name for row in found} == {file.name for file in files if file.ids}
    assert following.partitions(start, start) == []


@with_admission
@pytest.mark.parametrize("option", ["maxRowsPerTrigger", "maxBytesPerTrigger", "maxFilesPerTrigger"])
def test_limits_hold_unless_spark_asks_for_all(folder: Path, files: list[LogFile], option: str) -> None:
    value = {"maxRowsPerTrigger": "50", "maxBytesPerTrigger": "4k", "maxFilesPerTrigger": "2"}[option]
    following = of_table(folder, **{option: value})
    batches = list(triggers(following))
    assert [row["id"] for batch in batches for row in batch] == [id for file in files for id in file.ids]
    sizes = [len(batch) for batch in batches]
    if option == "maxRowsPerTrigger":
        assert 45 < max(sizes) <= 50
    elif option == "maxFilesPerTrigger":
        assert max(len({row["_file"] for row in batch}) for batch in batches) == 2
    else:
        assert len(batches) > len(files)
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    unlimited = following.latestOffset(following.initialOffset(), ReadAllAvailable())
    assert unlimited == following.latestOffset()


@with_admission
def test_a_query_of_what_is_there_now_leaves_what_comes_later(files: list[LogFile], tmp_path: Path) -> None:
    growing = GrowingFolder(tmp_path, files)
    growing.grow(12)
    following = of_table(tmp_path, maxRowsPerTrigger=20)
    following.prepareForTriggerAvailableNow()
    until = following.latestOffset()
    growing.grow()
    [*batches] = triggers(following)
    ids = [row["id"] for batch in batches for row in batch]
    assert ids == [id for file in files for id in file.ids][: len(ids)]
    assert rows(following, until, following.reportLatestOffset())[0]["id"] == len(ids)


@pytest.mark.parametrize("rows_are", ["changes", "events"])
@with_admission
def test_rows_of_other_kinds_are_counted_too(folder: Path, rows_are: str) -> None:
    batches = list(triggers(reader(folder, rows=rows_are, maxRowsPerTrigger=40)))
    once = reader(folder, rows=rows_are)
    everything = rows(once, once.initialOffset(), once.latestOffset())
    assert [row for batch in batches for row in batch] == everything
    assert 30 < max(map(len, batches)) <= 40


@with_admission
def test_compressed_transactions_are_counted_by_their_rows(tmp_path: Path) -> None:
    batch = pa.table({"id": range(100)})
    session = forge.Session(compression=True, row_metadata="full")
    forge.write_rows(batch, "db.t", tmp_path / "binlog.000001", rows_per_transaction=7, session=session)
    following = reader(tmp_path, table="db.t", maxRowsPerTrigger=20)
    assert [len(batch) for batch in triggers(following) if batch] == [14] * 6 + [16]


def test_a_stream_starts_where_it_is_told_to(folder: Path, files: list[LogFile]) -> None:
    last = of_table(folder, starting="latest").initialOffset()
    assert last["file"] == f"binlog.{len(files) + 1:06d}"
    second = of_table(folder, starting="binlog.000002:4")
    found = rows(second, second.initialOffset(), second.latestOffset())
    assert [row["id"] for row in found] == [id for file in files[1:] for id in file.ids]
    with pytest.raises(FormatError, match="no transaction ends at offset 5"):
        of_table(folder, starting="binlog.000002:5").initialOffset()
    with pytest.raises(ScenarioError, match="'1-x' is no GTID set"):
        of_table(folder, starting="gtid:1-x").initialOffset()
    assert of_table(folder, starting="gtid:0-1-5").initialOffset()["file"] == "binlog.000001"
    for wrong in ("first", "binlog.000002", "binlog.000002:x"):
        with pytest.raises(ScenarioError, match=r"a place such as binlog\.000007:1234"):
            of_table(folder, starting=wrong).initialOffset()


def test_files_that_were_purged_end_a_stream(folder: Path) -> None:
    following = of_table(folder)
    start = following.latestOffset(following.initialOffset())
    place = {**start, "file": "binlog.000002", "position": 700}
    for name in ("binlog.000001", "binlog.000002"):
        (folder / name).unlink()
    with pytest.raises(ScenarioError, match=r"binlog\.000002 is gone from .*, where position 700 of it comes next"):
        following.latestOffset(place, None)


def test_a_definition_that_changes_ends_a_stream_and_says_where(tmp_path: Path) -> None:
    session = forge.Session(row_metadata="full", ends_with="rotate")
    batch = pa.table({"id": [1, 2]})
    forge.write_rows(batch, "CREATE TABLE db.t (id INT)", tmp_path / "binlog.000001", session=session)
    more = batch.append_column("name", pa.array(["a", "b"]))
    definition = "CREATE TABLE db.t (id INT, name TEXT)"
    forge.write_rows(more, definition, tmp_path / "binlog.000002", session=session)
    following = reader(tmp_path, table="db.t")
    start = following.initialOffset()
    with pytest.raises(
        ScenarioError, match=r"db\.t has other columns than the frame at event \d+, offset \d+ of .*\.000002"
    ):
        rows(following, start, following.latestOffset())
    union = reader(tmp_path, table="db.t", schema_change="union")
    assert [row["name"] for row in rows(union, start, union.latestOffset())] == [None, None, "a", "b"]


def test_a_folder_may_be_empty_at_first_if_the_columns_are_given(files: list[LogFile], tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"no log is in .*; expected files such as"):
        of_table(tmp_path)
    schema = StructType().add("id", "long").add("note", "string")
    following = reader(tmp_path, schema, table=TABLE, beside="")
    start = following.initialOffset()
    assert following.latestOffset(start, None) == start
    GrowingFolder(tmp_path, files).grow()
    found = rows(following, start, following.latestOffset(start, None))
    assert [row["id"] for row in found] == [id for file in files for id in file.ids]


def test_options_that_cannot_be_are_refused(folder: Path) -> None:
    with pytest.raises(ScenarioError, match="option maxrowspertrigger: '0'"):
        of_table(folder, maxRowsPerTrigger=0).initialOffset()
    with pytest.raises(ScenarioError, match="option maxbytespertrigger: '64x'"):
        of_table(folder, maxBytesPerTrigger="64x").latestOffset()
    with pytest.raises(ScenarioError, match="a stream follows one log, not 2"):
        BinlogDataSource({"paths": json.dumps([str(folder)] * 2)}).streamReader(StructType()).initialOffset()
    with pytest.raises(ScenarioError, match="'tail' has no meaning for a stream"):
        of_table(folder, tail="lenient").initialOffset()
    with pytest.raises(ScenarioError, match="did you mean 'starting'"):
        of_table(folder, startin="latest")


def test_what_an_older_pyspark_lacks_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HAS_ADMISSION", False)
    with pytest.raises(UnsupportedError, match=r"maxBytesPerTrigger and maxRowsPerTrigger need 4\.2"):
        of_table(folder, maxRowsPerTrigger=10).latestOffset()
    assert of_table(folder).latestOffset()["position"] == 4
