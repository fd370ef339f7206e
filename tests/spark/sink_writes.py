"""Writes of the sink without Spark: what the tasks and the commit do, called one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from forge.spark.commit import Batch, Commit
from forge.spark.job import Job
from forge.spark.owner import this_driver
from forge.spark.parts import Part, Task, write_part
from forge.spark.sink_options import sink_options

TABLE = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(20))"
SCHEMA = pa.schema({"id": pa.int32(), "who": pa.string()})


def rows(first: int, count: int) -> pa.Table:
    """Rows with those keys."""
    numbers = range(first, first + count)
    return pa.table([list(numbers), ["x" * (number % 17) for number in numbers]], schema=SCHEMA)


class Write:
    """A write of the rows in so many partitions, each of a few batches."""

    def __init__(self, folder: Path, frame: pa.Table, partitions: int = 2, *, overwrite: bool = False, **options: Any):
        given = {"path": str(folder), "table": TABLE} | {name: str(value) for name, value in options.items()}
        self.commits = Commit(sink_options(given), frame.schema, overwrite=overwrite)
        self.table = frame
        self.partitions = partitions

    def parts(self, job: Job) -> list[Part]:
        """What the tasks of a job have made."""
        each = -(-len(self.table) // self.partitions)
        owner = this_driver()
        return [
            write_part(
                iter(self.table.slice(number * each, each).to_batches(max_chunksize=7)),
                job,
                owner,
                Task(number, number, None),
            )
            for number in range(self.partitions)
        ]

    def run(self, name: str, batch: Batch | None = None) -> None:
        self.commits.check()
        job = Job(self.commits.options.folder, name)
        self.commits.run(self.parts(job)[::-1], job, batch)


def logs(folder: Path) -> dict[str, bytes]:
    """What the folder holds under final names, but for the manifest and the lock."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(("_", "."))}


def temporaries(folder: Path) -> Sequence[str]:
    """What writes have left behind."""
    return [path.name for path in folder.iterdir() if path.name.startswith(("_temporary", "."))]
