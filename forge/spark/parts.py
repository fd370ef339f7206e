"""What the tasks of a write make: files with the rows of their partition, known to the job alone.

Tasks load this module, so it needs little.
"""

from __future__ import annotations

import contextlib
import inspect
import mmap
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from forge.bulk.kept_memory import keep_memory
from forge.errors import ForgeError
from forge.spark.job import Job
from forge.spark.owner import Owner
from forge.spark.settled import settled

#: Bytes of a file of rows, which ends with the batch that passes them.  The commit takes away each file that it has
#: read, and what it writes gets that memory: some that was not used for seconds costs up to eight times as much, since
#: the host of a virtual machine may have it back by then.
_FILE_SIZE: Final = 1 << 24
keep_memory()


class PartFile(NamedTuple):
    """A file with rows, in the folder of the job."""

    name: str
    size: int


class Part(WriterCommitMessage):
    """Rows of one partition, in the order of ``files``.  ``job``: its name.

    ``query``: the streaming query that runs the task, None in a batch.
    """

    def __init__(self, job: str, files: Sequence[PartFile], partition: int, rows: int, query: str | None) -> None:
        self.job = job
        self.files = tuple(files)
        self.partition = partition
        self.rows = rows
        self.query = query


class Task(NamedTuple):
    """The task that runs: its partition, the number of its attempt, and the streaming query that it belongs to."""

    partition: int
    attempt: int
    query: str | None


def this_task() -> Task:
    """Outside of Spark the first attempt of a batch's partition 0."""
    context = TaskContext.get()
    if context is None:
        return Task(0, 0, None)
    query = context.getLocalProperty("sql.streaming.queryId")
    return Task(context.partitionId(), context.taskAttemptId(), query)


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow schema of the batches that Spark makes of rows of that schema."""
    # PySpark before 4.3 has moments in UTC without being told.
    zoned: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **zoned)


def write_part(batches: Iterator[pa.RecordBatch], job: Job, owner: Owner, task: Task) -> Part:
    """Keep the rows of a partition in the folder of a job.  Raises ForgeError if the disk refuses them.

    They are not flushed to the disk: a crash ends the job, and the commit flushes what it writes.
    """
    files: list[PartFile] = []
    rows = 0
    filled = (batch for batch in settled(batches) if batch.num_rows)
    path = job.folder
    try:
        for first in filled:
            if not files:
                job.begin(owner)
            path = job.folder / f"part-{task.partition:05}.attempt-{task.attempt}.{len(files):05}"
            files.append(PartFile(path.name, 0))
            count, size = _write_file(path, chain([first], filled))
            files[-1] = PartFile(path.name, size)
            rows += count
    except BaseException as error:
        for file in files:
            with contextlib.suppress(OSError):
                (job.folder / file.name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ForgeError(f"cannot write {path}: {error.strerror or error}") from error
        raise
    return Part(job.name, files, task.partition, rows, task.query)


def _write_file(path: Path, batches: Iterator[pa.RecordBatch]) -> tuple[int, int]:
    """Batches, one at least, until the file is large; their rows and the file's bytes."""
    rows = 0
    first = next(batches)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
            rows += batch.num_rows
            if file.tell() >= _FILE_SIZE:
                break
    return rows, path.stat().st_size


def read_parts(parts: Sequence[Part], job: Job) -> Iterator[pa.RecordBatch]:
    """The rows of all partitions in order; each file is taken away when its rows were.

    Raises ForgeError for a file that is not as its task left it: a folder that is not shared by all executors.
    """
    for part in sorted(parts, key=lambda part: part.partition):
        for file in part.files:
            path = job.folder / file.name
            size = path.stat().st_size if path.exists() else -1
            if size != file.size:
                raise ForgeError(
                    f"{path} is not there with the {file.size} bytes that a task has written: the driver and all"
                    " executors must share the folder"
                )
            yield from pa.ipc.open_stream(_mapped(path))
            path.unlink()


def _mapped(path: Path) -> pa.BufferReader:
    """A file, which is closed with the last batch that has its memory."""
    with path.open("rb") as file:
        return pa.BufferReader(pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
