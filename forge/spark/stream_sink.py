"""``df.writeStream.format("binlog")``: each batch of a streaming query becomes the next logs of a chain, exactly once.

The manifest has the last batch of each query.  A batch that Spark sends again after a crash is not written again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from forge.errors import EnvironmentMissing
from forge.spark.chain import Job
from forge.spark.commit import Batch, Commit
from forge.spark.owner import this_driver
from forge.spark.parts import Part, arrow_schema, this_task, write_part
from forge.spark.sink_options import sink_options

try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
except ImportError as error:
    raise EnvironmentMissing("writeStream.format('binlog') needs PySpark 4.1 or newer") from error

from pyspark.sql.types import StructType


class BinlogStreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a streaming query to a chain of logs; with the output mode ``complete`` in its place.

    Spark makes one to write a batch and another one to commit it: messages say where the rows are.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self.options = sink_options(options)
        self.schema = arrow_schema(schema)
        self.owner = this_driver()
        self.commits = Commit(self.options, self.schema, overwrite=overwrite)
        self.name = uuid.uuid4().hex
        self.commits.check()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        task = this_task()
        job = self.commits.chain.job(f"{task.query}-{self.name}")
        return write_part(iterator, job.folder, self.owner, task)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        parts = [part for part in messages if isinstance(part, Part)]
        if parts:
            query = str(parts[0].query)
            self.commits.run(parts, Job(parts[0].folder), Batch(query, batchId))
            self._remove_others(query)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        for folder in {part.folder for part in messages if isinstance(part, Part)}:
            self.commits.take_back(Job(folder))

    def _remove_others(self, query: str) -> None:
        """A query runs one batch at a time: what its other batches have left is nobody's."""
        for job in self.commits.chain.jobs(f"{query}-"):
            self.commits.take_back(job)
