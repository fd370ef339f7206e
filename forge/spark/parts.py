"""What the tasks of a write make: the rows of their partition as they come, in files that nothing else knows of.

Tasks load this module, so it needs little.
"""

from __future__ import annotations

import contextlib
import inspect
import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from forge.errors import ForgeError
from forge.spark.job import Job
from forge.spark.owner import Owner
from forge.spark.settled import settled

#: Bytes of a part that are in memory at most, beside the batch at hand.
_HELD: Final = 1 << 26


class Part(WriterCommitMessage):
    """Rows of one partition.  ``job``: its name; ``name``: of the file in its folder, None if there are no rows.

    ``query``: the streaming query that runs the task, None in a batch.
    """

    def __init__(self, job: str, name: str | None, partition: int, rows: int, size: int, query: str | None) -> None:
        self.job = job
        self.name = name
        self.partition = partition
        self.rows = rows
        self.size = size
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

    They are not flushed to the disk: a crash ends the job, and what counts in the end is.
    """
    path = job.folder / f"part-{task.partition:05}.attempt-{task.attempt}"
    rows = 0
    writer: Any = None
    try:
        with contextlib.ExitStack() as closing:
            for batch in settled(batches):
                if not batch.num_rows:
                    continue
                if writer is None:
                    job.begin(owner)
                    file = closing.enter_context(pa.OSFile(str(path), "wb"))
                    writer = closing.enter_context(pa.ipc.new_stream(file, batch.schema))
                writer.write_batch(batch)
                rows += batch.num_rows
        size = path.stat().st_size if writer is not None else 0
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ForgeError(f"cannot write {path}: {error.strerror or error}") from error
        raise
    return Part(job.name, path.name if writer is not None else None, task.partition, rows, size, task.query)


def read_parts(parts: Sequence[Part], job: Job) -> Iterator[pa.RecordBatch]:
    """The rows of all partitions in order; each file is taken away when its rows were.

    Raises ForgeError for a file that is not as its task left it: a folder that is not shared by all executors.
    """
    for part in sorted(parts, key=lambda part: part.partition):
        if part.name is None:
            continue
        path = job.folder / part.name
        size = path.stat().st_size if path.exists() else -1
        if size != part.size:
            raise ForgeError(
                f"{path} is not there with the {part.size} bytes that a task has written: the driver and all executors"
                " must share the folder"
            )
        yield from _batches(path)
        path.unlink()


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The batches of a file, which is mapped; what lies behind does not stay in memory."""
    with path.open("rb") as file:
        # It is closed with the last batch that has its memory.
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    source = pa.BufferReader(pa.py_buffer(data))
    left = 0
    for batch in pa.ipc.open_stream(source):
        yield batch
        if source.tell() - left > _HELD:
            left = source.tell() & -mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, 0, left)
