"""Row images from columns: where every row begins, and its bytes.

A row is one image (WRITE, DELETE) or two (UPDATE: before, after).  An image is a null bitmap over the columns that are
present, then their cells (forge.events.row_image).  A block of rows is written column after column, within a core's
first cache; a table of words tells the kernel where the columns have their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import (
    SLACK,
    copy,
    inline,
    kernel,
    load8,
    load16,
    load32,
    load64,
    memory,
    signed,
    store8,
    store16,
    store32,
    store64,
)
from forge.bulk.plan import Bytes, Numbers, address

Sizes = npt.NDArray[np.int64]
#: Rows that are written column after column.
BLOCK: Final = 512


@dataclass(frozen=True, slots=True)
class WireColumn:
    """The cells of one column in the rows of a batch.

    ``wire`` is that of the column's plan, or 0 for cells that have their length with them.  ``values``, ``starts`` and
    ``lengths`` are those of a :class:`forge.bulk.plan.Wire` (of a fixed width the latter two are empty).  Bit
    ``first_bit + i`` of ``validity`` is set if row ``i`` has a value; an empty bitmap says that all rows have one.
    """

    wire: int
    values: Bytes
    starts: npt.NDArray[np.int64]
    lengths: Numbers
    validity: Bytes
    first_bit: int


@dataclass(frozen=True)
class ImageCells:
    """One image of all rows: the columns that are present, in table order.

    ``padding``: the unused bits of the null bitmap are set (a fact of the server line).
    """

    columns: Sequence[WireColumn]
    padding: bool

    @cached_property
    def words(self) -> Bytes:
        """What describes the columns to a kernel."""
        return _described(self.columns)

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
    begins, scratch = begins.copy(), np.empty((2, BLOCK), np.int64)
    for image in images:
        _write_image(out, begins, scratch, first, image.words, image.null_bytes, image.last_null_byte)


#: Where the words that describe a column to a kernel stand: numbers, and the memory (address, bytes) of its arrays.
_WIRE, _FIRST_BIT, _VALIDITY, _VALUES, _STARTS, _LENGTHS = 0, 1, 2, 4, 6, 8
_WORDS = 10


def _described(columns: Sequence[WireColumn]) -> Bytes:
    """The words of all columns, which have to outlive them."""
    words: list[int] = []
    for column in columns:
        assert (column.starts.itemsize, column.lengths.itemsize) == (8, 4)
        words += (column.wire, column.first_bit)
        for array in (column.validity, column.values, column.starts, column.lengths):
            words += (address(array), array.nbytes)
    return np.array(words, np.int64).view(np.uint8)


@inline
def _bit(bitmap: Any, bit: Any) -> Any:
    """0 or 1: no branch, of which every tenth would be guessed wrong."""
    return signed((load8(bitmap, bit >> 3) >> np.uint64(bit & 7)) & np.uint64(1))


@kernel
def _add_fixed(validity: Any, first_bit: Any, width: Any, sizes: Any) -> None:
    bits = memory(validity)
    for row in range(len(sizes)):
        sizes[row] += width * _bit(bits, first_bit + row)


@kernel
def _add_spans(validity: Any, first_bit: Any, prefix: Any, lengths: Any, sizes: Any) -> None:
    if len(validity) == 0:
        for row in range(len(sizes)):
            sizes[row] += prefix + np.int64(lengths[row])
    else:
        bits = memory(validity)
        for row in range(len(sizes)):
            sizes[row] += (prefix + np.int64(lengths[row])) * _bit(bits, first_bit + row)


@inline
def _mark_null(out: Any, bitmap: Any, number: Any, null: Any) -> None:
    """``null``: 1, or 0 for a column that is not."""
    at = bitmap + (number >> 3)
    store8(out, at, load8(out, at) | np.uint64(null << (number & 7)))


@inline
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


@inline
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


@inline
def _word(words: Any, column: Any, place: Any) -> Any:
    return signed(load64(words, column + 8 * place))


@inline
def _memory(words: Any, column: Any, place: Any) -> Any:
    return _word(words, column, place), _word(words, column, place + 1)


@inline
def _copy_fixed(out: Any, at: Any, values: Any, row: Any, width: Any) -> None:
    if width <= 8:
        _copy_word(out, at, values, width * row, width)
    else:
        copy_exactly(out, at, values, width * row, width)


@inline
def _put_fixed(out: Any, cursors: Any, count: Any, shift: Any, values: Any, first: Any, width: Any) -> None:
    """A cell of every row; those of the usual widths take a store each."""
    if width == 8:
        for row in range(count):
            store64(out, cursors[row] + shift, load64(values, 8 * (first + row)))
    elif width == 4:
        for row in range(count):
            store32(out, cursors[row] + shift, load32(values, 4 * (first + row)))
    elif width == 2:
        for row in range(count):
            store16(out, cursors[row] + shift, load16(values, 2 * (first + row)))
    elif width == 1:
        for row in range(count):
            store8(out, cursors[row] + shift, load8(values, first + row))
    else:
        for row in range(count):
            _copy_fixed(out, cursors[row] + shift, values, first + row, width)


@inline
def _put_length(out: Any, at: Any, length: Any, prefix: Any) -> None:
    if prefix == 1:
        store8(out, at, length)
    elif prefix == 2:
        store16(out, at, length)
    elif prefix == 4:
        store32(out, at, length)
    elif prefix == 3:
        store16(out, at, length)
        store8(out, at + 2, length >> np.uint64(16))


@inline
def write_image(
    out: Any, begins: Any, scratch: Any, count: Any, words: Any, first: Any, null_bytes: Any, last: Any
) -> None:
    """One image of rows ``first`` to ``first + count - 1``, whose columns ``words`` describe, column after column.

    ``begins[i]``: where the image of row ``first + i`` begins in ``out``, which ends with SLACK bytes; becomes where it
    ends.  ``scratch`` is room for twice as many numbers.  So many rows that all of them and the bytes stay in a core's
    first cache are written fastest.
    """
    cursors, places = scratch[0], scratch[1]
    for row in range(count):
        at = cursors[row] = begins[row]
        for byte in range(null_bytes - 1):
            store8(out, at + byte, np.uint64(0))
        if null_bytes > 0:
            store8(out, at + null_bytes - 1, np.uint64(last))
    # What every row has had since its cursor was moved.
    shift = null_bytes
    number = 0
    for column in range(0, words[1], 8 * _WORDS):
        validity = _memory(words, column, _VALIDITY)
        first_bit = _word(words, column, _FIRST_BIT) + first
        wire = _word(words, column, _WIRE)
        values = _memory(words, column, _VALUES)
        if wire > 0 and validity[1] == 0:
            _put_fixed(out, cursors, count, shift, values, first, wire)
            shift += wire
        elif wire > 0:
            nowhere = out[1] - SLACK
            for row in range(count):
                # No branch: a NULL's cell goes where nothing is.
                bit = _bit(validity, first_bit + row)
                places[row] = cursors[row] + shift if bit else nowhere
                cursors[row] += wire * bit
                _mark_null(out, begins[row], number, 1 - bit)
            _put_fixed(out, places, count, 0, values, first, wire)
        else:
            starts, lengths = _memory(words, column, _STARTS), _memory(words, column, _LENGTHS)
            for row in range(count):
                if validity[1] > 0 and not _bit(validity, first_bit + row):
                    _mark_null(out, begins[row], number, 1)
                    continue
                begin = signed(load64(starts, 8 * (first + row)))
                length = load32(lengths, 4 * (first + row))
                at = cursors[row] + shift
                _put_length(out, at, length, -wire)
                copy_exactly(out, at - wire, values, begin, signed(length))
                cursors[row] += signed(length) - wire
        number += 1
    for row in range(count):
        begins[row] = cursors[row] + shift


@kernel
def _write_image(out: Any, begins: Any, scratch: Any, first: Any, columns: Any, null_bytes: Any, last: Any) -> None:
    to, words = memory(out), memory(columns)
    for row in range(0, len(begins), BLOCK):
        count = min(BLOCK, len(begins) - row)
        write_image(to, begins[row:], scratch, count, words, first + row, null_bytes, last)
