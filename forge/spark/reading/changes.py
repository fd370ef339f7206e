"""Changes of any table as rows of one shape: the images before and after as JSON texts, or as the bytes of the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from forge.bulk.reading.batches import Batches, Misfit
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.image_walk import row_images
from forge.bulk.reading.splits import Split
from forge.bulk.reading.tables import Chosen, Table, table_of
from forge.bulk.reading.window import RowIndexes, Window
from forge.spark.read_options import Values
from forge.spark.reading.json_images import json_images
from forge.spark.reading.presence import PRESENCE, without_full
from forge.spark.reading.types import converted
from forge.values.base import Column

_PRESENT = {"before": "_present_before", "after": "_present_after"}


class ChangeRows:
    """Batches of the changes of all tables out of splits, all with the columns of ``schema``."""

    def __init__(self, schema: pa.Schema, values: Values) -> None:
        self._schema = schema
        self._values = values

    def batches(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Raises FormatError, after the rows before the bad bytes; UnsupportedError for types that are not known."""
        rows = FileRows(self, Path(split.path), split, side_by_side=False)  # A task has a core.
        return (batch for _, batch in rows.batches())

    def wants(self, name: str) -> bool:
        """All tables are."""
        return True

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """Who takes the rows of a table definition."""
        if self._values == "json":
            return _JsonBatches(table_of(name, columns, Chosen("both")), str(path), self._schema)
        return _BinaryBatches(table_of(name, columns, Chosen("both", columns=())), str(path), self._schema)


class _ChangeBatches(Batches):
    """The changes of one table definition."""

    def __init__(self, table: Table, file: str, shown: pa.Schema) -> None:
        beside = (name for name in shown.names if name in BESIDE)
        super().__init__(table, "text", (*beside, *_PRESENT.values()), file)
        self._fitted_schema = shown

    def _fitted(self, batch: pa.RecordBatch, images: dict[str, pa.Array]) -> pa.RecordBatch:
        arrays = []
        for field in self._fitted_schema:
            if field.name == "_table":
                arrays.append(pa.repeat(pa.scalar(self.table.name), len(batch)))
            elif field.name in images:
                arrays.append(images[field.name])
            else:
                column = batch.column(field.name)
                if field.name in PRESENCE:
                    column = without_full(column, len(self.table.columns))
                arrays.append(converted(column, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._fitted_schema)


class _JsonBatches(_ChangeBatches):
    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """See forge.bulk.reading.file_rows.Taker."""
        for made in super().of(window, chosen):
            yield made if isinstance(made, Misfit) else self._fitted(made, self._images(made))

    def _images(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        return {
            half: json_images(batch.column(half), batch.column(present), self.table)
            for half, present in _PRESENT.items()
            if half in self._fitted_schema.names
        }


class _BinaryBatches(_ChangeBatches):
    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """See forge.bulk.reading.file_rows.Taker."""
        rows = window.rows
        layouts = rows.layouts[chosen]
        images = row_images(window.buffer, rows.begins[chosen], rows.ends[chosen], layouts, self.table.layouts)
        first = 0
        for made in super().of(window, chosen):
            if isinstance(made, Misfit):
                yield made
                return
            halves = (image.slice(first, len(made)) for image in images)
            yield self._fitted(made, dict(zip(_PRESENT, halves, strict=True)))
            first += len(made)
