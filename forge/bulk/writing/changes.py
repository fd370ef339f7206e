"""Record batches as changes of rows: which arrays are the columns of each image, and which columns are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.reading.beside import BESIDE
from forge.errors import ScenarioError, nearest
from forge.events.row_image import present_columns
from forge.plan.changes import ChangeKind
from forge.plan.tables import Table

#: What is written of each row; ``operation``: what its column ``_operation`` says.
Operation = Literal["insert", "update", "delete", "operation"]
#: What ``forge.read_rows`` says of a row beside its columns.
OPERATION = "_operation"
PRESENT, PRESENT_BEFORE, PRESENT_AFTER = "_present", "_present_before", "_present_after"
METADATA = frozenset((*BESIDE, PRESENT, PRESENT_BEFORE, PRESENT_AFTER))
#: Types whose arrays have the places of their values in bytes, by the type's id.
_OFFSETS: Final = {
    type.id: dtype
    for dtype, types in ((np.int32, (pa.string(), pa.binary())), (np.int64, (pa.large_string(), pa.large_binary())))
    for type in types
}
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class ImageColumns:
    """One image of rows: the arrays by the index of their column; ``bitmap`` is None if all of them are present."""

    arrays: dict[int, pa.Array]
    bitmap: bytes | None

    def slice(self, first: int, count: int) -> ImageColumns:
        return ImageColumns({index: array.slice(first, count) for index, array in self.arrays.items()}, self.bitmap)


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows of one kind of change whose images have the same columns."""

    kind: ChangeKind
    rows: int
    before: ImageColumns | None
    after: ImageColumns | None

    @property
    def images(self) -> list[ImageColumns]:
        return [image for image in (self.before, self.after) if image is not None]

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return sum(_value_bytes(array) for image in self.images for array in image.arrays.values())

    def slice(self, first: int, count: int) -> Changes:
        """So many rows; all of them are these."""
        if count == self.rows:
            return self
        before, after = (None if image is None else image.slice(first, count) for image in (self.before, self.after))
        return Changes(self.kind, count, before, after)


def _value_bytes(array: pa.Array) -> int:
    # Arrow gives the interpreter to other threads while it counts, and has to wait for it: milliseconds.
    if array.type.id in _OFFSETS:
        first, last = array.offset, array.offset + len(array)
        offsets = np.frombuffer(array.buffers()[1], _OFFSETS[array.type.id])
        return int(offsets[last] - offsets[first]) + offsets.itemsize * len(array) if len(array) else 0
    try:
        return int(array.type.bit_width) * len(array) // 8
    except ValueError:
        return int(array.nbytes)


