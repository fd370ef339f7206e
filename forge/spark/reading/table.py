"""The rows of one table as Spark takes them: its columns, and those that say where a row is from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from forge.bulk.reading.batches import Batches, Misfit
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.splits import Split
from forge.bulk.reading.tables import Chosen, Table, table_of
from forge.bulk.reading.window import RowIndexes, Window
from forge.errors import FormatError, ScenarioError, nearest
from forge.spark.read_options import ReadOptions
from forge.spark.reading.larger import larger
from forge.spark.reading.presence import PRESENCE, without_full
from forge.spark.reading.types import converted, spark_form, wider
from forge.values.base import Column


class TableRows:
    """Batches of one table out of splits, all with the columns of ``schema``, which is in Spark's form."""

    def __init__(self, options: ReadOptions, schema: pa.Schema) -> None:
        self._options = options
        self._schema = schema

    def batches(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Raises FormatError, after the rows before the bad bytes; ScenarioError where the table's columns change."""
        rows = FileRows(self, Path(split.path), split, side_by_side=False)  # A task has a core.
        for batch in larger(batch for _, batch in rows.batches()):
            yield self._fitted(batch)

    def wants(self, name: str) -> bool:
        """Whether rows of that table are asked for."""
        return name == self._options.table

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """Who takes the rows of a table definition."""
        taker = _taker(self._options, name, columns, path)
        shown = {field.name: field.type for field in self._schema}
        own = {field.name: spark_form(field.type) for field in taker.schema}
        if self._options.schema_change == "error":
            fits = own == shown
        else:
            fits = all(field in shown and wider(kind, shown[field]) == shown[field] for field, kind in own.items())
        if not fits:
            raise _changed(self._options, name, place)
        return taker

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = []
        for field in self._schema:
            at = batch.schema.get_field_index(field.name)
            if at < 0:
                arrays.append(pa.nulls(len(batch), field.type))
                continue
            arrays.append(converted(batch.column(at), field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _TableBatches(Batches):
    """The batches of one table definition; the bitmaps of whole images are null."""

    beside_types: ClassVar[Mapping[str, pa.DataType]] = {name: spark_form(kind) for name, kind in BESIDE.items()}

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """See forge.bulk.reading.file_rows.Taker."""
        for made in super().of(window, chosen):
            yield made if isinstance(made, Misfit) else self._without_full(made)

    def _without_full(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for name in self._shown:
            if name in PRESENCE:
                place = batch.schema.get_field_index(name)
                bitmaps = without_full(batch.column(place), len(self.table.columns))
                batch = batch.set_column(place, batch.schema.field(place), bitmaps)
        return batch


def _taker(options: ReadOptions, name: str, columns: tuple[Column, ...], path: Path) -> Batches:
    wanted = options.columns
    if wanted is not None and options.schema_change == "union":
        every = table_of(name, columns, Chosen(names=options.names)).names
        wanted = tuple(column for column in wanted if column in every)
    chosen = Chosen(options.images, wanted, options.names, options.json)
    defined = table_of(name, columns, chosen)
    return _TableBatches(defined, options.on_odd, options.shown_beside, str(path))


def _in_spark_form(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, spark_form(field.type)) for field in schema])


def _changed(options: ReadOptions, name: str, place: str) -> ScenarioError:
    also = "" if options.schema_change == "union" else ", or schema_change=union"
    return ScenarioError(
        f"{name} has other columns than the frame at {place}", expected=f"files in which they stay{also}"
    )


class _Found(Exception):
    """The definition that was looked for is there.  It never leaves this module."""


class _NoRows:
    """Takes the rows of a table, and makes nothing of them."""

    def __init__(self, table: Table, schema: pa.Schema) -> None:
        self.table = table
        self.schema = schema

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """See forge.bulk.reading.file_rows.Taker."""
        return iter(())


class _Definitions:
    """The definitions of a table in some splits: the first one, or what holds the columns of all."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._seen: set[str] = set()
        self._columns: dict[str, None] = {}
        self.schema: pa.Schema | None = None

    def wants(self, name: str) -> bool:
        self._seen.add(name)
        return name == self._options.table

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        taker = _taker(self._options, name, columns, path)
        schema = _in_spark_form(taker.schema)
        _check_names(name, schema)
        if self._options.schema_change == "error":
            self.schema = schema
            raise _Found
        self._columns |= dict.fromkeys(table_of(name, columns, Chosen(names=self._options.names)).names)
        self.schema = schema if self.schema is None else self._union(self.schema, schema, name, place)
        return _NoRows(taker.table, taker.schema)

    def _union(self, before: pa.Schema, schema: pa.Schema, name: str, place: str) -> pa.Schema:
        """The union of two definitions' columns, in the order of ``columns=`` if it is given."""
        union = wider(pa.struct(list(before)), pa.struct(list(schema)))
        if union is None:
            raise ScenarioError(f"no types hold the columns of {name} before and after {place}")
        beside = self._options.shown_beside
        order = [field for field in self._options.columns or () if union.get_field_index(field) >= 0]
        order += [field.name for field in union if field.name not in (*order, *beside)]
        return pa.schema([union.field(field) for field in (*order, *beside)])

    def check_columns(self) -> None:
        """Raises ScenarioError for a column of ``columns=`` that no definition has."""
        for column in self._options.columns or ():
            if column not in self._columns and self._options.schema_change == "union":
                raise ScenarioError(
                    f"{self._options.table} has no column {column!r}", expected=", ".join(self._columns),
                    suggestion=nearest(column, self._columns),
                )  # fmt: skip

    def missing(self) -> ScenarioError:
        name = str(self._options.table)
        return ScenarioError(
            f"no table {name!r} is in the log",
            expected=", ".join(sorted(self._seen)) or "a log with tables",
            suggestion=nearest(name, self._seen),
        )


def _look_into_files(found: _Definitions, files: Iterable[Path]) -> None:
    """Those that are whole; where one is not, what is behind the last whole transaction does not count."""
    with contextlib.suppress(FormatError):
        for file in files:
            for _ in FileRows(found, file).batches():
                pass


def _check_names(table: str, schema: pa.Schema) -> None:
    seen: set[str] = set()
    for name in schema.names:
        if name.lower() in seen:
            raise ScenarioError(
                f"{table} has a column {name!r}, as there is one beside rows", expected="beside= without that one"
            )
        seen.add(name.lower())


def table_schema(options: ReadOptions, splits: Iterable[Split]) -> pa.Schema:
    """The columns of a table, in Spark's form: of its first definition, or of all with ``schema_change=union``.

    Raises ScenarioError if the table is not there, or if no type holds a column before and after a change; FormatError.
    """
    found = _Definitions(options)
    with contextlib.suppress(_Found):
        if options.schema_change == "error":
            # Most often the first bytes have it, without a walk over the rest.
            _look_into_files(found, options.files())
        for split in splits:
            for _ in FileRows(found, Path(split.path), split).batches():
                pass
    if found.schema is None:
        raise found.missing()
    found.check_columns()
    return found.schema
