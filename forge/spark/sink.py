"""``df.write.format("binlog")``: the rows of a data frame, in their order, as the logs of a server.

Tasks keep their rows as they come: which transaction, event and position a row gets depends on all rows before it.
The commit makes the logs of them (forge.spark.commit), so their bytes do not depend on the number of partitions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from forge.spark.commit import Commit
from forge.spark.owner import this_driver
from forge.spark.parts import Part, arrow_schema, this_task, write_part
from forge.spark.sink_options import sink_options


class BinlogWriter(DataSourceArrowWriter):
    """Writes a data frame to the end of a chain of logs, or in its place.

    Made on the driver, where it refuses what cannot be (ScenarioError); copies of it write in the tasks and commit.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        self.options = sink_options(options)
        self.schema = arrow_schema(schema)
        self.overwrite = overwrite
        self.owner = this_driver()
        self.commits = Commit(self.options, self.schema, overwrite=overwrite)
        self.job = self.commits.chain.job(uuid.uuid4().hex)
        self.commits.check()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return write_part(iterator, self.job.folder, self.owner, this_task())

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        self.commits.run([part for part in messages if isinstance(part, Part)], self.job)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        self.commits.take_back(self.job)
