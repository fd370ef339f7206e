"""Binary documents of a whole batch as the server's text, in the buffers of an Arrow string column."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from forge.bulk.json import doubles, opaque, strings
from forge.bulk.json.doubles import write_double, write_unsigned
from forge.bulk.json.opaque import write_opaque
from forge.bulk.json.powers import powers_of_ten
from forge.bulk.json.strings import quoted_fits, write_quoted
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
    unsigned,
)
from forge.errors import ScenarioError
from forge.values.json import binary

_SMALL_OBJECT, _LARGE_OBJECT = binary.SMALL_OBJECT, binary.LARGE_OBJECT
_LARGE_ARRAY, _LITERAL, _INT16, _UINT16 = binary.LARGE_ARRAY, binary.LITERAL, binary.INT16, binary.UINT16
_INT32, _UINT32, _UINT64 = binary.INT32, binary.UINT32, binary.UINT64
_DOUBLE, _STRING, _OPAQUE = binary.DOUBLE, binary.STRING, binary.OPAQUE
_MAX_DEPTH = binary.MAX_DEPTH

#: Room that is there before every token, beyond what a string or opaque value asks for itself.
_ROOM: Final = 2 * max(doubles.LONGEST + doubles.SPILL, opaque.LONGEST + strings.SPILL)
#: What the stack keeps of a container: its place, entry number, entry count, type and end.
KEPT: Final = 5
#: Bytes that an Arrow string column holds.
_LARGEST: Final = 2**31 - 1

_ZERO, _ONE, _MINUS = np.uint64(0), np.uint64(1), np.uint64(ord("-"))
_SIGN_AT, _EXPONENT_AT, _INFINITE = np.uint64(63), np.uint64(52), np.uint64(0x7FF)
_NULL, _TRUE, _FALS = (np.uint64(int.from_bytes(word, "little")) for word in (b"null", b"true", b"fals"))
_LETTER_E = np.uint64(ord("e"))
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = (np.uint64(ord(sign)) for sign in "{}[]")
_NEXT, _OF = np.uint64(int.from_bytes(b", ", "little")), np.uint64(int.from_bytes(b": ", "little"))
_LONG_BYTE, _SEVEN_BITS = 0x80, 0x7F

#: How a row ends: written, left to the reference, or out of room.
_DONE, _ODD, _FULL = 0, 1, 2


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


@kernel
def _write_texts(
    cells: Any,
    off: Any,
    length: Any,
    row: Any,
    data: Any,
    at: Any,
    offsets: Any,
    odd: Any,
    odds: Any,
    stack: Any,
    table: Any,
) -> Any:
    """Texts of the rows from ``row`` on, at ``out[at]``; (row, at, odds) of the first that ``out`` has no room for.

    The innermost open container is kept in variables, those around it on ``stack``.  Everything that the reference
    demands of a document is checked before it is believed; parts of a container have to lie in the order of their
    entries here, which says at once that none overlap.
    """
    buffer = memory(cells)
    out = memory(data)
    powers = memory(table)
    rows = off.size
    limit = data.size - _ROOM
    while row < rows:
        begin = off[row]
        o = at
        outcome = _DONE
        if begin >= 0 and o > limit:
            break
        size = length[row]
        if begin < 0:
            pass
        elif size < 0:
            outcome = _ODD
        elif size == 0:
            store32(out, o, _NULL)
            o += 4
        else:
            end = begin + size
            code = signed(load8(buffer, begin))
            value = begin + 1
            depth = 0
            base = value
            entry = 0
            count = 0
            kind = 0
            stop = end
            floor = value
            inlined = False
            while True:
                # One value of type ``code`` at ``value``, not beyond ``stop``.
                behind = value
                if o > limit:
                    outcome = _FULL
                    break
                if code == _STRING:
                    bytes_, behind = length_behind(buffer, value, stop)
                    if bytes_ < 0:
                        outcome = _ODD
                        break
                    if 6 * bytes_ + 2 > limit - o and not quoted_fits(buffer, behind, bytes_, limit - o):
                        outcome = _FULL
                        break
                    o = write_quoted(buffer, behind, bytes_, out, o)
                    if o < 0:
                        outcome = _ODD
                        break
                    behind += bytes_
                elif _INT16 <= code <= _UINT64:
                    behind = value + (2 << ((code - _INT16) >> 1))
                    if behind > stop:
                        outcome = _ODD
                        break
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
                    o = write_unsigned(number, out, o)
                elif code <= _LARGE_ARRAY:
                    width = 4 if code & 1 else 2
                    if depth == _MAX_DEPTH or value + 2 * width > stop or (code & 1 and depth > 0 and not kind & 1):
                        outcome = _ODD
                        break
                    kept = KEPT * depth
                    stack[kept] = base
                    stack[kept + 1] = entry
                    stack[kept + 2] = count
                    stack[kept + 3] = kind
                    stack[kept + 4] = stop
                    depth += 1
                    kind = code
                    base = value
                    entry = 0
                    count = signed(load16(buffer, base) if width == 2 else load32(buffer, base))
                    size = signed(load16(buffer, base + 2) if width == 2 else load32(buffer, base + 4))
                    is_object = code <= _LARGE_OBJECT
                    floor = base + 2 * width + count * (1 + width) + (count * (width + 2) if is_object else 0)
                    if size > stop - base or floor > base + size:
                        outcome = _ODD
                        break
                    stop = base + size
                    if is_object:
                        floor = keys_end(buffer, base, count, width, floor, stop)
                        if floor < 0:
                            outcome = _ODD
                            break
                    store8(out, o, _OPEN_OBJECT if is_object else _OPEN_ARRAY)
                    o += 1
                    inlined = True  # its end is looked at when it closes
                elif code == _LITERAL:
                    behind = value + 1
                    literal = signed(load8(buffer, value)) if value < stop else 3
                    if literal > 2:
                        outcome = _ODD
                        break
                    store32(out, o, _NULL if literal == 0 else (_TRUE if literal == 1 else _FALS))
                    store8(out, o + 4, _LETTER_E)
                    o += 5 if literal == 2 else 4
                elif code == _DOUBLE:
                    behind = value + 8
                    bits = load64(buffer, value) if behind <= stop else ~_ZERO
                    if (bits >> _EXPONENT_AT) & _INFINITE == _INFINITE:
                        outcome = _ODD
                        break
                    o = write_double(bits, powers, out, o)
                elif code == _OPAQUE:
                    bytes_ = -1
                    if value < stop:
                        bytes_, behind = length_behind(buffer, value + 1, stop)
                    if bytes_ < 0:
                        outcome = _ODD
                        break
                    column_type = signed(load8(buffer, value))
                    if (6 if column_type == opaque.TEXT else 2) * bytes_ > limit - o:
                        outcome = _FULL
                        break
                    o = write_opaque(column_type, buffer, behind, bytes_, out, o)
                    if o < 0:
                        outcome = _ODD
                        break
                    behind += bytes_
                else:
                    outcome = _ODD
                    break
                if not inlined:
                    floor = behind
                # What follows: the next entry of the innermost container, or its end.
                while depth > 0 and entry == count:
                    store8(out, o, _CLOSE_OBJECT if kind <= _LARGE_OBJECT else _CLOSE_ARRAY)
                    o += 1
                    floor = stop
                    depth -= 1
                    kept = KEPT * depth
                    base = stack[kept]
                    entry = stack[kept + 1]
                    count = stack[kept + 2]
                    kind = stack[kept + 3]
                    stop = stack[kept + 4]
                    if o > limit:
                        outcome = _FULL
                        break
                if outcome != _DONE:
                    break
                if depth == 0:
                    if floor != end:
                        outcome = _ODD
                    break
                if entry > 0:
                    store16(out, o, _NEXT)
                    o += 2
                width = 4 if kind & 1 else 2
                place = base + 2 * width
                if kind <= _LARGE_OBJECT:
                    key = place + entry * (width + 2)
                    bytes_ = signed(load16(buffer, key + width))
                    key = base + signed(load16(buffer, key) if width == 2 else load32(buffer, key))
                    if 6 * bytes_ + 2 > limit - o and not quoted_fits(buffer, key, bytes_, limit - o):
                        outcome = _FULL
                        break
                    o = write_quoted(buffer, key, bytes_, out, o)
                    if o < 0:
                        outcome = _ODD
                        break
                    store16(out, o, _OF)
                    o += 2
                    place += count * (width + 2)
                place += entry * (1 + width)
                entry += 1
                code = signed(load8(buffer, place))
                value = place + 1
                inlined = _LITERAL <= code <= _UINT16 or (width == 4 and _INT32 <= code <= _UINT32)
                if not inlined:
                    value = base + signed(load16(buffer, value) if width == 2 else load32(buffer, value))
                    if value < floor or value >= stop:
                        outcome = _ODD
                        break
        if outcome == _FULL:
            break
        if outcome == _ODD:
            odd[odds] = row
            odds += 1
        else:
            at = o
        row += 1
        offsets[row] = at
    return row, at, odds


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
    diffs of a partial update.  Odd rows are these, documents that the reference refuses, and a few that no server
    writes; :func:`forge.bulk.json.cells.json_texts` has it decide.  Raises ScenarioError for texts
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
    stack = np.empty(KEPT * _MAX_DEPTH, np.int64)
    data = np.empty(2 * int(sizes.sum()) + 2 * _ROOM, np.uint8)
    row = at = odds = 0
    while True:
        row, at, odds = _write_texts(buffer, off, length, row, data, at, offsets, odd, odds, stack, powers_of_ten())
        if at > _LARGEST or len(data) > 4 * _LARGEST:
            raise ScenarioError("the JSON texts of one batch pass 2 GiB", expected="fewer rows in a batch")
        if row == rows:
            return Texts(offsets, data[:at], odd[:odds])
        more = np.empty(2 * len(data), np.uint8)
        more[:at] = data[:at]
        data = more
