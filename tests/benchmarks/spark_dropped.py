"""The control of writing logs with Spark: a sink that takes the same batches and drops them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

#: Files that the rows are read from.
_FILES = 8


class _DroppingWriter(DataSourceArrowWriter):
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        for _ in iterator:
            pass
        return WriterCommitMessage()

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        return


class DroppedDataSource(DataSource):
    """``format("dropped")``."""

    @classmethod
    def name(cls) -> str:
        return "dropped"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        return _DroppingWriter()


def write_through(spark: SparkSession, sink: str, parquet: Path, definition: str) -> int:
    """The rows of a Parquet file, in Spark, to that sink; the disk is not waited for.  Gives the number of rows."""
    spark.dataSource.register(DroppedDataSource)
    target = parquet.with_name(f"{parquet.stem}-written")
    shutil.rmtree(target, ignore_errors=True)
    options = {"table": definition, "sync": "false"}
    frame = spark.read.parquet(str(_parts(parquet)))
    frame.write.format(sink).mode("append").options(**options).save(str(target))
    return int(pq.read_metadata(parquet).num_rows)


def _parts(parquet: Path) -> Path:
    """The rows in several files: of one, one core alone would read."""
    folder = parquet.with_name(f"{parquet.stem}-parts")
    if not folder.exists():
        folder.mkdir()
        rows = pq.read_table(parquet)
        each = -(-len(rows) // _FILES)
        for number in range(_FILES):
            pq.write_table(rows.slice(number * each, each), folder / f"{number}.parquet")
    return folder
