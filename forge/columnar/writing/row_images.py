"""Row images from columns: where every row begins, and its bytes, column by column.

A row is one image (WRITE, DELETE) or two (UPDATE: before, after).  An image is a null bitmap over the columns that are
present, then their cells (forge.events.row_image).  Each column is written into all rows before the next one is: a
cursor a row says where that goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.columnar.machine import (
    copy,
    kernel,
    load8,
    load16,
    load32,
    load64,
    memory,
    store8,
    store16,
    store32,
    store64,
)
from forge.columnar.machine import inline as _inline
from forge.columnar.plan import Bytes, Numbers

Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WireColumn:
    """The cells of one column in the rows of a batch.

    ``wire`` is that of the column's plan, or 0 for cells that have their length with them.  ``values``, ``starts`` and
    ``lengths`` are those of a :class:`forge.columnar.plan.Wire` (of a fixed width the latter two are empty).  Bit
    ``first_bit + i`` of ``validity`` is set if row ``i`` has a value; an empty bitmap says that all rows have one.
    """

    wire: int
    values: Bytes
    starts: npt.NDArray[np.int64]
    lengths: Numbers
    validity: Bytes
    first_bit: int


@dataclass(frozen=True, slots=True)
class ImageCells:
    """One image of all rows: the columns that are present, in table order.

    ``padding``: the unused bits of the null bitmap are set (a fact of the server line).
    """

    columns: Sequence[WireColumn]
    padding: bool

    @property
    def null_bytes(self) -> int:
        return (len(self.columns) + 7) // 8

    @property
    def last_null_byte(self) -> int:
        """The last byte of a null bitmap with nothing but its unused bits."""
        used = len(self.columns) % 8
        return 0xFF << used & 0xFF if self.padding and used else 0


def row_sizes(images: Sequence[ImageCells], rows: int) -> Sizes:
    """Bytes of each row: those of all its images."""
    columns = [column for image in images for column in image.columns]
    always = sum(image.null_bytes for image in images)
    always += sum(column.wire for column in columns if column.wire > 0 and not len(column.validity))
    sizes = np.full(rows, always, np.int64)
    for column in columns:
        if column.wire <= 0:
            _add_spans(column.validity, column.first_bit, -column.wire, column.lengths, sizes)
        elif len(column.validity):
            _add_fixed(column.validity, column.first_bit, column.wire, sizes)
    return sizes


def write_rows_at(images: Sequence[ImageCells], first: int, begins: Sizes, out: Bytes) -> None:
    """Write row ``first + i`` at ``out[begins[i]]``; rows take the bytes that :func:`row_sizes` says, and no more."""
    cursors = begins.copy()
    nulls = np.empty_like(begins)
    for image in images:
        _begin_image(out, cursors, nulls, image.null_bytes, image.last_null_byte)
        for number, column in enumerate(image.columns):
            mark = first + column.first_bit
            if column.wire > 0:
                _put_fixed(out, cursors, nulls, number, first, column.validity, mark, column.values, column.wire)
            else:
                _put_spans(
                    out,
                    cursors,
                    nulls,
                    number,
                    column.validity,
                    mark,
                    column.values,
                    column.starts[first:],
                    column.lengths[first:],
                    -column.wire,
                )


@_inline
def _is_set(bitmap: Any, bit: Any) -> Any:
    return (load8(bitmap, bit >> 3) >> np.uint64(bit & 7)) & np.uint64(1) != np.uint64(0)


@kernel
def _add_fixed(validity: Any, first_bit: Any, width: Any, sizes: Any) -> None:
    bits = memory(validity)
    for row in range(len(sizes)):
        if _is_set(bits, first_bit + row):
            sizes[row] += width


@kernel
def _add_spans(validity: Any, first_bit: Any, prefix: Any, lengths: Any, sizes: Any) -> None:
    if len(validity) == 0:
        for row in range(len(sizes)):
            sizes[row] += prefix + np.int64(lengths[row])
    else:
        bits = memory(validity)
        for row in range(len(sizes)):
            if _is_set(bits, first_bit + row):
                sizes[row] += prefix + np.int64(lengths[row])


@kernel
def _begin_image(out: Any, cursors: Any, nulls: Any, null_bytes: Any, last: Any) -> None:
    for row in range(len(cursors)):
        at = cursors[row]
        nulls[row] = at
        for byte in range(null_bytes - 1):
            out[at + byte] = 0
        if null_bytes > 0:
            out[at + null_bytes - 1] = last
        cursors[row] = at + null_bytes


@_inline
def _mark_null(out: Any, bitmap: Any, number: Any) -> None:
    at = bitmap + (number >> 3)
    store8(out, at, load8(out, at) | np.uint64(1 << (number & 7)))


@_inline
def _copy_word(out: Any, at: Any, values: Any, begin: Any, width: Any) -> None:
    """``width`` bytes, 1 to 8; nothing beside them is read or written."""
    if width == 8:
        store64(out, at, load64(values, begin))
    elif width >= 4:
        store32(out, at, load32(values, begin))
        store32(out, at + width - 4, load32(values, begin + width - 4))
    elif width >= 2:
        store16(out, at, load16(values, begin))
        store16(out, at + width - 2, load16(values, begin + width - 2))
    else:
        store8(out, at, load8(values, begin))


@_inline
def copy_exactly(out: Any, at: Any, values: Any, begin: Any, count: Any) -> None:
    """``count`` bytes; nothing beside them is read or written.  Short ones cost no call."""
    if count > 32:
        copy(out, at, values, begin, count)
    elif count >= 16:
        a, b = load64(values, begin), load64(values, begin + 8)
        c, d = load64(values, begin + count - 16), load64(values, begin + count - 8)
        store64(out, at, a)
        store64(out, at + 8, b)
        store64(out, at + count - 16, c)
        store64(out, at + count - 8, d)
    elif count >= 8:
        a, b = load64(values, begin), load64(values, begin + count - 8)
        store64(out, at, a)
        store64(out, at + count - 8, b)
    elif count >= 1:
        _copy_word(out, at, values, begin, count)


@kernel
def _put_fixed(
    out: Any,
    cursors: Any,
    nulls: Any,
    number: Any,
    first: Any,
    validity: Any,
    first_bit: Any,
    values: Any,
    width: Any,
) -> None:
    whole = len(validity) == 0
    to, source, bits = memory(out), memory(values), memory(validity)
    if width == 8:
        for row in range(len(cursors)):
            if whole or _is_set(bits, first_bit + row):
                at = cursors[row]
                store64(to, at, load64(source, 8 * (first + row)))
                cursors[row] = at + 8
            else:
                _mark_null(to, nulls[row], number)
    elif width == 4:
        for row in range(len(cursors)):
            if whole or _is_set(bits, first_bit + row):
                at = cursors[row]
                store32(to, at, load32(source, 4 * (first + row)))
                cursors[row] = at + 4
            else:
                _mark_null(to, nulls[row], number)
    elif width == 1:
        for row in range(len(cursors)):
            if whole or _is_set(bits, first_bit + row):
                at = cursors[row]
                store8(to, at, load8(source, first + row))
                cursors[row] = at + 1
            else:
                _mark_null(to, nulls[row], number)
    elif width < 8:
        for row in range(len(cursors)):
            if whole or _is_set(bits, first_bit + row):
                at = cursors[row]
                _copy_word(to, at, source, width * (first + row), width)
                cursors[row] = at + width
            else:
                _mark_null(to, nulls[row], number)
    else:
        for row in range(len(cursors)):
            if whole or _is_set(bits, first_bit + row):
                at = cursors[row]
                copy_exactly(to, at, source, width * (first + row), width)
                cursors[row] = at + width
            else:
                _mark_null(to, nulls[row], number)


@kernel
def _put_spans(
    out: Any,
    cursors: Any,
    nulls: Any,
    number: Any,
    validity: Any,
    first_bit: Any,
    values: Any,
    starts: Any,
    lengths: Any,
    prefix: Any,
) -> None:
    whole = len(validity) == 0
    to, source, bits = memory(out), memory(values), memory(validity)
    for row in range(len(cursors)):
        if not (whole or _is_set(bits, first_bit + row)):
            _mark_null(to, nulls[row], number)
            continue
        at = cursors[row]
        count = np.int64(lengths[row])
        size = np.uint64(count)
        if prefix == 1:
            store8(to, at, size)
        elif prefix == 2:
            store16(to, at, size)
        elif prefix == 4:
            store32(to, at, size)
        elif prefix == 3:
            store16(to, at, size)
            store8(to, at + 2, size >> np.uint64(16))
        at += prefix
        copy_exactly(to, at, source, np.int64(starts[row]), count)
        cursors[row] = at + count


__all__ = ["ImageCells", "Sizes", "WireColumn", "copy_exactly", "row_sizes", "write_rows_at"]
