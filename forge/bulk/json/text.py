"""Binary documents of a whole batch as the server's text, in the buffers of an Arrow string column."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from forge.bulk.digits import write_unsigned
from forge.bulk.json import doubles
from forge.bulk.json.doubles import write_double
from forge.bulk.json.powers import powers_of_ten
from forge.bulk.json.strings import SPILL, quoted_fits, write_quoted
from forge.bulk.machine import (
    SLACK,
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
    unsigned,
)
from forge.bulk.plan import HIGH, Bytes, Numbers
from forge.bulk.text.utf8 import is_well_formed
from forge.errors import ScenarioError
from forge.values.json import binary

_SMALL_OBJECT, _LARGE_OBJECT = binary.SMALL_OBJECT, binary.LARGE_OBJECT
_LARGE_ARRAY, _LITERAL, _INT16, _UINT16 = binary.LARGE_ARRAY, binary.LITERAL, binary.INT16, binary.UINT16
_INT32, _UINT32, _UINT64 = binary.INT32, binary.UINT32, binary.UINT64
_DOUBLE, _STRING = binary.DOUBLE, binary.STRING
_MAX_DEPTH = binary.MAX_DEPTH

#: Room that is there before every token, beyond what a string asks for itself.
ROOM: Final = 2 * (doubles.LONGEST + doubles.SPILL)
#: Words that the stack keeps of a container, and bytes of the whole stack.
_KEPT: Final = 5
STACK: Final = 8 * _KEPT * _MAX_DEPTH
#: Bytes that an Arrow string column holds.
_LARGEST: Final = 2**31 - 1

_ZERO, _ONE, _MINUS = np.uint64(0), np.uint64(1), np.uint64(ord("-"))
_SIGN_AT, _EXPONENT_AT, _INFINITE = np.uint64(63), np.uint64(52), np.uint64(0x7FF)
_NULL, _TRUE, _FALS = (np.uint64(int.from_bytes(word, "little")) for word in (b"null", b"true", b"fals"))
_LETTER_E = np.uint64(ord("e"))
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = (np.uint64(ord(sign)) for sign in "{}[]")
_NEXT, _OF = np.uint64(int.from_bytes(b", ", "little")), np.uint64(int.from_bytes(b": ", "little"))
_LONG_BYTE, _SEVEN_BITS = 0x80, 0x7F

#: Instead of a place in the text: the document is left to the reference, or there is no room for it.
_ODD, _FULL = -1, -2


@inline
def length_behind(buffer: Any, at: Any, end: Any) -> Any:
    """(bytes, place) of the variable length at ``at``; -1 bytes if they pass ``end`` or it is no length."""
    count = 0
    for shift in range(0, 35, 7):
        if at >= end:
            return -1, at
        byte = signed(load8(buffer, at))
        at += 1
        count |= (byte & _SEVEN_BITS) << shift
        if byte < _LONG_BYTE:
            return (count if count <= end - at else -1), at
    return -1, at


@inline
def keys_end(buffer: Any, base: Any, count: Any, width: Any, heap: Any, stop: Any) -> Any:
    """Where the keys of an object end, which lie one behind the other from ``heap`` on in ascending order, each
    longer than the one before or greater; -1 if they do not."""
    floor = heap
    last = heap
    last_length = -1
    for entry in range(base + 2 * width, base + 2 * width + count * (width + 2), width + 2):
        begin = base + signed(load16(buffer, entry) if width == 2 else load32(buffer, entry))
        length = signed(load16(buffer, entry + width))
        if begin < floor or begin + length > stop or length < last_length:
            return -1
        if length == last_length:
            place = 0
            while place < length and load8(buffer, last + place) == load8(buffer, begin + place):
                place += 1
            if place == length or load8(buffer, last + place) > load8(buffer, begin + place):
                return -1
        last = begin
        last_length = length
        floor = begin + length
    return floor


@inline
def _keep(stack: Any, depth: Any, base: Any, entry: Any, count: Any, kind: Any, stop: Any) -> None:
    """Keep a container on the stack: its place, entry number, entry count, type and end."""
    kept = 8 * _KEPT * depth
    store64(stack, kept, unsigned(np.int64(base)))
    store64(stack, kept + 8, unsigned(np.int64(entry)))
    store64(stack, kept + 16, unsigned(np.int64(count)))
    store64(stack, kept + 24, unsigned(np.int64(kind)))
    store64(stack, kept + 32, unsigned(np.int64(stop)))


@inline
def _kept(stack: Any, depth: Any) -> Any:
    """What :func:`_keep` kept."""
    kept = 8 * _KEPT * depth
    return (
        signed(load64(stack, kept)), signed(load64(stack, kept + 8)), signed(load64(stack, kept + 16)),
        signed(load64(stack, kept + 24)), signed(load64(stack, kept + 32)),
    )  # fmt: skip


@inline
def _write_string(buffer: Any, begin: Any, count: Any, out: Any, o: Any, limit: Any) -> Any:
    if 6 * count + 2 > limit - o and not quoted_fits(buffer, begin, count, limit - o):
        return np.int64(_FULL)
    return write_quoted(buffer, begin, count, out, o)


@inline
def _check_string(buffer: Any, begin: Any, count: Any, out: Any, o: Any, limit: Any) -> Any:
    seen = _ZERO
    at, end = begin, begin + count
    while end - at >= 8:
        seen |= load64(buffer, at)
        at += 8
    if at < end:
        seen |= load64(buffer, at) & ((_ONE << unsigned(8 * (end - at))) - _ONE)
    return o if seen & HIGH == _ZERO or is_well_formed(buffer, begin, end, 4) else np.int64(_ODD)


@inline
def _write_integer(buffer: Any, code: Any, value: Any, out: Any, o: Any) -> Any:
    if code <= _UINT16:
        number = load16(buffer, value)
        top = np.uint64(48)
    elif code <= _UINT32:
        number = load32(buffer, value)
        top = np.uint64(32)
    else:
        number = load64(buffer, value)
        top = _ZERO
    if code & 1:  # signed
        wide = signed(number << top) >> signed(top)
        if wide < 0:
            store8(out, o, _MINUS)
            o += 1
            wide = -wide
        number = unsigned(wide)
    return write_unsigned(number, out, o)


@inline
def _write_literal(literal: Any, out: Any, o: Any) -> Any:
    store32(out, o, _NULL if literal == 0 else (_TRUE if literal == 1 else _FALS))
    store8(out, o + 4, _LETTER_E)
    return o + (5 if literal == 2 else 4)


def _scalar_of(writes: bool) -> Any:
    string = _write_string if writes else _check_string

    @inline
    def scalar(buffer: Any, code: Any, value: Any, stop: Any, out: Any, o: Any, limit: Any, powers: Any) -> Any:
        """(place behind, place in ``out``) of a value that is no container, not beyond ``stop``."""
        if code == _STRING:
            count, begin = length_behind(buffer, value, stop)
            return begin + count, (string(buffer, begin, count, out, o, limit) if count >= 0 else np.int64(_ODD))
        if _INT16 <= code <= _UINT64:
            behind = value + (2 << ((code - _INT16) >> 1))
            if behind > stop:
                return behind, np.int64(_ODD)
            return behind, (_write_integer(buffer, code, value, out, o) if writes else o)
        if code == _LITERAL:
            literal = signed(load8(buffer, value)) if value < stop else 3
            if literal > 2:
                return value, np.int64(_ODD)
            return value + 1, (_write_literal(literal, out, o) if writes else o)
        if code == _DOUBLE and value + 8 <= stop:
            bits = load64(buffer, value)
            if (bits >> _EXPONENT_AT) & _INFINITE != _INFINITE:
                return value + 8, (write_double(bits, powers, out, o) if writes else o)
        return value, np.int64(_ODD)

    return scalar


# The innermost open container is kept in variables, those around it on ``stack``.  Everything that the reference
# demands of a document is checked before it is believed; parts of a container have to lie in the order of their
# entries here, which says at once that none overlap.
def _walk_of(writes: bool) -> Any:
    scalar, string = _scalar_of(writes), _write_string if writes else _check_string

    @inline
    def walk(buffer: Any, begin: Any, end: Any, out: Any, o: Any, limit: Any, stack: Any, powers: Any) -> Any:
        """The place behind the text of the document ``buffer[begin:end]`` at ``out[o]``; _ODD or _FULL."""
        code, value, stop = signed(load8(buffer, begin)), begin + 1, end
        base = floor = value
        depth = entry = count = kind = np.int64(0)
        inlined = False
        while True:
            if o > limit:
                return np.int64(_FULL)
            if code <= _LARGE_ARRAY:
                width = 4 if code & 1 else 2
                if depth == _MAX_DEPTH or value + 2 * width > stop or (code & 1 and depth > 0 and not kind & 1):
                    return np.int64(_ODD)
                _keep(stack, depth, base, entry, count, kind, stop)
                depth += 1
                kind, base, entry = code, value, np.int64(0)
                count = signed(load16(buffer, base) if width == 2 else load32(buffer, base))
                size = signed(load16(buffer, base + 2) if width == 2 else load32(buffer, base + 4))
                is_object = code <= _LARGE_OBJECT
                floor = base + 2 * width + count * (1 + width) + (count * (width + 2) if is_object else 0)
                if size > stop - base or floor > base + size:
                    return np.int64(_ODD)
                stop = base + size
                if is_object:
                    floor = keys_end(buffer, base, count, width, floor, stop)
                    if floor < 0:
                        return np.int64(_ODD)
                if writes:
                    store8(out, o, _OPEN_OBJECT if is_object else _OPEN_ARRAY)
                    o += 1
            else:
                behind, o = scalar(buffer, code, value, stop, out, o, limit, powers)
                if o < 0:
                    return o
                if not inlined:
                    floor = behind
            # What follows: the next entry of the innermost container, or its end.
            while depth > 0 and entry == count:
                if writes:
                    store8(out, o, _CLOSE_OBJECT if kind <= _LARGE_OBJECT else _CLOSE_ARRAY)
                    o += 1
                floor = stop
                depth -= 1
                base, entry, count, kind, stop = _kept(stack, depth)
                if o > limit:
                    return np.int64(_FULL)
            if depth == 0:
                return o if floor == end else np.int64(_ODD)
            if writes and entry > 0:
                store16(out, o, _NEXT)
                o += 2
            width = 4 if kind & 1 else 2
            place = base + 2 * width + entry * (1 + width)
            if kind <= _LARGE_OBJECT:
                key = base + 2 * width + entry * (width + 2)
                size = signed(load16(buffer, key + width))
                key = base + signed(load16(buffer, key) if width == 2 else load32(buffer, key))
                o = string(buffer, key, size, out, o, limit)
                if o < 0:
                    return o
                if writes:
                    store16(out, o, _OF)
                    o += 2
                place += count * (width + 2)
            entry += 1
            code, value = signed(load8(buffer, place)), place + 1
            inlined = _LITERAL <= code <= _UINT16 or (width == 4 and _INT32 <= code <= _UINT32)
            if not inlined:
                value = base + signed(load16(buffer, value) if width == 2 else load32(buffer, value))
                if value < floor or value >= stop:
                    return np.int64(_ODD)

    return walk


write_document, _check = _walk_of(True), _walk_of(False)


@kernel
def _write_texts(cells: Any, places: Any, row: Any, data: Any, at: Any, texts: Any, odds: Any, table: Any) -> Any:
    """Texts of the rows from ``row`` on, at ``data[at]``; (row, at, odds) of the first that there is no room for."""
    off, length = places
    offsets, odd, kept = texts
    buffer, out, powers, stack = memory(cells), memory(data), memory(table), memory(kept)
    limit = data.size - ROOM
    while row < off.size:
        begin, size, o = off[row], length[row], at
        if begin >= 0 and o > limit:
            break
        if begin >= 0 and size == 0:
            store32(out, o, _NULL)
            o += 4
        elif begin >= 0:
            o = (
                write_document(buffer, begin, begin + size, out, o, limit, stack, powers)
                if size > 0
                else np.int64(_ODD)
            )
        if o == _FULL:
            break
        if o == _ODD:
            odd[odds] = row
            odds += 1
        else:
            at = o
        row += 1
        offsets[row] = at
    return row, at, odds


@kernel
def _find_others(values: Any, starts: Any, lengths: Any, kept: Any, table: Any, odd: Any) -> Any:
    buffer, powers, stack = memory(values), memory(table), memory(kept)
    last = len(values) - SPILL
    found = 0
    for row in range(len(lengths)):
        begin, end = starts[row], starts[row] + np.int64(lengths[row])
        if end > begin and (end > last or _check(buffer, begin, end, buffer, np.int64(0), np.int64(0), stack, powers)):
            odd[found] = row
            found += 1
    return found


def unchecked_documents(values: Bytes, starts: Any, lengths: Numbers) -> Numbers:
    """The rows (ascending) whose ``lengths[i]`` bytes from ``values[starts[i]]`` are perhaps no document.

    All others have a text.  ``starts`` is int64.
    """
    values = values.view()
    values.flags.writeable = False  # Whoever made them: of one type, for which the kernel is compiled.
    odd = np.empty(len(lengths), np.int32)
    found = _find_others(values, starts, lengths, np.empty(STACK, np.uint8), powers_of_ten(), odd)
    return odd[:found]


class Texts(NamedTuple):
    """A batch of texts as an Arrow string column has them, and the rows that the kernel did not take."""

    #: int32, one more than rows; a NULL or absent cell and an odd row have no bytes.
    offsets: Any
    #: The texts, UTF-8.
    data: Any
    #: int32 numbers of the rows for the reference, ascending.
    odd: Any


def documents_text(buffer: Any, off: Any, length: Any) -> Texts:
    """The texts of the documents ``buffer[off[i] : off[i] + length[i]]``; a negative ``off`` has none.

    ``buffer`` is uint8, ``off`` and ``length`` are int32 or int64.  The texts are those of
    :meth:`forge.values.json.codec.JsonCodec.text`.  A negative ``length`` -1 - n: the n bytes are the
    diffs of a partial update.  Odd rows are these, documents that the reference refuses, opaque values, and a few that
    no server writes; :func:`forge.bulk.json.cells.json_texts` has it decide.  Raises ScenarioError for texts
    that together pass the 2 GiB of an Arrow string column.
    """
    rows = len(off)
    sizes = np.maximum(length, -1 - length).astype(np.int64)
    end = int((off + sizes).max(initial=0))
    if end > len(buffer):
        raise ValueError(f"a cell ends at {end}, the buffer at {len(buffer)}")
    if end + SLACK > len(buffer):
        buffer = np.concatenate([buffer, np.zeros(SLACK, np.uint8)])
    # Of one type each, for which the kernel is compiled.
    buffer = buffer.view()
    buffer.flags.writeable = False
    off, length = np.array(off, np.int64), np.array(length, np.int64)
    offsets = np.zeros(rows + 1, np.int32)
    odd = np.empty(rows, np.int32)
    texts = offsets, odd, np.empty(STACK, np.uint8)
    data = np.empty(2 * int(sizes.sum()) + 2 * ROOM, np.uint8)
    row = at = odds = 0
    while True:
        row, at, odds = _write_texts(buffer, (off, length), row, data, at, texts, odds, powers_of_ten())
        if at > _LARGEST or len(data) > 4 * _LARGEST:
            raise ScenarioError("the JSON texts of one batch pass 2 GiB", expected="fewer rows in a batch")
        if row == rows:
            return Texts(offsets, data[:at], odd[:odds])
        more = np.empty(2 * len(data), np.uint8)
        more[:at] = data[:at]
        data = more
