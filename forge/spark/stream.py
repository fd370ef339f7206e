"""Reading ``format("binlog")`` as a stream: offsets are places in the log, a batch is what lies between two of them.

A batch is planned from its two offsets alone, so it has the same rows when Spark runs it again after a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyspark
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from forge.bulk.reading.batches import Batches
from forge.bulk.reading.followed import FollowedLog, Limits, Place
from forge.bulk.reading.rows import RowReader
from forge.bulk.reading.splits import Split
from forge.bulk.reading.tables import Chosen, Table
from forge.errors import UnsupportedError
from forge.spark.locations import local_path
from forge.spark.reader import SplitPartition, batches
from forge.spark.reading.events import event_batches
from forge.spark.stream_options import StreamOptions, stream_options

try:
    from pyspark.sql.streaming import datasource as admission
except ImportError:  # PySpark 4.0 and 4.1.
    HAS_ADMISSION = False
else:
    HAS_ADMISSION = True

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType


class BinlogStreamReader(DataSourceStreamReader):
    """The rows of a log that grows.  An offset is a Place as JSON; it is never inside a transaction.

    Methods raise ScenarioError and UnsupportedError for options that cannot be: what a constructor raises is covered by
    an error of Spark's own (UnboundLocalError, 4.0 to 4.3).
    """

    def __init__(self, given: Mapping[str, str], schema: StructType) -> None:
        self._given = dict(given)
        self._schema = schema
        #: Where a query ends that reads what is there now.
        self._until: Place | None = None

    @cached_property
    def options(self) -> StreamOptions:
        options = stream_options(self._given)
        if options.limits != Limits() and not HAS_ADMISSION:
            raise UnsupportedError(
                f"PySpark {pyspark.__version__} asks a source for all that is new: maxFilesPerTrigger,"
                " maxBytesPerTrigger and maxRowsPerTrigger need 4.2"
            )
        return options

    @cached_property
    def _log(self) -> FollowedLog:
        return FollowedLog(local_path(self.options.path), self._row_positions)

    def initialOffset(self) -> dict[str, Any]:
        starting = self.options.starting
        match starting:
            case "earliest":
                return asdict(self._log.earliest())
            case "latest":
                return asdict(self._log.latest())
            case (file, position):
                return asdict(self._log.at(file, position))
            case known:
                return asdict(self._log.behind(known))

    def latestOffset(self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None) -> dict[str, Any]:
        """Where the next batch ends.  PySpark before 4.2 tells neither where it begins nor a limit."""
        if start is None:
            return asdict(self._log.latest())
        unlimited = HAS_ADMISSION and isinstance(limit, admission.ReadAllAvailable)
        return asdict(self._log.after(Place(**start), None if unlimited else self.options.limits, self._until))

    def getDefaultReadLimit(self) -> ReadLimit:
        """One of the limits; all of them hold for a batch that Spark asks for with it."""
        limits = self.options.limits
        if limits.rows is not None:
            return admission.ReadMaxRows(limits.rows)
        if limits.bytes is not None:
            return admission.ReadMaxBytes(limits.bytes)
        if limits.files is not None:
            return admission.ReadMaxFiles(limits.files)
        return admission.ReadAllAvailable()

    def reportLatestOffset(self) -> dict[str, Any]:
        return asdict(self._log.latest())

    def prepareForTriggerAvailableNow(self) -> None:
        """What is written from now on is left to the next query."""
        self._until = self._log.latest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        splits = self._log.splits(Place(**start), Place(**end), self.options.read.split_size)
        return [SplitPartition(split) for split in splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, SplitPartition)
        return batches(self.options.read, self._schema, partition.split)

    def _row_positions(self, split: Split) -> npt.NDArray[np.int64]:
        """The offset in the file of each row of a split."""
        read = self.options.read
        if read.rows == "events":
            events = event_batches(split, pa.schema([("_position", pa.int64())]))
            return _joined(batch.column(0) for batch in events)

        def taker(table: Table, file: str) -> Batches:
            return Batches(table, "null", ("_position",), file)

        rows = RowReader([split], table=read.table, chosen=Chosen(columns=()), taker=taker)
        return _joined(batch.column(0) for _, batch in rows.batches())


def _joined(columns: Iterable[pa.Array]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *(column.to_numpy() for column in columns)])


if HAS_ADMISSION:
    admission.SupportsTriggerAvailableNow.register(BinlogStreamReader)
