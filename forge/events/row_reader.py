"""The rows of a table read quickly, by steps that are made once a table and kind of image.

:mod:`forge.events.row_image` splits any rows into cells and says what is wrong with those that do not fit.  Here rows
are read in one go, each cell made into what somebody shows of it; what is not usual is not known here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from forge.events.row_image import images_of, present_columns, row_bytes
from forge.events.rows import PartialUpdateRows, RowsBody
from forge.values.base import Column
from forge.values.quick import UNUSUAL, CellReader, UnusualError
from forge.values.registry import codec_for

#: The cells of an image as they are shown; None where the event has no such image.
ShownImage = list[Any] | None

#: Rows of a table have few sets of NULLs, events few bitmaps: steps for more of them are not kept.
_MOST_KEPT = 512
#: Sizes of steps for what has none: NULL, and a cell whose codec says how wide it is.
_NULL, _BY_CODEC = 0, -1


class ShownCell(NamedTuple):
    """What is made of a column's cells: ``of`` is called with what their reader takes, ``null`` for NULL."""

    of: Callable[[Any], Any]
    null: Callable[[], Any]


#: How cells are shown, by the column's index, the column and its reader.
Show = Callable[[int, Column, CellReader], ShownCell]


class QuickRows(NamedTuple):
    """The rows of an event, (before, after) each, and whether unused bits of a null bitmap are set."""

    rows: list[tuple[ShownImage, ShownImage]]
    padded: bool


class RowReader:
    """Reads the rows of the events of one table."""

    def __init__(self, columns: Sequence[Column], show: Show) -> None:
        self.columns = columns
        self.show = show
        self.images: dict[bytes, _ImageReader | None] = {}

    def read(self, body: RowsBody) -> QuickRows:
        """The rows of the event.  Raises UnusualError if there is anything about them that is not usual."""
        if not body.rows or body.width != len(self.columns) or isinstance(body, PartialUpdateRows):
            raise UnusualError
        try:
            return self._read(body)
        except UNUSUAL:
            raise UnusualError from None

    def _read(self, body: RowsBody) -> QuickRows:
        before, after = (None if bitmap is None else self._image(bitmap) for bitmap in images_of(body))
        data, at, rows, padding = row_bytes(body), 0, [], 0
        end = len(data)
        while at < end:
            start = at
            old: ShownImage = None
            new: ShownImage = None
            if before is not None:
                old, at, unused = before.read(data, at)
                padding |= unused
            if after is not None:
                new, at, unused = after.read(data, at)
                padding |= unused
            if at == start:
                raise UnusualError
            rows.append((old, new))
        if at != end:
            raise UnusualError
        return QuickRows(rows, bool(padding))

    def _image(self, bitmap: bytes) -> _ImageReader:
        if bitmap not in self.images:
            if len(self.images) >= _MOST_KEPT:
                self.images.clear()
            self.images[bitmap] = None  # for a column without a reader
            present = present_columns(bitmap, len(self.columns))
            self.images[bitmap] = _ImageReader([(index, self.columns[index]) for index in present], self.show)
        image = self.images[bitmap]
        if image is None:
            raise UnusualError
        return image


class _Step(NamedTuple):
    """One cell: ``unpack`` those of fixed size; else ``size`` bytes of length, or a size of none."""

    unpack: Callable[[bytes, int], tuple[Any, ...]] | None
    size: int
    make: Callable[..., Any]


class _ImageReader:
    """Reads one image of a row: the null bitmap chooses the steps."""

    def __init__(self, columns: Sequence[tuple[int, Column]], show: Show) -> None:
        self.null_size = (len(columns) + 7) // 8
        self.cells: list[tuple[_Step, _Step]] = []
        for index, column in columns:
            reader = codec_for(column).reader(column)
            shown = show(index, column, reader)
            self.cells.append((_step(reader, shown), _Step(None, _NULL, shown.null)))
        self.kept: dict[int, tuple[int, list[_Step]]] = {}

    def read(self, data: bytes, at: int) -> tuple[list[Any], int, int]:
        """The cells, where the image ends, and the unused bits of its null bitmap."""
        start = at + self.null_size
        nulls = int.from_bytes(data[at:start], "little")
        padding, steps = self.kept.get(nulls) or self._steps(nulls)
        at = start
        cells: list[Any] = []
        for unpack, size, make in steps:
            if unpack is not None:
                cells.append(make(unpack(data, at)[0]))
                at += size
            elif size == 1:
                start = at + 1
                at = start + data[at]
                cells.append(make(data[start:at]))
            elif size > 0:
                start = at + size
                at = start + int.from_bytes(data[at:start], "little")
                cells.append(make(data[start:at]))
            elif size == _NULL:
                cells.append(make())
            else:
                cell, at = make(data, at)
                cells.append(cell)
        if at > len(data):
            raise UnusualError
        return cells, at, padding

    def _steps(self, nulls: int) -> tuple[int, list[_Step]]:
        if len(self.kept) >= _MOST_KEPT:
            self.kept.clear()
        present = reversed(f"{nulls:0{len(self.cells)}b}")
        steps = [null if bit == "1" else step for bit, (step, null) in zip(present, self.cells, strict=False)]
        self.kept[nulls] = nulls >> len(self.cells), steps
        return self.kept[nulls]


def _step(reader: CellReader, shown: ShownCell) -> _Step:
    if reader.code is not None:
        cell = struct.Struct("<" + reader.code)
        return _Step(cell.unpack_from, cell.size, shown.of)
    width = reader.width
    if width is None:
        return _Step(None, reader.prefix, shown.of)

    def make(data: bytes, at: int) -> tuple[Any, int]:
        end = at + width(data, at)
        return shown.of(data[at:end]), end

    return _Step(None, _BY_CODEC, make)
