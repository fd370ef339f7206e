"""``df.write.format("binlog")``: the rows of a data frame, in their order, as the logs of a server.

Tasks keep their rows as they come: which transaction, event and position a row gets depends on all rows before it.
The commit makes the logs of them (forge.spark.commit), so their bytes do not depend on the number of partitions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from forge.spark.job import Job
from forge.spark.owner import this_driver
from forge.spark.parts import Part, arrow_schema, this_task, write_part
from forge.spark.settled import settle

if TYPE_CHECKING:
    from forge.spark.commit import Commit


class Write:
    """What the copies of a writer know, in the tasks too, which load as little as they can."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Raises ScenarioError for what is wrong before there are rows."""
        self.options = dict(options)
        self.schema = arrow_schema(schema)
        self.overwrite = overwrite
        self.owner = this_driver()
        self.name = uuid.uuid4().hex
        commit = self.commit()
        commit.check()
        self.folder = commit.options.folder

    def job(self, query: str | None = None) -> Job:
        """The job of this write, or of a batch of that query."""
        return Job(self.folder, self.name if query is None else f"{query}-{self.name}")

    def commit(self) -> Commit:
        from forge.spark.commit import Commit
        from forge.spark.sink_options import sink_options

        return Commit(sink_options(self.options), self.schema, overwrite=self.overwrite)


class BinlogWriter(DataSourceArrowWriter):
    """Writes a data frame to the end of a chain of logs, or in its place.

    Made on the driver; copies of it write in the tasks and commit.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        """Raises ScenarioError for what is wrong before there are rows."""
        self._write = Write(options, schema, overwrite)
        settle()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return write_part(iterator, self._write.job(), self._write.owner, this_task())

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        self._write.commit().run([part for part in messages if isinstance(part, Part)], self._write.job())
        settle()

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        self._write.commit().take_back(self._write.job())
