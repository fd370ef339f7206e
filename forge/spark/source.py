"""The data source ``binlog``: what ``spark.read``, ``readStream``, ``write`` and ``writeStream`` of that format do.

Spark makes an object of it in short-lived Python processes, one for each step of a plan, with the options as text.
So everything that a step does not need is imported where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import DataSource

from forge.errors import EnvironmentMissing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType

#: Without it a reader that takes filters fails every read.
_FILTERS = "spark.sql.python.filterPushdown.enabled"


class BinlogDataSource(DataSource):
    """Binary logs of MySQL and MariaDB (docs/spark.md)."""

    #: Whether reads take filters unless the option ``pushdown`` says otherwise.
    pushdown: ClassVar[bool] = False

    @classmethod
    def name(cls) -> str:
        return "binlog"

    def schema(self) -> StructType:
        """The columns of a read.  Raises ScenarioError for options that cannot be, FormatError, OSError."""
        from forge.spark.read_options import read_options
        from forge.spark.reader import schema_of
        from forge.spark.settled import settle
        from forge.spark.stream_options import STREAM_OPTIONS

        found = schema_of(read_options(self.options, also=STREAM_OPTIONS))
        settle()
        return found

    def reader(self, schema: StructType) -> DataSourceReader:
        from forge.spark.read_options import read_options
        from forge.spark.reader import reader_of

        return reader_of(read_options(self.options, pushdown=self.pushdown), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from forge.spark.stream import BinlogStreamReader

        return BinlogStreamReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from forge.spark.sink import BinlogWriter

        return BinlogWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from forge.spark.stream_sink import BinlogStreamWriter

        return BinlogStreamWriter(self.options, schema, overwrite)


class _WithFilters(BinlogDataSource):
    pushdown = True


def register(spark: SparkSession) -> None:
    """Make the format ``binlog`` known to a session; again does no harm.

    Filters skip parts of files where the session's ``spark.sql.python.filterPushdown.enabled`` is true by now.
    Raises EnvironmentMissing for a session that Spark gives no such format (measured with 4.0 to 4.3): one that
    ``newSession`` made after the application's first session got the format.
    """
    from pyspark.errors import AnalysisException

    filters = str(spark.conf.get(_FILTERS, "false")).lower() == "true"
    try:
        spark.dataSource.register(_WithFilters if filters else BinlogDataSource)
    except AnalysisException as error:
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
        raise EnvironmentMissing(
            "Spark has the format binlog in the first session of this application, and gives it to no other: use that"
            " session"
        ) from error
