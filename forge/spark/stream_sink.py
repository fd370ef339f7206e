"""``df.writeStream.format("binlog")``: each batch of a streaming query becomes the next logs of a chain, exactly once.

The manifest has the last batch of each query.  A batch that Spark sends again after a crash is not written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from forge.errors import EnvironmentMissing
from forge.spark.job import Job
from forge.spark.parts import Part, this_task, write_part
from forge.spark.settled import settle
from forge.spark.sink import Write

try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
except ImportError as error:
    raise EnvironmentMissing("writeStream.format('binlog') needs PySpark 4.1 or newer") from error

from pyspark.sql.types import StructType


class BinlogStreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a streaming query to a chain of logs; with the output mode ``complete`` in its place.

    Spark makes one to write batches and another one for each commit: messages say where the rows are.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Raises ScenarioError for what is wrong before there are rows."""
        self._write = Write(options, schema, overwrite)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        task = this_task()
        return write_part(iterator, self._write.job(task.query), self._write.owner, task)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        from forge.spark.commit import Batch

        parts = [part for part in messages if isinstance(part, Part)]
        if parts:
            query = str(parts[0].query)
            self._write.commit().run(parts, Job(self._write.folder, parts[0].job), Batch(query, batchId))
        settle()

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        for name in {part.job for part in messages if isinstance(part, Part)}:
            self._write.commit().take_back(Job(self._write.folder, name))
