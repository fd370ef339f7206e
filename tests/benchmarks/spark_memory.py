"""The control of reading logs with Spark: a data source whose workers hold the same batches in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from forge.spark.reader import SplitPartition
from forge.spark.source import BinlogDataSource

#: The batches of each split that this worker has read.
_HELD: dict[object, list[pa.RecordBatch]] = {}


class MemoryDataSource(BinlogDataSource):
    """A read of ``binlog`` that a worker makes once."""

    @classmethod
    def name(cls) -> str:
        return "memory"

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Held(super().reader(schema))


class _Held(DataSourceReader):
    def __init__(self, reader: DataSourceReader) -> None:
        self._reader = reader

    def partitions(self) -> list[InputPartition]:
        return list(self._reader.partitions())

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, SplitPartition)
        if partition.split not in _HELD:
            _HELD[partition.split] = list(self._reader.read(partition))
        return iter(_HELD[partition.split])


def read_through(spark: SparkSession, source: str, path: str, table: str) -> None:
    """All rows go through Spark, to nowhere."""
    spark.dataSource.register(MemoryDataSource)
    spark.read.format(source).option("table", table).load(path).write.format("noop").mode("overwrite").save()
