"""Reading ``format("binlog")`` in batches: splits are planned by a walk over headers, and read one a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from forge.bulk.kept_kernels import kernels_are_kept
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.splits import Split, splits_of
from forge.spark.read_options import EVENT_COLUMNS, ReadOptions
from forge.spark.reading.larger import larger
from forge.spark.reading.pruning import holds_rows, may_match
from forge.spark.reading.types import arrow_schema, spark_form, spark_schema
from forge.spark.settled import settle, settled

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

#: Files whose headers are walked over at the same time: the disk is waited for, and the walk holds no lock.
_WALKS = 8


class SplitPartition(InputPartition):
    """A split, which one task reads."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.split = split


class BinlogReader(DataSourceReader):
    """The rows of some files, one partition a split."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self.options = options
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Raises FormatError with the place for files that end inside a transaction, unless ``tail=lenient``."""
        whole = self.options.tail == "strict"
        with ThreadPoolExecutor(_WALKS) as pool:
            files = list(enumerate(self.options.files()))
            walks = [pool.submit(_splits, self.options, file, ordinal, whole=whole) for ordinal, file in files]
            splits = [split for walk in walks for split in walk.result() if self._may_hold(split)]
        if splits and not kernels_are_kept():
            # Here, once: else all workers compile them at the same time.
            next(batches(self.options, self._schema, splits[0]), None)
        settle()
        return [SplitPartition(split) for split in splits]

    def _may_hold(self, split: Split) -> bool:
        return self.options.rows == "events" or holds_rows(split)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition; none of the empty one that Spark makes where there are no splits."""
        if not isinstance(partition, SplitPartition):
            return iter(())
        return batches(self.options, self._schema, partition.split)


class FilteringReader(BinlogReader):
    """A reader that leaves out the splits in which nothing can pass the filters."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        self._filters: list[Filter] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """The filters, all of which Spark still has to check."""
        self._filters = list(filters)
        return filters

    def _may_hold(self, split: Split) -> bool:
        events = self.options.rows == "events"
        return super()._may_hold(split) and may_match(split, self._filters, events=events)


def reader_of(options: ReadOptions, schema: StructType) -> BinlogReader:
    """The reader of these options: without ``pushdown`` one that may not even have a method for filters."""
    return (FilteringReader if options.pushdown else BinlogReader)(options, schema)


def schema_of(options: ReadOptions) -> StructType:
    """The columns of a read.  Raises ScenarioError for a table that is not there, FormatError, OSError."""
    if options.table is None:
        return spark_schema(plain_schema(options), options.never_null)
    from forge.spark.reading.table import table_schema

    return spark_schema(table_schema(options, planned(options, whole=False)), options.never_null)


def plain_schema(options: ReadOptions) -> pa.Schema:
    """The columns of a read without ``table``, in Spark's form: those of a change, or of an event."""
    if options.rows == "events":
        return pa.schema([(name, EVENT_COLUMNS[name]) for name in options.columns or EVENT_COLUMNS])
    image = pa.string() if options.values == "json" else pa.binary()
    columns = [("_table", pa.string()), ("before", image), ("after", image)]
    kinds = {name: spark_form(kind) for name, kind in BESIDE.items()}
    return pa.schema(columns + [(name, kinds.get(name, pa.binary())) for name in options.shown_beside])


def planned(options: ReadOptions, *, whole: bool) -> Iterator[Split]:
    """The splits of the files; not ``whole``, they are still written.  Raises ScenarioError, FormatError, OSError."""
    for ordinal, file in enumerate(options.files()):
        yield from _splits(options, file, ordinal, whole=whole)


def _splits(options: ReadOptions, file: Path, ordinal: int, *, whole: bool) -> list[Split]:
    if not whole and not file.stat().st_size:
        return []
    return splits_of(file, target=_even(file, options.split_size), whole=whole, ordinal=ordinal)


def _even(file: Path, most: int) -> int:
    """The size of splits of a file that are alike, not above ``most``: a short last one leaves a core without work."""
    size = file.stat().st_size
    return -(-size // max(-(-size // most), 1))


def batches(options: ReadOptions, schema: StructType, split: Split) -> Iterator[pa.RecordBatch]:
    """The rows of a split with these columns, as Spark takes them."""
    return settled(_batches(options, arrow_schema(schema), split))


def _batches(options: ReadOptions, shown: pa.Schema, split: Split) -> Iterator[pa.RecordBatch]:
    if options.table is not None:
        from forge.spark.reading.table import TableRows

        return TableRows(options, shown).batches(split)
    if options.rows == "events":
        from forge.spark.reading.events import event_batches

        return event_batches(split, shown)
    from forge.spark.reading.changes import ChangeRows

    return larger(ChangeRows(shown, options.values).batches(split))
