"""ucs2, utf16, utf16le and utf32: units of two or four bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from forge.bulk.machine import (
    inline,
    kernel,
    load16,
    load32,
    memory,
    signed,
    store8,
    store16,
    store32,
    swap64,
    unsigned,
)
from forge.bulk.plan import Spans, Wire, slacked
from forge.bulk.text.form import LAST_OFFSET, TextForm, Texts, character_at, located


class _Units(NamedTuple):
    size: int
    is_little: bool
    #: The last character of the set.
    last: int


WIDE = {
    "ucs2": _Units(2, False, 0xFFFF),
    "utf16": _Units(2, False, 0x10FFFF),
    "utf16le": _Units(2, True, 0x10FFFF),
    "utf32": _Units(4, False, 0x10FFFF),
}


class WideForm(TextForm):
    """A Unicode set whose characters have one unit, or two that are a surrogate pair."""

    def __init__(self, name: str) -> None:
        self._units = WIDE[name]

    def read(self, spans: Spans) -> Texts:
        ends, data, _ = spans
        # Two bytes become three at most, and four become four.
        out = slacked(int(ends[-1]) * 3 // 2)
        out_ends, odd = np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
        found = _read(data, ends, *self._units, out, out_ends, odd)
        return Texts(out_ends, out, odd[:found])

    def write(self, texts: Wire, most: int) -> Wire:
        values, starts, lengths = located(texts)
        rows = len(lengths)
        out = slacked(int(lengths.sum()) * self._units.size)
        out_starts, out_lengths, odd = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32)
        found = _write(values, starts, lengths, *self._units, most, out, out_starts, out_lengths, odd)
        return Wire(out, out_starts, out_lengths, odd[:found])


@inline
def _unit(held: Any, at: Any, size: Any, is_little: Any) -> Any:
    if size == 4:
        return signed(swap64(load32(held, at)) >> np.uint64(32))
    unit = signed(load16(held, at))
    return unit if is_little else unit >> 8 | (unit & 0xFF) << 8


@inline
def _store_utf8(held: Any, to: Any, point: Any) -> Any:
    """Store a character, over four bytes; how many it has."""
    if point < 0x80:
        store8(held, to, unsigned(point))
        return np.int64(1)
    last = 0x80 | point & 0x3F
    if point < 0x800:
        store32(held, to, unsigned(0xC0 | point >> 6 | last << 8))
        return np.int64(2)
    middle = 0x80 | point >> 6 & 0x3F
    if point < 0x10000:
        store32(held, to, unsigned(0xE0 | point >> 12 | middle << 8 | last << 16))
        return np.int64(3)
    store32(held, to, unsigned(0xF0 | point >> 18 | (0x80 | point >> 12 & 0x3F) << 8 | middle << 16 | last << 24))
    return np.int64(4)


@kernel
def _read(data: Any, ends: Any, size: Any, is_little: Any, last: Any, out: Any, out_ends: Any, odd: Any) -> Any:
    found = 0
    source, target = memory(data), memory(out)
    to = np.int64(0)
    out_ends[0] = 0
    for row in range(len(ends) - 1):
        at, end = np.int64(ends[row]), np.int64(ends[row + 1])
        begin = to
        good = True
        while at < end:
            if at + size > end:
                good = False
                break
            point = _unit(source, at, size, is_little)
            at += size
            if 0xD800 <= point < 0xDC00 and size == 2 and at + 2 <= end:
                low = _unit(source, at, size, is_little)
                if 0xDC00 <= low < 0xE000:
                    point = 0x10000 + ((point & 0x3FF) << 10 | low & 0x3FF)
                    at += 2
            if point > last or 0xD800 <= point < 0xE000:
                good = False
                break
            to += _store_utf8(target, to, point)
        if not good or to > LAST_OFFSET:
            odd[found] = row
            found += 1
            to = begin
        out_ends[row + 1] = to
    return found


@inline
def _store_unit(held: Any, to: Any, unit: Any, is_little: Any) -> None:
    store16(held, to, unsigned(unit if is_little else unit >> 8 | (unit & 0xFF) << 8))


@kernel
def _write(
    values: Any, starts: Any, lengths: Any, size: Any, is_little: Any, last: Any, most: Any,
    out: Any, out_starts: Any, out_lengths: Any, odd: Any,
) -> Any:  # fmt: skip
    found = 0
    source, target = memory(values), memory(out)
    to = np.int64(0)
    for row in range(len(lengths)):
        at = np.int64(starts[row])
        end = at + np.int64(lengths[row])
        begin = to
        characters = np.int64(0)
        good = True
        while at < end:
            point, count = character_at(source, at, end)
            if point < 0 or point > last:
                good = False
                break
            at += count
            characters += 1
            if size == 4:
                _store_unit(target, to, point >> 16, is_little)
                _store_unit(target, to + 2, point & 0xFFFF, is_little)
                to += 4
            elif point > 0xFFFF:
                _store_unit(target, to, 0xD800 + (point - 0x10000 >> 10), is_little)
                _store_unit(target, to + 2, 0xDC00 + (point & 0x3FF), is_little)
                to += 4
            else:
                _store_unit(target, to, point, is_little)
                to += 2
        if not good or characters > most:
            odd[found] = row
            found += 1
            to = begin
        out_starts[row] = begin
        out_lengths[row] = to - begin
    return found
