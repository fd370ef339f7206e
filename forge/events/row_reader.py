"""The rows of a table read quickly, by steps that are made once a table and kind of image.

:mod:`forge.events.row_image` splits any rows into cells and says what is wrong with those that do not fit.  Here rows
are split first, then their values are made column by column. What is unusual is left to that module.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from forge.events.row_image import images_of, present_columns, row_bytes
from forge.events.rows import PartialUpdateRows, RowsBody
from forge.values.base import Column
from forge.values.quick import UNUSUAL, CellReader, UnusualError
from forge.values.registry import codec_for

#: Images as they are shown, by their cells; None where the event has none.
ShownImages = list[list[Any]] | None
#: What the readers of a column's cells take, in the order of the rows; None is NULL.
Taken = Sequence[Any]

#: Rows of a table have few sets of NULLs, events few bitmaps: steps for more of them are not kept.
_MOST_KEPT = 512
#: Bytes of rows that are split at a time, so that the pieces stay in the cache.
_BLOCK = 1 << 14

#: How the cells of a column are shown, by the column's index, the column and its reader: one for each that was taken.
Show = Callable[[int, Column, CellReader], Callable[[Taken], list[Any]]]


class QuickRows(NamedTuple):
    """The images of an event's rows, and whether unused bits of a null bitmap are set."""

    before: ShownImages
    after: ShownImages
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

    def count(self, body: RowsBody, most: int) -> int:
        """How many rows the event has, unless they are more than ``most``.  Raises as :meth:`read`."""
        if not body.rows or body.width != len(self.columns) or isinstance(body, PartialUpdateRows):
            raise UnusualError
        count = 0
        try:
            for old, new, _ in self._taken(body):
                count += max(len(old), len(new))
                if count > most:
                    break
        except UNUSUAL:
            raise UnusualError from None
        return count

    def pieces(self, body: RowsBody) -> Iterator[QuickRows]:
        """The rows of an event that was counted, some at a time.  Raises as :meth:`read`."""
        before, after = self._images(body)
        try:
            for old, new, padding in self._taken(body):
                yield QuickRows(
                    None if before is None else before.shown(old),
                    None if after is None else after.shown(new),
                    bool(padding),
                )
        except UNUSUAL:
            raise UnusualError from None

    def _read(self, body: RowsBody) -> QuickRows:
        before, after = self._images(body)
        padding = 0
        befores: list[list[Any]] = []
        afters: list[list[Any]] = []
        for old, new, unused in self._taken(body):
            padding |= unused
            if before is not None:
                befores += before.shown(old)
                old.clear()
            if after is not None:
                afters += after.shown(new)
        return QuickRows(None if before is None else befores, None if after is None else afters, bool(padding))

    def _images(self, body: RowsBody) -> tuple[_ImageReader | None, _ImageReader | None]:
        before, after = (None if bitmap is None else self._image(bitmap) for bitmap in images_of(body))
        return before, after

    def _taken(self, body: RowsBody) -> Iterator[tuple[list[Taken], list[Taken], int]]:
        """What is taken of the images before and after, a block of rows at a time, and the unused bits."""
        before, after = self._images(body)
        data, at = row_bytes(body), 0
        while at < len(data):
            padding = 0
            old: list[Taken] = []
            new: list[Taken] = []
            end = min(at + _BLOCK, len(data))
            while at < end:
                start = at
                if before is not None:
                    at, unused = before.take(data, at, old)
                    padding |= unused
                if after is not None:
                    at, unused = after.take(data, at, new)
                    padding |= unused
                if at == start:
                    raise UnusualError
            if at > len(data):
                raise UnusualError
            yield old, new, padding

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
    """``unpack`` takes a run of cells of fixed size, and they have ``size`` bytes; any other step is for one cell.

    That has ``size`` bytes of length, or ``width`` gives its size; NULL has neither.
    """

    unpack: Callable[[bytes, int], tuple[Any, ...]] | None
    size: int
    width: Callable[[bytes, int], int] | None = None
    #: The cells as ``struct`` has them.
    codes: str = ""


_NULL = _Step(None, 0)


class _ImageReader:
    """Reads one image of a row: the null bitmap chooses the steps."""

    def __init__(self, columns: Sequence[tuple[int, Column]], show: Show) -> None:
        self.null_size = (len(columns) + 7) // 8
        self.cells: list[_Step] = []
        self.shows: list[Callable[[Taken], list[Any]]] = []
        for index, column in columns:
            cell = codec_for(column).reader(column)
            self.cells.append(_Step(None, cell.prefix, cell.width) if cell.code is None else _run(cell.code))
            self.shows.append(show(index, column, cell))
        self.kept: dict[int, tuple[int, list[_Step]]] = {}
        self.joins = True

    def take(self, data: bytes, at: int, images: list[Taken]) -> tuple[int, int]:
        """Add what the cells' readers take; where the image ends, and the unused bits of its null bitmap."""
        start = at + self.null_size
        nulls = data[at] if self.null_size == 1 else int.from_bytes(data[at:start], "little")
        padding, steps = self.kept.get(nulls) or self._steps(nulls)
        at = start
        image: list[Any] = []
        for unpack, size, width, _ in steps:
            if unpack is not None:
                image += unpack(data, at)
                at += size
            elif size == 1:
                start = at + 1
                at = start + data[at]
                image.append(data[start:at])
            elif size == 2:
                start = at + 2
                at = start + (data[at] | data[at + 1] << 8)
                image.append(data[start:at])
            elif size:
                start = at + size
                at = start + int.from_bytes(data[at:start], "little")
                image.append(data[start:at])
            elif width is None:
                image.append(None)
            else:
                start = at
                at += width(data, at)
                image.append(data[start:at])
        images.append(image)
        return at, padding

    def _steps(self, nulls: int) -> tuple[int, list[_Step]]:
        if len(self.kept) >= _MOST_KEPT:
            self.kept.clear()
            self.joins = False  # Few of so many occur again: it does not pay.
        present = reversed(f"{nulls:0{len(self.cells)}b}")
        steps = [_NULL if bit == "1" else step for bit, step in zip(present, self.cells, strict=False)]
        self.kept[nulls] = nulls >> len(self.cells), list(_joined(steps)) if self.joins else steps
        return self.kept[nulls]

    def shown(self, images: list[Taken]) -> list[list[Any]]:
        """The cells of each image."""
        if not self.shows:
            return [[] for _ in images]
        columns = [show(taken) for show, taken in zip(self.shows, zip(*images, strict=True), strict=True)]
        return list(map(list, zip(*columns, strict=True)))


@lru_cache(maxsize=_MOST_KEPT)
def _run(codes: str) -> _Step:
    run = struct.Struct("<" + codes)
    return _Step(run.unpack_from, run.size, codes=codes)


def _joined(steps: Iterable[_Step]) -> Iterator[_Step]:
    """The steps, with one for neighbours of fixed size."""
    for fixed, group in groupby(steps, lambda step: step.unpack is not None):
        if fixed:
            yield _run("".join(step.codes for step in group))
        else:
            yield from group