def record_batches(batches: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema and the batches of a reader, a table, a batch, or an iterable of batches and tables.

    Also of what has ``__arrow_c_stream__``: a data frame of Polars, a relation of DuckDB.
    """
    if isinstance(batches, pa.RecordBatch):
        return batches.schema, iter([batches])
    if isinstance(batches, pa.Table):
        return batches.schema, iter(batches.to_batches())
    if isinstance(batches, pa.RecordBatchReader):
        return batches.schema, iter(batches)
    if hasattr(batches, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(batches)
        return reader.schema, iter(reader)
    if not isinstance(batches, Iterable):
        raise ScenarioError(
            f"rows are given as {type(batches).__name__}",
            expected="a pyarrow.RecordBatchReader, Table or RecordBatch, or an iterable of record batches",
        )
    return _of_iterable(iter(batches))


def _of_iterable(items: Iterator[Any]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    found = (batch for item in items for batch in record_batches(item)[1])
    first = next(found, None)
    if first is None:
        raise ScenarioError("there is no record batch", expected="at least one, whose schema names the columns")

    def all_of_them() -> Iterator[pa.RecordBatch]:
        yield first
        for batch in found:
            if batch.schema.names != first.schema.names:
                raise ScenarioError("record batches have different columns", expected=", ".join(first.schema.names))
            yield batch

    return first.schema, all_of_them()


class ChangeReader:
    """Splits record batches of one schema into the images of rows.

    Raises ScenarioError for columns that the table does not have.
    """

    def __init__(self, schema: pa.Schema, table: Table, operation: Operation) -> None:
        if operation not in get_args(Operation):
            raise ScenarioError(
                f"unknown operation {operation!r}",
                expected=", ".join(get_args(Operation)),
                suggestion=nearest(operation, get_args(Operation)),
            )
        if operation == "operation" and OPERATION not in schema.names:
            raise ScenarioError(f"the batches have no column {OPERATION!r}", expected="the one that read_rows gives")
        self.table = table
        self.operation = operation
        self.names = schema.names
        self._number = {column.name.lower(): index for index, column in enumerate(table.columns)}
        self.has_images = all(
            name in schema.names and pa.types.is_struct(schema.field(name).type) for name in ("before", "after")
        )
        if operation == "update" and not self.has_images:
            raise ScenarioError(
                "an update needs both images of a row", expected="struct columns `before` and `after` in the batches"
            )
        if self.has_images:
            self._before = self._places(_field_names(schema.field("before")))
            self._after = self._places(_field_names(schema.field("after")))
        else:
            self._before = self._after = self._places([name for name in schema.names if name not in METADATA])

    def _places(self, names: Sequence[str]) -> dict[int, int]:
        """Column of the table -> place in the batch or struct."""
        places: dict[int, int] = {}
        for place, name in enumerate(names):
            index = self._number.get(name.lower(), self._by_position(name))
            if index is None:
                raise ScenarioError(
                    f"{self.table.full_name} has no column {name!r}",
                    suggestion=nearest(name, [column.name for column in self.table.columns]),
                )
            if index in places:
                raise ScenarioError(f"the batches have the column {name!r} twice")
            places[index] = self.names.index(name) if not self.has_images else place
        return places

    def _by_position(self, name: str) -> int | None:
        """The column of a name such as ``@1``, which columns have that are read from a log without names."""
        number = name.removeprefix("@")
        known = name != number and number.isdecimal() and 1 <= int(number) <= len(self.table.columns)
        return int(number) - 1 if known else None

    def given(self, kind: ChangeKind) -> frozenset[int]:
        """The columns that the batches have for the statement's own image."""
        return frozenset(self._before if kind == "delete" else self._after)

    def changes(self, batch: pa.RecordBatch) -> Iterator[Changes]:
        """The changes of a batch, in order."""
        if not batch.num_rows:
            return
        whole = {kind: self._whole(batch, kind) for kind in self._kinds(batch)}
        for kind, first, count, bitmaps in self._runs(batch):
            part = whole[kind].slice(first, count)
            before, after = (
                None if image is None else _present(image, bitmap, self.table)
                for image, bitmap in zip((part.before, part.after), bitmaps, strict=True)
            )
            yield Changes(kind, count, before, after)

    def _kinds(self, batch: pa.RecordBatch) -> list[ChangeKind]:
        if self.operation != "operation":
            return [self.operation]
        return [kind for kind in KINDS if kind in pc.unique(batch.column(OPERATION)).to_pylist()]

    def _whole(self, batch: pa.RecordBatch, kind: ChangeKind) -> Changes:
        if kind == "update" and not self.has_images:
            raise ScenarioError(
                "an update needs both images of a row", expected="struct columns `before` and `after` in the batches"
            )
        before = self._image(batch, "before", self._before) if kind != "insert" else None
        after = self._image(batch, "after", self._after) if kind != "delete" else None
        return Changes(kind, batch.num_rows, before, after)

    def _image(self, batch: pa.RecordBatch, name: str, places: dict[int, int]) -> ImageColumns:
        if not self.has_images:
            return ImageColumns({index: batch.column(place) for index, place in sorted(places.items())}, None)
        struct = batch.column(name)
        return ImageColumns({index: struct.field(place) for index, place in sorted(places.items())}, None)

    def _runs(self, batch: pa.RecordBatch) -> Iterator[tuple[ChangeKind, int, int, list[bytes | None]]]:
        """(kind, first row, rows, bitmaps of both images) of rows that follow each other and are alike."""
        rows = batch.num_rows
        presence: list[pa.Array | None] = [self._presence(batch, PRESENT_BEFORE), self._presence(batch, PRESENT_AFTER)]
        if self.operation != "operation" and all(each is None for each in presence):
            yield self.operation, 0, rows, [None, None]
            return
        changed = np.zeros(rows, bool)
        changed[0] = True
        codes: list[ChangeKind] | None = None
        if self.operation == "operation":
            words = batch.column(OPERATION)
            if words.type != pa.string():
                words = words.cast(pa.string())
            numbers = pc.index_in(words, pa.array(KINDS))
            if numbers.null_count:
                row = numbers.is_null().to_pylist().index(True)
                raise ScenarioError(
                    f"row {row + 1} of a batch has the operation {words[row].as_py()!r}", expected=", ".join(KINDS)
                )
            found = numbers.to_numpy()
            changed[1:] |= found[1:] != found[:-1]
            codes = [KINDS[number] for number in found.tolist()]
        for bitmaps in presence:
            if bitmaps is not None:
                changed[1:] |= _differs_from_last(bitmaps)
        begins = np.flatnonzero(changed).tolist()
        for begin, end in zip(begins, [*begins[1:], rows], strict=True):
            kind = self.operation if codes is None else codes[begin]
            assert kind != "operation"
            yield kind, begin, end - begin, [None if each is None else each[begin].as_py() for each in presence]

    def _presence(self, batch: pa.RecordBatch, name: str) -> pa.Array | None:
        name = name if name in self.names else PRESENT
        return batch.column(name) if name in self.names else None


def _field_names(field: pa.Field) -> list[str]:
    return [field.type.field(number).name for number in range(field.type.num_fields)]


def _differs_from_last(bitmaps: pa.Array) -> Any:
    width = bitmaps.type.byte_width
    data = np.frombuffer(bitmaps.buffers()[1], np.uint8)[bitmaps.offset * width :][: len(bitmaps) * width]
    lines = data.reshape(len(bitmaps), width)
    differs = (lines[1:] != lines[:-1]).any(axis=1)
    if bitmaps.null_count:
        valid = bitmaps.is_valid().to_numpy(zero_copy_only=False)
        differs |= valid[1:] != valid[:-1]
    return differs


def _present(image: ImageColumns, bitmap: bytes | None, table: Table) -> ImageColumns:
    """The image with the columns that its bitmap has; all that are given where there is none."""
    if bitmap is None:
        return image
    present = present_columns(bitmap, len(table.columns))
    arrays = {index: image.arrays[index] for index in present if index in image.arrays}
    if len(arrays) < len(present):
        missing = next(table.columns[index].name for index in present if index not in arrays)
        raise ScenarioError(f"the batches have no column {missing!r}, which a row image has")
    return ImageColumns(arrays, bitmap)
