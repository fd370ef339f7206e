"""``forge generate`` on Spark: one task a part, which writes its final bytes on its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec
import pyarrow as pa

from forge.progress import Progress
from forge.scenario.model import Scenario
from forge.spark.session import FEW_TASKS, context_of, job_errors, spark_session
from forge.spark.settled import settled
from forge.spark.watch import watched
from forge.volume.folder import PartRecord
from forge.volume.generate import GeneratedVolume, PartWriter, generate, spread_over

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
    """As :func:`forge.volume.generate.generate`, as a Spark job of so many ``partitions``, one a part unless given.

    ``out`` is a folder that all executors reach.  Raises as that does, and EnvironmentMissing if Spark cannot start.
    """

    def run(writer: PartWriter, numbers: Sequence[int], progress: Progress | None) -> list[tuple[int, PartRecord]]:
        from pyspark.sql.pandas.types import from_arrow_schema

        job = _Writing(writer, numbers)
        tasks = min(partitions or len(numbers), len(numbers))
        with spark_session(master, conf=FEW_TASKS) as spark, watched(context_of(spark), progress):
            places = spark.range(0, len(numbers), 1, tasks)
            with job_errors():
                written = places.mapInArrow(job, from_arrow_schema(_WRITTEN)).collect()
        return [(row["number"], msgspec.json.decode(bytes(row["record"]), type=PartRecord)) for row in written]

    return generate(scenario, out, rows=rows, files=files, progress=progress, runner=spread_over(run))


class _Writing:
    """In a worker: places among the numbers of parts to the parts' records."""

    def __init__(self, writer: PartWriter, numbers: Sequence[int]) -> None:
        self.writer = writer
        self.numbers = tuple(numbers)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in settled(batches):
            for place in batch["id"].to_pylist():
                number, record = self.writer(self.numbers[place])
                yield pa.RecordBatch.from_pylist(
                    [{"number": number, "record": msgspec.json.encode(record)}], schema=_WRITTEN
                )
