"""Kernels that most families share: values of a fixed width, values with a length, and which rows have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from forge.bulk.machine import (
    brief_kernel,
    copy_text,
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
from forge.bulk.plan import HIGH, SPANS, TEXTS, Bytes, Cells, Numbers, Spans, address, slacked


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


def bitmap_of(offsets: Numbers) -> Bytes:
    """The bits of the rows that have a value."""
    bitmap = np.empty((len(offsets) + 7) // 8, np.uint8)
    _set_bits(offsets, bitmap)
    return bitmap


_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_NO_ENDS = np.empty(0, np.int32)
#: Of a column, as the kernel reads it: its width, the line of its offsets and lengths, and two memories (address,
#: bytes): of its values, or the bytes of spans, and of the ends of spans.
_WIDTH, _LINE, _OUT, _ENDS = 0, 8, 16, 32
_DESCRIBED = 48
#: Bytes of texts that are looked at together, while they are in the first cache; none ever are.
_NEAR: Final = 1 << 13
_NOWHERE: Final = 1 << 62


def fixed(cells: Cells, width: int) -> np.ndarray[Any, Any]:
    """The cells' bytes as unsigned little-endian words of ``width`` (1, 2, 4, 8); 0 where there is no value."""
    values: np.ndarray[Any, Any] = _of_one(cells, width)
    return values


def spans(cells: Cells) -> Spans:
    """The cells' bytes one behind the other."""
    found: Spans = _of_one(cells, SPANS)
    return found


def texts(cells: Cells) -> Spans:
    """The same, and whether they are ASCII."""
    found: Spans = _of_one(cells, TEXTS)
    return found


def _of_one(cells: Cells, width: int) -> Any:
    lines = cells.offsets[np.newaxis], cells.lengths[np.newaxis]
    (values,), _ = gathered(cells.buffer, *lines, (0,), (width,), len(cells))
    return values


def gathered(
    buffer: Bytes, offsets: Numbers, lengths: Numbers, lines: Sequence[int], widths: Sequence[int], rows: int
) -> tuple[list[Any], list[int]]:
    """The same of several columns, of a width or SPANS or TEXTS each, and how many NULLs each has.

    The cells of column ``k`` are at ``offsets[lines[k], :rows]`` and have ``lengths[lines[k], :rows]``.  One kernel
    makes them all: at the end of each, a thread may have to wait for the interpreter.
    """
    spanned = [line for line, width in zip(lines, widths, strict=True) if width <= 0]
    totals = np.empty(len(spanned), np.int64)
    if spanned:
        _total(offsets, lengths, np.array(spanned, np.int64), rows, totals)
    sizes = iter(totals.tolist())
    found: list[Any] = []
    words: list[int] = []
    for line, width in zip(lines, widths, strict=True):
        out = np.empty(rows, _WORDS[width]) if width > 0 else slacked(next(sizes))
        ends = _NO_ENDS if width > 0 else np.empty(rows + 1, np.int32)
        found.append(out if width > 0 else (ends, out))
        words += (width, line, address(out), out.nbytes, *((0, 0) if width > 0 else (address(ends), ends.nbytes)))
    nulls, high = np.empty(len(found), np.int64), np.zeros(len(found), np.uint64)
    _gather(buffer, offsets, lengths, np.array(words, np.int64).view(np.uint8), rows, nulls, high)
    for column, (width, bits) in enumerate(zip(widths, high.tolist(), strict=True)):
        if width <= 0:
            ends, out = found[column]
            found[column] = Spans(ends, out, width == TEXTS and not bits)
    return found, nulls.tolist()


@brief_kernel
def _total(offsets: Any, lengths: Any, lines: Any, rows: Any, totals: Any) -> None:
    """How many bytes the cells of lines have."""
    for index in range(len(lines)):
        line_offsets, line_lengths = offsets[lines[index], :rows], lengths[lines[index], :rows]
        total = np.int64(0)
        for row in range(rows):
            total += line_lengths[row] & ~(line_offsets[row] >> 31)
        totals[index] = total


@inline
def _bits_of(data: Any, begin: Any, end: Any) -> Any:
    """The bits that any eight bytes have, those at the end alone."""
    bits = np.uint64(0)
    for word in range((end - begin) >> 3):
        bits |= load64(data, begin + 8 * word)
    for byte in range(begin + ((end - begin) & ~7), end):
        bits |= load8(data, byte)
    return bits


@kernel
def _gather(buffer: Any, offsets: Any, lengths: Any, described: Any, rows: Any, nulls: Any, high: Any) -> None:
    """``high``: of texts, the bits of all bytes that only ASCII leaves clear."""
    data, words = memory(buffer), memory(described)
    for column in range(len(nulls)):
        at = _DESCRIBED * column
        width, line = load64(words, at + _WIDTH), signed(load64(words, at + _LINE))
        out = signed(load64(words, at + _OUT)), signed(load64(words, at + _OUT + 8))
        places = offsets[line, :rows]
        without = np.int64(0)
        if width == np.uint64(8):
            for row in range(rows):
                offset = places[row]
                without -= offset >> 31
                store64(out, 8 * row, load64(data, offset) if offset >= 0 else np.uint64(0))
        elif width == np.uint64(4):
            for row in range(rows):
                offset = places[row]
                without -= offset >> 31
                store32(out, 4 * row, load32(data, offset) if offset >= 0 else np.uint64(0))
        elif width == np.uint64(2):
            for row in range(rows):
                offset = places[row]
                without -= offset >> 31
                store16(out, 2 * row, load16(data, offset) if offset >= 0 else np.uint64(0))
        elif width == np.uint64(1):
            for row in range(rows):
                offset = places[row]
                without -= offset >> 31
                store8(out, row, load8(data, offset) if offset >= 0 else np.uint64(0))
        else:
            ends = signed(load64(words, at + _ENDS)), signed(load64(words, at + _ENDS + 8))
            sizes = lengths[line, :rows]
            end = looked = np.int64(0)
            bits, near = np.uint64(0), _NEAR if signed(width) == TEXTS else _NOWHERE
            store32(ends, 0, np.uint64(0))
            for row in range(rows):
                # Where there is no value, nothing is copied from the beginning.
                there = ~(np.int64(places[row]) >> 63)
                without += 1 + there
                begin, length = places[row] & there, sizes[row] & there
                copy_text(out, end, data, begin, length)
                end += length
                store32(ends, 4 * row + 4, np.uint64(end))
                if end - looked >= near:
                    bits |= _bits_of(out, looked, end)
                    looked = end
            if near != _NOWHERE:
                bits |= _bits_of(out, looked, end)
            high[column] = bits & HIGH
        nulls[column] = without
