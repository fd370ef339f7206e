"""utf8mb4, utf8mb3 and ascii: the bytes are Arrow's own, if they are of the set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from forge.bulk.machine import inline, kernel, load8, load64, memory, store64
from forge.bulk.plan import HIGH, Spans, Wire
from forge.bulk.text.form import TextForm, Texts, are_ascii, either, located, too_long

_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
#: Times a byte: a word of it.
_EACH = 0x0101010101010101


class Utf8(TextForm):
    """UTF-8 whose characters have at most ``longest`` bytes: 4, 3, or 1 for ascii."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def read(self, spans: Spans) -> Texts:
        ends, data, is_ascii = spans
        if is_ascii:
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
def _from(word: Any, least: Any) -> Any:
    """The high bits of the bytes of a word that are ``least``, 80 or more, or above; other bits are of no matter."""
    return ((word & _LOW) + np.uint64((0x100 - least) * _EACH)) & word


@inline
def _equal(word: Any, byte: Any) -> Any:
    """The high bits of the bytes of a word that are ``byte``; other bits are of no matter."""
    other = word ^ np.uint64(byte * _EACH)
    return ~(((other & _LOW) + _LOW) | other)


@inline
def _wrong(word: Any, one: Any, two: Any, three: Any) -> Any:
    """The high bits of the bytes that cannot stand where they do; ``one`` has the bytes one place before, and so on.

    A byte continues a character if and only if one before it has room for it.  The second byte decides about longer
    forms than needed (e0, f0), surrogates (ed) and what is above U+10FFFF (f4).
    """
    continues = word & ~(word << np.uint64(1))
    room = _from(one, 0xC0) | _from(two, 0xE0) | _from(three, 0xF0)
    from_a0 = word << np.uint64(2)
    from_90 = from_a0 | word << np.uint64(3)
    second = (_equal(one, 0xE0) & ~from_a0) | (_equal(one, 0xED) & from_a0)
    second |= (_equal(one, 0xF0) & ~from_90) | (_equal(one, 0xF4) & from_90)
    return (room ^ continues) | second | _from(word, 0xF5) | (_from(word, 0xC0) & ~_from(word, 0xC2))


@inline
def _are_well_formed(held: Any, total: Any, longest: Any) -> Any:
    """Whether the bytes of a memory are UTF-8, eight at a time; 8 or more zero bytes follow them."""
    word = load64(held, 0)
    wrong = _wrong(word, word << np.uint64(8), word << np.uint64(16), word << np.uint64(24))
    four = _from(word, 0xF0)
    # The zero bytes show a character that is cut off at the end.
    for number in range(1, (total >> 3) + 1 + (total & 7 > 5)):
        at = 8 * number
        word = load64(held, at)
        wrong |= _wrong(word, load64(held, at - 1), load64(held, at - 2), load64(held, at - 3))
        four |= _from(word, 0xF0)
    return (wrong | four if longest < 4 else wrong) & HIGH == 0


@inline
def is_well_formed(held: Any, begin: Any, end: Any, longest: Any) -> Any:
    """Whether the bytes from ``begin`` to ``end`` of a memory are UTF-8, one character after the other."""
    at = np.int64(begin)
    while at < end:
        lead = load8(held, at)
        if lead < 0x80:
            at += 1
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
        if size > longest or at + size > end:
            return False
        for index in range(1, size):
            if load8(held, at + index) & 0xC0 != 0x80:
                return False
        second = load8(held, at + 1)
        if (lead == 0xE0 and second < 0xA0) or (lead == 0xED and second > 0x9F):
            return False
        if (lead == 0xF0 and second < 0x90) or (lead == 0xF4 and second > 0x8F):
            return False
        at += size
    return True


@kernel
def _malformed(data: Any, ends: Any, longest: Any, odd: Any) -> Any:
    """The rows that are not of the set; their bytes become question marks."""
    rows = len(ends) - 1
    total = np.int64(ends[rows])
    held = memory(data)
    store64(held, total, np.uint64(0))
    store64(held, total + 8, np.uint64(0))
    # All rows together are well-formed, and none begins inside a character: so is each.
    if longest > 1 and _are_well_formed(held, total, longest):
        inside = 0
        for row in range(rows):
            inside += load8(held, ends[row]) & 0xC0 == 0x80
        if not inside:
            return 0
    found = 0
    for row in range(rows):
        if not is_well_formed(held, ends[row], ends[row + 1], longest):
            odd[found] = row
            found += 1
    for index in range(found):
        for at in range(ends[odd[index]], ends[odd[index] + 1]):
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
