"""The tasks of a corpus build on Spark: a cluster, or the cores of this machine."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forge.corpus.workers import Result, Task
from forge.progress import Progress
from forge.spark.session import FEW_TASKS, context_of, job_errors, parallelism, spark_session
from forge.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASK = pa.schema([pa.field("task", pa.binary())])
_RESULT = pa.schema([pa.field("result", pa.binary())])

#: Spark's tasks a core: enough that the progress bar moves and no core waits long for the last task.
TASKS_PER_CORE = 64
#: Few fat rows cross to Python.
_SETTINGS = {**FEW_TASKS, "spark.sql.execution.arrow.maxRecordsPerBatch": "8"}


@contextlib.contextmanager
def spark_workers(master: str | None = None, partitions: int | None = None) -> Iterator[SparkWorkers]:
    """Workers on ``master``, whose session starts with the first task and ends with the block.

    ``partitions`` is the number of pieces that tasks are put together in; it does not change what comes of them.
    """
    with contextlib.ExitStack() as closing:
        yield SparkWorkers(lambda: closing.enter_context(spark_session(master, conf=_SETTINGS)), partitions)


@dataclass(slots=True)
class SparkWorkers:
    """Workers of a Spark session.  What they write has to lie in a folder that all of them share with the driver."""

    open_session: Callable[[], SparkSession]
    partitions: int | None = None
    _session: SparkSession | None = None

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[Result]:
        """What ``work``, which may be a closure, gives of each task.

        Raises EnvironmentMissing if Spark cannot start, ForgeError if a task fails for good.
        """
        if not tasks:
            return []
        if self._session is None:
            self._session = self.open_session()
        return _run(self._session, work, tasks, self.partitions, progress)


def _run(
    spark: SparkSession,
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    partitions: int | None,
    progress: Progress | None,
) -> list[Result]:
    from pyspark.sql.pandas.types import from_arrow_schema

    pieces = partitions or min(len(tasks), TASKS_PER_CORE * parallelism(spark))
    given = pa.table({"task": [pickle.dumps(task) for task in tasks]}, schema=_TASK)
    spread = spark.createDataFrame(given).repartition(pieces)
    done = spread.mapInArrow(_Working(work), from_arrow_schema(_RESULT))
    with watched(context_of(spark), progress), job_errors():
        return [pickle.loads(row["result"]) for row in done.collect()]


class _Working:
    """In a worker of Spark: rows of _TASK to rows of _RESULT."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                result = pickle.dumps(self.work(pickle.loads(row["task"])))
                yield pa.RecordBatch.from_pylist([{"result": result}], schema=_RESULT)
