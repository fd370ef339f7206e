"""``forge generate`` on Spark: one task a part, which writes its final bytes on its own."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec
import pyarrow as pa

from forge.progress import Progress
from forge.scenario.model import Scenario
from forge.spark.session import context_of, job_errors, spark_session
from forge.spark.watch import watched
from forge.volume.folder import PartRecord
from forge.volume.generate import GeneratedVolume, generate, write_part
from forge.volume.setup import VolumeRequest, VolumeSetup

_INPUT = pa.schema([pa.field("number", pa.int64())])
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

    def run(setup: VolumeSetup, path: Path, numbers: Sequence[int], progress: Progress | None) -> list[PartRecord]:
        from pyspark.sql.pandas.types import from_arrow_schema

        job = _Writing(pickle.dumps(setup.request), str(path.resolve()))
        tasks = min(partitions or len(numbers), len(numbers))
        with spark_session(master) as spark, watched(context_of(spark), progress):
            table = pa.table({"number": list(numbers)}, schema=_INPUT)
            frame = spark.createDataFrame(table).repartitionByRange(tasks, "number")
            with job_errors():
                written = frame.mapInArrow(job, from_arrow_schema(_WRITTEN)).collect()
        records = {row["number"]: msgspec.json.decode(bytes(row["record"]), type=PartRecord) for row in written}
        return [records[number] for number in numbers]

    return generate(scenario, out, rows=rows, files=files, progress=progress, runner=run)


class _Writing:
    """In a worker: numbers of parts to their records."""

    def __init__(self, request: bytes, folder: str) -> None:
        self.request = request
        self.folder = folder

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["number"].to_pylist():
                record = write_part(_setup(self.request), Path(self.folder), number)
                yield pa.RecordBatch.from_pylist(
                    [{"number": number, "record": msgspec.json.encode(record)}], schema=_WRITTEN
                )


@lru_cache(maxsize=2)
def _setup(request: bytes) -> VolumeSetup:
    """Worked out once in a worker process, which does several tasks."""
    unpacked: VolumeRequest = pickle.loads(request)
    return VolumeSetup(unpacked)
