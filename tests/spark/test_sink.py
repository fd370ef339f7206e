"""``df.write.format("binlog")`` and ``df.writeStream``: rows in their order become the logs of a server."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow.parquet as pq

import forge
from forge.errors import EnvironmentMissing, ForgeError, ScenarioError
from forge.spark.session import job_errors
from forge.spark.source import BinlogDataSource, register
from forge.spark.versions import spark_release
from tests.spark.sink_writes import TABLE, logs, rows, temporaries

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SESSION = "{gtid: true, row_metadata: full, max_binlog_size: 4000}"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    register(spark)
    return spark


def _frame(session: SparkSession, first: int, count: int, partitions: int) -> DataFrame:
    return session.createDataFrame(rows(first, count)).repartitionByRange(partitions, "id").sortWithinPartitions("id")


def _write(frame: DataFrame, mode: str = "append", **options: Any) -> DataFrameWriter:
    given: dict[str, Any] = {"table": TABLE, "session": SESSION, "rows_per_transaction": 7} | options
    return frame.write.format("binlog").mode(mode).options(**given)


def test_any_number_of_partitions_gives_the_bytes_of_write_rows(session: SparkSession, tmp_path: Path) -> None:
    written = forge.write_rows(
        rows(0, 1000),
        TABLE,
        tmp_path / "binlog.000001",
        rows_per_transaction=7,
        session=forge.Session(gtid=True, row_metadata="full", max_binlog_size=4000),
    )
    expected = {path.name: path.read_bytes() for path in written.files}
    assert len(expected) > 3
    for partitions in (1, 3, 16):
        folder = tmp_path / str(partitions)
        frame = _frame(session, 0, 1000, partitions)
        assert frame.rdd.getNumPartitions() == partitions
        _write(frame).save(folder.as_uri())
        made = logs(folder)
        assert made.pop("binlog.index").decode().split() == [f"./{name}" for name in expected]
        assert made == expected
        assert temporaries(folder) == []
    read = session.read.format("binlog").option("table", "shop.orders").load(str(tmp_path / "16"))
    assert read.select("id").toArrow()["id"].to_pylist() == list(range(1000))


def test_an_append_goes_on_and_an_overwrite_replaces_what_was_written(session: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    _write(_frame(session, 0, 100, 2)).save(str(folder))
    first = logs(folder)
    (folder / "notes.txt").write_text("mine")
    _write(_frame(session, 100, 50, 3)).save(str(folder))
    both = logs(folder)
    assert first.items() - {("binlog.index", first["binlog.index"])} <= both.items()
    read = forge.read_rows(sorted(folder.glob("binlog.0*")), table="shop.orders", columns=["id"]).read_all()
    assert read["id"].to_pylist() == list(range(150))
    # CREATE DATABASE, CREATE TABLE and a transaction for each seven rows, and for the last ones of each write.
    assert len(set(read["_gtid"].to_pylist())) == 15 + 8
    assert max(int(gtid.rpartition(":")[2]) for gtid in read["_gtid"].to_pylist()) == 2 + 15 + 8
    _write(_frame(session, 0, 100, 2), "overwrite").save(str(folder))
    assert logs(folder) == {**first, "notes.txt": b"mine"}


def test_a_write_says_what_it_cannot_do_before_there_are_rows(session: SparkSession, tmp_path: Path) -> None:
    frame = _frame(session, 0, 10, 1)
    folder = str(tmp_path / "logs")
    with pytest.raises(ForgeError, match="Append"), job_errors():
        frame.write.format("binlog").options(table=TABLE).save(folder)
    cases: list[tuple[dict[str, str], str]] = [
        ({"rows_per_transactions": "1"}, "did you mean 'rows_per_transaction'"),
        ({"path": "s3://bucket/logs"}, "a place that programs cannot open as a file"),
        ({"session": "{gtids: true}"}, "option session: .*gtids"),
        ({"table": "CREATE TABLE shop.orders (id INT)"}, "has no column 'who'"),
        ({"server": "mysql-9.9"}, "mysql-9.9"),
    ]
    for options, words in cases:  # As Spark does it, in this process.
        with pytest.raises(ScenarioError, match=words):
            BinlogDataSource({"path": folder, "table": TABLE} | options).writer(frame.schema, overwrite=False)
    assert not Path(folder).exists()
    Path(folder).mkdir()
    (Path(folder) / "binlog.000007").touch()
    with pytest.raises(ForgeError, match=r"holds 'binlog\.000007', which no write of this sink has made"), job_errors():
        _write(frame).save(folder)


def test_a_write_whose_task_fails_leaves_nothing(session: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    _write(_frame(session, 0, 20, 2)).save(str(folder))
    before = logs(folder)
    failing = _frame(session, 0, 20, 2).selectExpr("IF(id = 13, raise_error('broken'), id) AS id", "who")
    with pytest.raises(ForgeError, match="broken"), job_errors():
        _write(failing).save(str(folder))
    with pytest.raises(ForgeError, match="row 6, column 'who'"), job_errors():
        _write(_frame(session, 0, 20, 2).selectExpr("id", "IF(id = 5, repeat('x', 21), who) AS who")).save(str(folder))
    assert logs(folder) == before
    assert temporaries(folder) == []


def test_changes_are_written_as_they_were_read(session: SparkSession, tmp_path: Path) -> None:
    table = rows(0, 9).append_column("_operation", [["insert"] * 5 + ["delete"] * 2 + ["insert"] * 2])
    frame = session.createDataFrame(table).coalesce(1)
    _write(frame, operation="operation").save(str(tmp_path / "first"))
    read = session.read.format("binlog").options(table="shop.orders", images="both").load(str(tmp_path / "first"))
    _write(read.coalesce(1), operation="operation").save(str(tmp_path / "second"))
    assert logs(tmp_path / "second") == logs(tmp_path / "first")


@pytest.mark.skipif(spark_release() < (4, 1), reason="PySpark 4.0 has no writers of streams that take Arrow")
def test_each_batch_of_a_stream_is_written_once(session: SparkSession, tmp_path: Path) -> None:
    folder, source, checkpoint = tmp_path / "logs", tmp_path / "source", tmp_path / "checkpoint"
    source.mkdir()

    def run() -> None:
        stream = session.readStream.schema("id INT, who STRING").option("maxFilesPerTrigger", 1).parquet(str(source))
        query = (
            stream.coalesce(1)
            .writeStream.format("binlog")
            .options(table=TABLE, session=SESSION, rows_per_transaction=7, checkpointLocation=str(checkpoint))
            .trigger(availableNow=True)
            .start(str(folder))
        )
        query.awaitTermination()

    for number in range(3):
        pq.write_table(rows(number * 10, 10), source / f"{number}.parquet")
    run()
    three = logs(folder)
    # As after a crash between the write and Spark's own note of it: the batch comes again.
    (checkpoint / "commits" / "2").unlink()
    (checkpoint / "commits" / ".2.crc").unlink(missing_ok=True)
    pq.write_table(rows(30, 10), source / "3.parquet")
    run()
    assert three.items() - {("binlog.index", three["binlog.index"])} <= logs(folder).items()
    read = forge.read_rows(sorted(folder.glob("binlog.0*")), table="shop.orders", columns=["id"]).read_all()
    assert sorted(read["id"].to_pylist()) == list(range(40))
    assert temporaries(folder) == []
    # Another query counts its batches by itself.
    shutil.rmtree(checkpoint)
    run()
    assert forge.read_rows(sorted(folder.glob("binlog.0*")), table="shop.orders").read_all().num_rows == 80


@pytest.mark.skipif(spark_release() >= (4, 1), reason="what PySpark 4.0 lacks: make spark-versions has it")
def test_what_an_older_pyspark_lacks_is_said() -> None:
    with pytest.raises(EnvironmentMissing, match=r"writeStream\.format\('binlog'\) needs PySpark 4\.1"):
        import forge.spark.stream_sink  # noqa: F401
