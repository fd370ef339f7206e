"""The single-byte sets and the East Asian ones, by tables that are made from their codecs.

Decoding, the table ``singles`` has 256 entries, and ``pairs`` 65,536 by lead byte and second byte.  An entry is the
character's UTF-8 as a little-endian word, or one of the marks below.

Encoding, the table has an entry for each of the 65,536 characters of the basic plane: the bytes in the order of memory
from bit 0, and their number from bit 32; 0 if the set does not have the character.

Values with longer characters (ujis, eucjpms, gb18030), and those above the basic plane, go through the codec.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import inline, kernel, load8, load64, memory, signed, store32, store64, unsigned
from forge.bulk.plan import Spans, Wire, slacked
from forge.bulk.text.codec import CodecForm
from forge.bulk.text.form import (
    LAST_OFFSET,
    Texts,
    are_ascii,
    ascii_bytes,
    character_at,
    high_bytes,
    located,
    too_long,
)
from forge.errors import FormatError, ScenarioError

#: No UTF-8 word begins with these: what stands behind the byte decides, or nothing does.
_NONE, _LEAD = 0xFFFFFFFF, 0xFFFFFFFE
_MARKS = np.uint32(_LEAD)


class TableForm(CodecForm):
    """A character set most of whose characters have one byte or two."""

    def read(self, spans: Spans) -> Texts:
        ends, data, is_ascii = spans
        if self._reads_ascii and is_ascii:
            return Texts(ends, data)
        total = int(ends[-1])
        # A byte beyond ASCII becomes three at most; others do too where ASCII is not itself.
        most = total + 2 * (high_bytes(data[:total]) if self._reads_ascii else total)
        out, out_ends, odd = slacked(most), np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
        found = _decode(data, ends, *self._decoding, self._reads_ascii, out, out_ends, odd)
        return self._decoded(spans, Texts(out_ends, out, odd[:found]))

    def write(self, texts: Wire, most: int) -> Wire:
        if self._writes_ascii and are_ascii(texts):
            return replace(texts, odd=too_long(texts, most))
        values, starts, lengths = located(texts)
        # Two bytes of UTF-8 may need three; ASCII two at most, where it is not itself.
        rows, total = len(lengths), int(lengths.sum())
        out = slacked(total if self._charset.max_length == 1 else 2 * total)
        out_starts, out_lengths, odd = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, np.int32)
        made = out, out_starts, out_lengths, odd
        found = _encode(values, starts, lengths, self._encoding, self._writes_ascii, most, made)
        return self._encoded(texts, Wire(out, out_starts, out_lengths, odd[:found]), most)

    @cached_property
    def _reads_ascii(self) -> bool:
        return all(self._character(bytes([byte])) == chr(byte) for byte in range(0x80))

    @cached_property
    def _writes_ascii(self) -> bool:
        return all(self._bytes(chr(byte)) == bytes([byte]) for byte in range(0x80))

    @cached_property
    def _decoding(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        singles = np.array([self._word(bytes([byte])) for byte in range(256)], np.uint32)
        if self._charset.max_length == 1:
            return singles, np.empty(0, np.uint32)
        leads = [byte for byte in range(256) if singles[byte] == _NONE]
        singles[leads] = _LEAD
        pairs = np.full(0x10000, _NONE, np.uint32)
        for lead in leads:
            for second in range(256):
                pairs[lead << 8 | second] = self._word(bytes([lead, second]))
        return singles, pairs

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


@inline
def _utf8_size(word: Any) -> Any:
    """Bytes of a character, by its UTF-8 word."""
    lead = word & 0xFF
    return np.int64(1) + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)


@kernel
def _decode(data: Any, ends: Any, singles: Any, pairs: Any, is_ascii: Any, out: Any, out_ends: Any, odd: Any) -> Any:
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
def _encode(values: Any, starts: Any, lengths: Any, table: Any, is_ascii: Any, most: Any, made: Any) -> Any:
    out, out_starts, out_lengths, odd = made
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
            entry = table[unsigned(point)] if 0 <= point <= 0xFFFF else np.uint64(0)
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
