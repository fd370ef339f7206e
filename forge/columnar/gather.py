"""Kernels that most families share: values of a fixed width, values with a length, and which rows have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forge.columnar.machine import (
    address,
    brief_kernel,
    copy,
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
from forge.columnar.plan import Bytes, Cells, Numbers, slacked


@brief_kernel
def nulls_of(offsets: Any) -> Any:
    """How many rows have no value."""
    nulls = np.int64(0)
    for row in range(len(offsets)):
        nulls += (offsets[row] >> 31) & 1
    return nulls


@brief_kernel
def _set_bits(offsets: Any, bitmap: Any) -> None:
    whole = len(offsets) >> 3
    for byte in range(whole):
        bits = 0
        for bit in range(8):
            bits |= ((~offsets[8 * byte + bit] >> 31) & 1) << bit
        bitmap[byte] = bits
    bits = 0
    for row in range(8 * whole, len(offsets)):
        bits |= ((~offsets[row] >> 31) & 1) << (row & 7)
    if 8 * whole < len(offsets):
        bitmap[whole] = bits


def validity(offsets: Numbers) -> tuple[Bytes | None, int]:
    """The bitmap of the rows that have a value, None if all have; and how many have none."""
    nulls = int(nulls_of(offsets))
    if not nulls:
        return None, 0
    return bitmap_of(offsets), nulls


def bitmap_of(offsets: Numbers) -> Bytes:
    """The bits of the rows that have a value."""
    bitmap = np.empty((len(offsets) + 7) // 8, np.uint8)
    _set_bits(offsets, bitmap)
    return bitmap


_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def fixed(cells: Cells, width: int) -> np.ndarray[Any, Any]:
    """The cells' bytes as unsigned little-endian words of ``width`` (1, 2, 4, 8); 0 where there is no value."""
    (values,), _ = fixed_columns(cells.buffer, cells.offsets[np.newaxis], (0,), (width,), len(cells))
    return values


#: Of a column: its width, the line of its offsets, and the memory (address, bytes) of its values.
_WIDTH, _LINE, _OUT = 0, 8, 16
_DESCRIBED = 32


def fixed_columns(
    buffer: Bytes, offsets: Numbers, lines: Sequence[int], widths: Sequence[int], rows: int
) -> tuple[list[np.ndarray[Any, Any]], list[int]]:
    """The same of several columns, and how many NULLs each has.

    The offsets of column ``k`` are ``offsets[lines[k], :rows]``.  One kernel makes them all: at the end of each, a
    thread may have to wait for the interpreter.
    """
    columns: list[np.ndarray[Any, Any]] = []
    words: list[int] = []
    for line, width in zip(lines, widths, strict=True):
        out = np.empty(rows, _WORDS[width])
        columns.append(out)
        words += (width, line, address(out), out.nbytes)
    nulls = np.empty(len(columns), np.int64)
    _fixed_columns(buffer, offsets, np.array(words, np.int64).view(np.uint8), rows, nulls)
    return columns, nulls.tolist()


@kernel
def _fixed_columns(buffer: Any, offsets: Any, described: Any, rows: Any, nulls: Any) -> None:
    data, words = memory(buffer), memory(described)
    for column in range(len(nulls)):
        at = _DESCRIBED * column
        width = load64(words, at + _WIDTH)
        out = signed(load64(words, at + _OUT)), signed(load64(words, at + _OUT + 8))
        line = offsets[signed(load64(words, at + _LINE)), :rows]
        without = np.int64(0)
        if width == np.uint64(8):
            for row in range(rows):
                offset = line[row]
                without -= offset >> 31
                store64(out, 8 * row, load64(data, offset) if offset >= 0 else np.uint64(0))
        elif width == np.uint64(4):
            for row in range(rows):
                offset = line[row]
                without -= offset >> 31
                store32(out, 4 * row, load32(data, offset) if offset >= 0 else np.uint64(0))
        elif width == np.uint64(2):
            for row in range(rows):
                offset = line[row]
                without -= offset >> 31
                store16(out, 2 * row, load16(data, offset) if offset >= 0 else np.uint64(0))
        else:
            for row in range(rows):
                offset = line[row]
                without -= offset >> 31
                store8(out, row, load8(data, offset) if offset >= 0 else np.uint64(0))
        nulls[column] = without


@brief_kernel
def _ends(offsets: Any, lengths: Any, out: Any) -> Any:
    total = np.int64(0)
    out[0] = 0
    for row in range(len(offsets)):
        if offsets[row] >= 0:
            total += lengths[row]
        out[row + 1] = total
    return total


@kernel
def _copy_spans(buffer: Any, offsets: Any, lengths: Any, ends: Any, out: Any) -> None:
    for row in range(len(offsets)):
        offset = np.int64(offsets[row])
        if offset < 0:
            continue
        length = np.int64(lengths[row])
        at = np.int64(ends[row])
        if length <= 32:  # Both sides have slack: four words are faster than a call.
            store64(out, at, load64(buffer, offset))
            store64(out, at + 8, load64(buffer, offset + 8))
            store64(out, at + 16, load64(buffer, offset + 16))
            store64(out, at + 24, load64(buffer, offset + 24))
        else:
            copy(out, at, buffer, offset, length)


def spans(cells: Cells) -> tuple[np.ndarray[Any, Any], Bytes]:
    """The cells' bytes one behind the other, and their int32 offsets: the buffers of an Arrow binary array.

    SLACK bytes stand behind the last one, in the same array.
    """
    ends = np.empty(len(cells) + 1, np.int32)
    out = slacked(int(_ends(cells.offsets, cells.lengths, ends)))
    _copy_spans(cells.buffer, cells.offsets, cells.lengths, ends, out)
    return ends, out


__all__ = ["bitmap_of", "fixed", "fixed_columns", "spans", "validity"]
