"""``spark.readStream.format("binlog")``: every row of a log that grows comes once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

from forge.spark.source import register
from forge.spark.stream import HAS_ADMISSION
from tests.bulk.growing import TABLE, Ending, GrowingFolder, LogFile, server_runs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ENDINGS: tuple[Ending, ...] = ("stop", "crash", "stop")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[LogFile]:
    return server_runs(tmp_path_factory.mktemp("made"), ENDINGS, rows=150, file_size=12_000)


@pytest.fixture
def growing(files: list[LogFile], tmp_path: Path) -> GrowingFolder:
    (tmp_path / "log").mkdir()
    return GrowingFolder(tmp_path / "log", files)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    register(spark)
    return spark


class Query:
    """Runs a stream up to what is there, again and again on one checkpoint; keeps the ids of each batch."""

    def __init__(self, session: SparkSession, growing: GrowingFolder, checkpoint: Path, **options: Any) -> None:
        self.session = session
        self.options = {"path": str(growing.folder), "table": TABLE, **options}
        self.checkpoint = checkpoint
        self.batches: dict[int, list[int]] = {}

    def run(self, **options: Any) -> None:
        def keep(frame: DataFrame, number: int) -> None:
            self.batches[number] = frame.toArrow()["id"].to_pylist()

        stream = self.session.readStream.format("binlog").options(**self.options, **options).load()
        writer = stream.writeStream.foreachBatch(keep).option("checkpointLocation", str(self.checkpoint))
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            query.stop()

    @property
    def ids(self) -> list[int]:
        return [id for number in sorted(self.batches) for id in self.batches[number]]


def test_a_query_reads_on_where_the_one_before_ended(
    session: SparkSession, growing: GrowingFolder, tmp_path: Path
) -> None:
    growing.grow(3)
    limits = {"maxFilesPerTrigger": 2, "maxRowsPerTrigger": 100} if HAS_ADMISSION else {}
    query = Query(session, growing, tmp_path / "checkpoint", **limits)
    more = True
    while more:
        query.run()
        more = growing.grow(12)
    query.run()
    assert query.ids == [id for file in growing.files for id in file.ids]
    assert not limits or max(map(len, query.batches.values())) in (99, 100)
