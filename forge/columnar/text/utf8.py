"""utf8mb4, utf8mb3 and ascii: the bytes are Arrow's own, if they are of the set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from forge.columnar.machine import inline, kernel, load64
from forge.columnar.plan import Bytes, Numbers, Wire
from forge.columnar.text.form import HIGH, TextForm, Texts, are_ascii, either, is_ascii, located, too_long


class Utf8(TextForm):
    """UTF-8 whose characters have at most ``longest`` bytes: 4, 3, or 1 for ascii."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def read(self, ends: Numbers, data: Bytes) -> Texts:
        if is_ascii(data):
            return Texts(ends, data)
        odd = np.empty(len(ends) - 1, np.int32)
        found = _malformed(data, ends, self._longest, odd)
        return Texts(ends, data, odd[:found])

    def write(self, texts: Wire, most: int) -> Wire:
        odd = too_long(texts, most)
        if self._longest < 4 and not are_ascii(texts):
            values, starts, lengths = located(texts)
            beyond = np.empty(len(lengths), np.int32)
            found = _beyond(values, starts, lengths, self._longest, beyond)
            odd = either(odd, beyond[:found])
        return replace(texts, odd=odd) if len(odd) else texts


@inline
def _well_formed(data: Any, begin: Any, end: Any, longest: Any) -> Any:
    """Whether bytes are UTF-8: no longer forms than needed, no surrogates, nothing above U+10FFFF."""
    at = np.int64(begin)
    while at < end:
        if at + 8 <= end and not load64(data, at) & HIGH:
            at += 8
            continue
        lead = data[at]
        if lead < 0x80:
            at += 1
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
        if size > longest or at + size > end:
            return False
        second = data[at + 1]
        if second & 0xC0 != 0x80:
            return False
        if size > 2:
            if data[at + 2] & 0xC0 != 0x80:
                return False
            if (lead == 0xE0 and second < 0xA0) or (lead == 0xED and second > 0x9F):
                return False
            if (lead == 0xF0 and second < 0x90) or (lead == 0xF4 and second > 0x8F):
                return False
            if size > 3 and data[at + 3] & 0xC0 != 0x80:
                return False
        at += size
    return True


@kernel
def _malformed(data: Any, ends: Any, longest: Any, odd: Any) -> Any:
    """The rows that are not of the set; their bytes become question marks."""
    rows = len(ends) - 1
    total = np.int64(ends[rows])
    found = 0
    # All rows together are well-formed, and none begins inside a character: so is each.
    if _well_formed(data, np.int64(0), total, longest):
        inside = 0
        for row in range(rows):
            if ends[row] < total:
                inside += data[ends[row]] & 0xC0 == 0x80
        if not inside:
            return found
    for row in range(rows):
        begin, end = np.int64(ends[row]), np.int64(ends[row + 1])
        if not _well_formed(data, begin, end, longest):
            odd[found] = row
            found += 1
    for index in range(found):
        row = odd[index]
        for at in range(ends[row], ends[row + 1]):
            data[at] = 0x3F
    return found


@kernel
def _beyond(values: Any, starts: Any, lengths: Any, longest: Any, odd: Any) -> Any:
    """The rows of UTF-8 text with a character of more than ``longest`` bytes, 1 or 3."""
    first = 0xF0 if longest == 3 else 0x80
    found = 0
    for row in range(len(lengths)):
        above = 0
        for at in range(starts[row], starts[row] + lengths[row]):
            above += values[at] >= first
        if above:
            odd[found] = row
            found += 1
    return found
