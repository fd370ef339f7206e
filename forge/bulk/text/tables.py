"""The single-byte sets and the East Asian ones, by tables that are made from their codecs.

Decoding, the table ``singles`` has 256 entries, and ``pairs`` 65,536 by lead byte and second byte.  An entry is the
character's UTF-8 as a little-endian word, or one of the marks below.  A third table serves the characters of three
bytes of ujis and eucjpms (8f, then two bytes), or those of four bytes of gb18030 up to U+FFFF, in their order.

Encoding, the table has an entry for each of the 65,536 characters of the basic plane: the bytes in the order of memory
from bit 0, and their number from bit 32; 0 if the set does not have the character.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import inline, kernel, load8, load32, load64, memory, signed, store32, store64, unsigned
from forge.bulk.plan import HIGH, Bytes, Spans, Wire, slacked
from forge.bulk.text.form import (
    LAST_OFFSET,
    TextForm,
    Texts,
    are_ascii,
    ascii_bytes,
    character_at,
    high_bytes,
    located,
    too_long,
)
from forge.charsets import Charset
from forge.errors import FormatError, ScenarioError

#: No UTF-8 word begins with these: what stands behind the byte decides, or nothing does.
_NONE, _LEAD, _THIRD, _FOURTH = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC
_MARKS = np.uint32(0xFFFFFFF0)
#: Instead of a size of 1 to 3: a byte that is no character.
_NO_SIZE = 8
#: Four-byte sequences of gb18030 up to U+FFFF, and the number of U+10000 (90308130) and of U+10FFFF (e3329a35).
_BASIC, _ASTRAL, _LAST = 39420, 189000, 189000 + 0xFFFFF


class _Decoding(NamedTuple):
    singles: npt.NDArray[np.uint32]
    pairs: npt.NDArray[np.uint32]
    more: npt.NDArray[np.uint32]


class TableForm(TextForm):
    """A character set whose characters have 1 to 4 bytes."""

    def __init__(self, charset: Charset) -> None:
        self._charset = charset

    def read(self, spans: Spans) -> Texts:
        ends, data, is_ascii = spans
        if self._reads_ascii and is_ascii:
            return Texts(ends, data)
        total = int(ends[-1])
        # A byte beyond ASCII becomes three at most; others do too where ASCII is not itself.
        most = total + 2 * (high_bytes(data[:total]) if self._reads_ascii else total)
        out, out_ends, odd = slacked(most), np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
        if self._charset.max_length == 1:
            found = _decode_bytes(
                data, ends, self._decoding.singles, self._sizes, self._reads_ascii, out, out_ends, odd
            )
        else:
            found = _decode(data, ends, *self._decoding, self._reads_ascii, out, out_ends, odd)
        return Texts(out_ends, out, odd[:found])

    def write(self, texts: Wire, most: int) -> Wire:
        if self._writes_ascii and are_ascii(texts):
            return replace(texts, odd=too_long(texts, most))
        values, starts, lengths = located(texts)
        # Two bytes of UTF-8 may need three, or four in gb18030; ASCII two at most, where it is not itself.
        rows, total = len(lengths), int(lengths.sum())
        out = slacked(total if self._charset.max_length == 1 else 2 * total)
        out_starts, out_lengths, odd = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32)
        found = _encode(
            values, starts, lengths, self._encoding, self._writes_ascii, self._charset.name == "gb18030", most,
            out, out_starts, out_lengths, odd,
        )  # fmt: skip
        return Wire(out, out_starts, out_lengths, odd[:found])

    @cached_property
    def _reads_ascii(self) -> bool:
        return all(self._character(bytes([byte])) == chr(byte) for byte in range(0x80))

    @cached_property
    def _writes_ascii(self) -> bool:
        return all(self._bytes(chr(byte)) == bytes([byte]) for byte in range(0x80))

    @cached_property
    def _decoding(self) -> _Decoding:
        singles = np.array([self._word(bytes([byte])) for byte in range(256)], np.uint32)
        if self._charset.max_length == 1:
            return _Decoding(singles, np.empty(0, np.uint32), np.empty(0, np.uint32))
        leads = [byte for byte in range(256) if singles[byte] == _NONE]
        singles[leads] = _LEAD
        pairs = np.full(0x10000, _NONE, np.uint32)
        for lead in leads:
            for second in range(256):
                pairs[lead << 8 | second] = self._word(bytes([lead, second]))
        more = np.empty(0, np.uint32)
        if self._charset.max_length == 3:
            pairs[0x8FA1:0x8FFF] = _THIRD
            more = np.full(0x10000, _NONE, np.uint32)
            for second in range(0xA1, 0xFF):
                for third in range(0xA1, 0xFF):
                    more[second << 8 | third] = self._word(bytes([0x8F, second, third]))
        elif self._charset.max_length == 4:
            for lead in range(0x81, 0xFF):
                pairs[lead << 8 | 0x30 : lead << 8 | 0x3A] = _FOURTH
            more = np.array([self._word(data) for data in _gb18030_basic()], np.uint32)
        return _Decoding(singles, pairs, more)

    @cached_property
    def _sizes(self) -> Bytes:
        """Of a single-byte set: the bytes of each character in UTF-8; _NO_SIZE if there is none."""
        words = self._decoding.singles
        sizes = 1 + (words & 0xFF >= 0xC0) + (words & 0xFF >= 0xE0)
        return np.where(words == _NONE, _NO_SIZE, sizes).astype(np.uint8)

    @cached_property
    def _encoding(self) -> npt.NDArray[np.uint64]:
        entries = np.zeros(0x10000, np.uint64)
        for point in range(0x10000):
            data = self._bytes(chr(point))
            if data:
                entries[point] = len(data) << 32 | int.from_bytes(data, "little")
        return entries

    def _word(self, data: bytes) -> int:
        character = self._character(data)
        return _NONE if character is None else int.from_bytes(character.encode(), "little")

    def _character(self, data: bytes) -> str | None:
        try:
            text = self._charset.decode(data)
        except FormatError:
            return None
        return text if len(text) == 1 else None

    def _bytes(self, character: str) -> bytes | None:
        try:
            return self._charset.encode(character)
        except ScenarioError:
            return None


def _gb18030_basic() -> Iterator[bytes]:
    for number in range(_BASIC):
        rest, fourth = divmod(number, 10)
        rest, third = divmod(rest, 126)
        first, second = divmod(rest, 10)
        yield bytes([0x81 + first, 0x30 + second, 0x81 + third, 0x30 + fourth])


@inline
def _utf8_size(word: Any) -> Any:
    """Bytes of a character, by its UTF-8 word."""
    lead = word & 0xFF
    return np.int64(1) + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)


@inline
def _four(held: Any, at: Any) -> Any:
    """The number of the four bytes of gb18030 at ``at`` of a memory; -1 if they are none."""
    word = signed(load32(held, at))
    third, fourth = (word >> 16 & 0xFF) - 0x81, (word >> 24) - 0x30
    if third < 0 or third > 125 or fourth < 0 or fourth > 9:
        return np.int64(-1)
    first, second = (word & 0xFF) - 0x81, (word >> 8 & 0xFF) - 0x30
    return ((first * 10 + second) * 126 + third) * 10 + fourth


@inline
def _astral_word(point: Any) -> Any:
    """The UTF-8 word of a character above U+FFFF."""
    return np.uint32(
        0xF0 | point >> 18 | (0x80 | point >> 12 & 0x3F) << 8 | (0x80 | point >> 6 & 0x3F) << 16
        | (0x80 | point & 0x3F) << 24
    )  # fmt: skip


@kernel
def _decode_bytes(
    data: Any, ends: Any, words: Any, sizes: Any, is_ascii: Any, out: Any, out_ends: Any, odd: Any
) -> Any:
    found = 0
    source, target = memory(data), memory(out)
    to = np.int64(0)
    out_ends[0] = 0
    for row in range(len(ends) - 1):
        at, end = np.int64(ends[row]), np.int64(ends[row + 1])
        begin = to
        seen = np.int64(0)
        while at < end:
            count = min(np.int64(8), end - at)
            if is_ascii:
                eight = load64(source, at)
                store64(target, to, eight)
                if not eight & (HIGH >> unsigned(8 * (8 - count))):
                    at += count
                    to += count
                    continue
            # Without a branch: text has its letters beyond ASCII where no processor expects them.
            for _ in range(count):
                byte = load8(source, at)
                size = np.int64(sizes[byte])
                store32(target, to, np.uint64(words[byte]))
                seen |= size
                to += size & 7
                at += 1
        if seen & _NO_SIZE or to > LAST_OFFSET:
            odd[found] = row
            found += 1
            to = begin
        out_ends[row + 1] = to
    return found


@kernel
def _decode(
    data: Any, ends: Any, singles: Any, pairs: Any, more: Any, is_ascii: Any, out: Any, out_ends: Any, odd: Any
) -> Any:
    found = 0
    source, target = memory(data), memory(out)
    to = np.int64(0)
    out_ends[0] = 0
    for row in range(len(ends) - 1):
        at, end = np.int64(ends[row]), np.int64(ends[row + 1])
        begin = to
        good = True
        while at < end:
            byte = load8(source, at)
            if is_ascii and byte < np.uint64(0x80):
                eight = load64(source, at)
                store64(target, to, eight)
                count = ascii_bytes(eight, end - at)
                at += count
                to += count
                continue
            word = singles[byte]
            size = np.int64(1)
            if word == _LEAD and at + 1 < end:
                word = pairs[byte << np.uint64(8) | load8(source, at + 1)]
                size = np.int64(2)
                if word == _THIRD and at + 2 < end:
                    word = more[load8(source, at + 1) << np.uint64(8) | load8(source, at + 2)]
                    size = np.int64(3)
                elif word == _FOURTH and at + 3 < end:
                    number = _four(source, at)
                    size = np.int64(4)
                    word = np.uint32(_NONE)
                    if 0 <= number < _BASIC:
                        word = more[number]
                    elif _ASTRAL <= number <= _LAST:
                        word = _astral_word(number - _ASTRAL + 0x10000)
            if word >= _MARKS:
                good = False
                break
            store32(target, to, np.uint64(word))
            at += size
            to += _utf8_size(word)
        if not good or to > LAST_OFFSET:
            odd[found] = row
            found += 1
            to = begin
        out_ends[row + 1] = to
    return found


@kernel
def _encode(
    values: Any, starts: Any, lengths: Any, table: Any, is_ascii: Any, astral: Any, most: Any,
    out: Any, out_starts: Any, out_lengths: Any, odd: Any,
) -> Any:  # fmt: skip
    found = 0
    to = np.int64(0)
    source, target = memory(values), memory(out)
    wide = np.int64(values.size) - 8
    for row in range(len(lengths)):
        at = np.int64(starts[row])
        end = at + np.int64(lengths[row])
        begin = to
        characters = np.int64(0)
        good = True
        while at < end:
            if is_ascii and at <= wide and load8(source, at) < np.uint64(0x80):
                eight = load64(source, at)
                store64(target, to, eight)
                count = ascii_bytes(eight, end - at)
                at += count
                to += count
                characters += count
                continue
            point, size = character_at(source, at, end)
            entry = np.uint64(0)
            if point <= 0xFFFF:
                entry = table[unsigned(point)] if point >= 0 else entry
            elif astral:
                entry = _astral_entry(point - 0x10000 + _ASTRAL)
            if entry == 0:
                good = False
                break
            store32(target, to, entry & np.uint64(0xFFFFFFFF))
            to += signed(entry >> np.uint64(32))
            at += size
            characters += 1
        if not good or characters > most:
            odd[found] = row
            found += 1
            to = begin
        out_starts[row] = begin
        out_lengths[row] = to - begin
    return found


@inline
def _astral_entry(number: Any) -> Any:
    """The entry of a four-byte sequence of gb18030, by its number."""
    fourth = number % 10
    third = number // 10 % 126
    second = number // 1260 % 10
    first = number // 12600
    return unsigned(
        (0x81 + first) | (0x30 + second) << 8 | (0x81 + third) << 16 | (0x30 + fourth) << 24 | np.int64(4) << 32
    )
