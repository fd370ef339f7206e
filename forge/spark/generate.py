"""``forge generate`` on Spark: one task a part, which writes its final bytes on its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from forge.bulk.generating.generate import GeneratedVolume, PartWriter, generate, spread_over
from forge.bulk.generating.volume_folder import PartRecord
from forge.progress import Progress
from forge.scenario.model import Scenario
from forge.spark.session import FEW_TASKS, context_of, job_errors, spark_session
from forge.spark.settled import settled
from forge.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What a task answers on Spark Connect.
_WRITTEN = pa.schema([pa.field("number", pa.int64()), pa.field("record", pa.binary())])


def generate_on_spark(
    scenario: Scenario,
    out: str | os.PathLike[str],
    *,
    rows: int,
    files: int | None = None,
    master: str | None = None,
    partitions: int | None = None,
    progress: Progress | None = None,
) -> GeneratedVolume:
    """As :func:`forge.bulk.generating.generate.generate`, as a Spark job of ``partitions`` (a part each).

    ``out`` is a folder that all executors reach.  Raises as that does, and EnvironmentMissing if Spark cannot start.
    """

    def run(writer: PartWriter, numbers: Sequence[int], progress: Progress | None) -> list[tuple[int, PartRecord]]:
        tasks = min(partitions or len(numbers), len(numbers))
        with spark_session(master, conf=FEW_TASKS, binlog=False) as spark, job_errors():
            context = context_of(spark)
            if context is None:
                return _through_sql(spark, _Writing(writer), numbers, tasks)
            with watched(context, progress):
                # Without Spark SQL, which takes seconds to start.
                return context.parallelize(numbers, tasks).mapPartitions(_Writing(writer)).collect()

    return generate(scenario, out, rows=rows, files=files, progress=progress, runner=spread_over(run))


def _through_sql(
    spark: SparkSession, writing: _Writing, numbers: Sequence[int], tasks: int
) -> list[tuple[int, PartRecord]]:
    """On a session of Spark Connect, which has nothing else."""
    from pyspark.sql.pandas.types import from_arrow_schema

    places = spark.range(0, len(numbers), 1, tasks)
    written = places.mapInArrow(_WritingOfBatches(writing, numbers), from_arrow_schema(_WRITTEN)).collect()
    return [(row["number"], msgspec.json.decode(bytes(row["record"]), type=PartRecord)) for row in written]


class _Writing:
    """In a worker: numbers of parts to the parts' records."""

    def __init__(self, writer: PartWriter) -> None:
        self.writer = writer

    def __call__(self, numbers: Iterable[int]) -> Iterator[tuple[int, PartRecord]]:
        return map(self.writer, settled(iter(numbers)))


class _WritingOfBatches:
    """The same of batches of places among the numbers."""

    def __init__(self, writing: _Writing, numbers: Sequence[int]) -> None:
        self.writing = writing
        self.numbers = tuple(numbers)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (self.numbers[place] for batch in batches for place in batch["id"].to_pylist())
        for number, record in self.writing(numbers):
            yield pa.RecordBatch.from_pylist(
                [{"number": number, "record": msgspec.json.encode(record)}], schema=_WRITTEN
            )
