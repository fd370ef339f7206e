"""The kernel that puts the parts of lines beside each other: Arrow's functions would copy each text four times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from forge.bulk.lines.cell_texts import spans
from forge.bulk.machine import copy, inline, kernel, load8, load32, load64, memory, signed, store8, store64
from forge.bulk.plan import HIGH, address

#: How a text stands in a line: as it is; as a string of JSON; as a field of CSV, in quotes where RFC 4180 wants them
#: and where it is empty; as it is, in single quotes; its bytes as ``0x`` and hexadecimal digits.
PLAIN, JSON, CSV, QUOTED, HEX = range(5)
#: Of a part, as the kernel reads it: its kind, or -1 for none, three memories (address, bytes) of its texts, where they
#: begin, and their validity, the bit of the first row in that, and the end of what stands before it.
_KIND, _DATA, _STARTS, _VALID, _BIT, _BEFORE = 0, 8, 24, 40, 56, 64
_DESCRIBED: Final = 72
#: A byte in a text of JSON is six at most, one of CSV or of digits two; and there are quotes.
_MOST: Final = (1, 6, 2, 1, 2)

_ONES: Final = np.uint64(0x0101010101010101)
_QUOTE, _BACKSLASH, _COMMA = np.uint64(ord('"')), np.uint64(ord("\\")), np.uint64(ord(","))
_RETURN, _FEED, _SPACE, _U, _ZERO = (np.uint64(ord(one)) for one in "\r\n u0")
_SINGLE, _X = np.uint64(ord("'")), np.uint64(ord("x"))
_FOUR, _FIFTEEN, _NOTHING = np.uint64(4), np.uint64(15), np.uint64(0)
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
#: The letter behind the backslash of a byte, 0 where it has four digits.
_LETTERS: Final = np.zeros(32, np.uint8)
for _byte, _letter in zip(b"\b\t\n\f\r", b"btnfr", strict=True):
    _LETTERS[_byte] = _letter


@dataclass(frozen=True, slots=True)
class Part:
    """The texts of a column, how they stand in a line, and what stands before them."""

    before: bytes
    texts: pa.Array | None
    kind: int = PLAIN


def joined(parts: Sequence[Part], null: bytes, rows: int) -> pa.Array:
    """The lines: part after part.  A null in texts is ``null``."""
    words: list[int] = []
    constants, room = b"", 8
    for part in parts:
        constants += part.before
        room += rows * len(part.before)
        if part.texts is None:
            words += (-1, 0, 0, 0, 0, 0, 0, 0, len(constants))
            continue
        starts, data = spans(part.texts)
        room += _MOST[part.kind] * len(data) + rows * max(2, len(null))
        valid = part.texts.buffers()[0] if part.texts.null_count else None
        held = (0, 0) if valid is None else (valid.address, valid.size)
        of_data = (address(data) - int(starts[0]), int(starts[-1])) if len(data) else (0, 0)
        words += (part.kind, *of_data, address(starts), starts.nbytes, *held, part.texts.offset, len(constants))
    out, ends = np.empty(room, np.uint8), np.empty(rows + 1, np.int32)
    before = np.frombuffer(constants + null, np.uint8)
    _join(np.array(words, np.int64).view(np.uint8), len(parts), before, len(null), rows, out, ends)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(out))


@inline
def _has(word: Any, byte: Any) -> Any:
    """Non-zero if one of eight bytes is that one."""
    other = word ^ (_ONES * byte)
    return (other - _ONES) & ~other & HIGH


@inline
def _put_json(data: Any, begin: Any, end: Any, out: Any, at: Any) -> Any:
    """As forge.bulk.json.strings.write_quoted, but that it reads no byte behind the text; the place behind."""
    store8(out, at, _QUOTE)
    at += 1
    while begin < end:
        if end - begin >= 8:
            word = load64(data, begin)
            is_control = (word - _ONES * _SPACE) & ~word & HIGH
            if is_control | _has(word, _QUOTE) | _has(word, _BACKSLASH) == _NOTHING:
                store64(out, at, word)
                begin += 8
                at += 8
                continue
        byte = load8(data, begin)
        begin += 1
        if byte >= _SPACE and byte not in (_QUOTE, _BACKSLASH):
            store8(out, at, byte)
            at += 1
            continue
        store8(out, at, _BACKSLASH)
        letter = byte if byte >= _SPACE else np.uint64(_LETTERS[byte])
        if letter != _NOTHING:
            store8(out, at + 1, letter)
            at += 2
            continue
        store8(out, at + 1, _U)
        store8(out, at + 2, _ZERO)
        store8(out, at + 3, _ZERO)
        store8(out, at + 4, np.uint64(_HEX[signed(byte >> _FOUR)]))
        store8(out, at + 5, np.uint64(_HEX[signed(byte & _FIFTEEN)]))
        at += 6
    store8(out, at, _QUOTE)
    return at + 1


@inline
def _put_csv(data: Any, begin: Any, end: Any, out: Any, at: Any) -> Any:
    """The place behind the field."""
    is_quoted, place = begin == end, begin
    while place < end and not is_quoted:
        if end - place >= 8:
            word = load64(data, place)
            found = _has(word, _QUOTE) | _has(word, _COMMA) | _has(word, _RETURN) | _has(word, _FEED)
            is_quoted = found != _NOTHING
            place += 8
        else:
            is_quoted = load8(data, place) in (_QUOTE, _COMMA, _RETURN, _FEED)
            place += 1
    if not is_quoted:
        copy(out, at, data, begin, end - begin)
        return at + end - begin
    store8(out, at, _QUOTE)
    at += 1
    for place in range(begin, end):
        byte = load8(data, place)
        store8(out, at, byte)
        at += 1
        if byte == _QUOTE:
            store8(out, at, byte)
            at += 1
    store8(out, at, _QUOTE)
    return at + 1


@inline
def _put_hex(data: Any, begin: Any, end: Any, out: Any, at: Any) -> Any:
    """The place behind the digits."""
    store8(out, at, _ZERO)
    store8(out, at + 1, _X)
    at += 2
    for place in range(begin, end):
        byte = load8(data, place)
        store8(out, at, np.uint64(_HEX[signed(byte >> _FOUR)]))
        store8(out, at + 1, np.uint64(_HEX[signed(byte & _FIFTEEN)]))
        at += 2
    return at


@kernel
def _join(described: Any, parts: Any, constants: Any, null: Any, rows: Any, out: Any, ends: Any) -> None:
    """``constants``: what stands before each part, and the ``null`` bytes of NULL behind them."""
    words, before, to = memory(described), memory(constants), memory(out)
    null_at = len(constants) - null
    at = np.int64(0)
    ends[0] = 0
    for row in range(rows):
        begin = np.int64(0)
        for part in range(parts):
            place = _DESCRIBED * part
            end = signed(load64(words, place + _BEFORE))
            copy(to, at, before, begin, end - begin)
            at += end - begin
            begin = end
            kind = signed(load64(words, place + _KIND))
            if kind < 0:
                continue
            valid = signed(load64(words, place + _VALID)), signed(load64(words, place + _VALID + 8))
            bit = row + signed(load64(words, place + _BIT))
            if valid[0] != 0 and load8(valid, bit >> 3) >> np.uint64(bit & 7) & np.uint64(1) == _NOTHING:
                copy(to, at, before, null_at, null)
                at += null
                continue
            data = signed(load64(words, place + _DATA)), signed(load64(words, place + _DATA + 8))
            starts = signed(load64(words, place + _STARTS)), signed(load64(words, place + _STARTS + 8))
            first, last = signed(load32(starts, 4 * row)), signed(load32(starts, 4 * row + 4))
            if kind == PLAIN:
                copy(to, at, data, first, last - first)
                at += last - first
            elif kind == JSON:
                at = _put_json(data, first, last, to, at)
            elif kind == QUOTED:
                store8(to, at, _SINGLE)
                copy(to, at + 1, data, first, last - first)
                at += last - first + 2
                store8(to, at - 1, _SINGLE)
            elif kind == HEX:
                at = _put_hex(data, first, last, to, at)
            else:
                at = _put_csv(data, first, last, to, at)
        ends[row + 1] = at
