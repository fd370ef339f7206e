"""JSON text to a tape, of which every size is known when a container closes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json.numbers import UNDECIDED, read_number
from forge.bulk.json.tape import (
    COUNT,
    FIELDS,
    KEY,
    KEY_BYTES,
    KEY_WORD,
    KIND,
    SIZE,
    VALUE,
    get,
    is_inlined,
    key_word,
    put,
    sort_members,
)
from forge.bulk.json.unquoting import read_string
from forge.bulk.machine import inline, kernel, load8, load32, signed
from forge.values.json import binary

#: What parsing says of a text: it is on the tape; the reference has to look at it; the tape is full.
DONE, ODD, FULL = 0, 1, 2
#: Words of the stack that parsing and writing need.
STACK_WORDS: Final = 3 * binary.MAX_DEPTH

_MAX_DEPTH, _MAX_KEY_LENGTH = binary.MAX_DEPTH, binary.MAX_KEY_LENGTH
_SMALL_OBJECT, _LARGE_OBJECT, _SMALL_ARRAY, _LARGE_ARRAY = range(4)
_LITERAL, _INT16, _INT32, _INT64 = binary.LITERAL, binary.INT16, binary.INT32, binary.INT64
_UINT64, _STRING = binary.UINT64, binary.STRING
_SMALL_MAX, _LARGE_MAX = 0xFFFF, 0xFFFFFFFF
_QUOTE, _COLON, _COMMA, _MINUS, _NOUGHT, _NINE = (ord(sign) for sign in '":,-09')
_OPEN_OBJECT, _CLOSE_OBJECT, _CLOSE_ARRAY = (ord(sign) for sign in "{}]")
_NULL, _TRUE, _FALS = (np.uint64(int.from_bytes(word, "little")) for word in (b"null", b"true", b"fals"))
_LETTER_E = np.uint64(ord("e"))
#: The bit between upper and lower case, and between brackets and braces.
_LOWER_CASE = 0x20


@inline
def _behind_space(text: Any, at: Any) -> Any:
    """The place of the first byte from ``at`` on that is no white space."""
    while True:
        byte = signed(load8(text, at))
        if byte > 0x20 or (byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09):
            return at
        at += 1


@inline
def length_size(count: Any) -> Any:
    """Bytes of a variable length."""
    return (
        1 if count < 1 << 7 else (2 if count < 1 << 14 else (3 if count < 1 << 21 else (4 if count < 1 << 28 else 5)))
    )


@inline
def _close(tape: Any, node: Any, is_object: Any, nodes: Any, first: Any, count: Any, members: Any, listed: Any) -> Any:
    """Ends a container of ``count`` members, sorted: lists them from ``members[listed]`` on and sums their sizes."""
    small = 4 + count * (7 if is_object else 3)
    large = 8 + count * (11 if is_object else 5)
    holds_large = False
    for index in range(count):
        member = get(nodes, first + index)
        put(members, listed + index, member)
        member *= FIELDS
        kind = get(tape, member + KIND)
        size = get(tape, member + SIZE)
        holds_large |= kind <= _LARGE_ARRAY and kind & 1 == 1
        if is_object:
            key = get(tape, member + KEY_BYTES)
            small += key
            large += key
        if not is_inlined(kind, 2):
            small += size
        if not is_inlined(kind, 4):
            large += size
    node *= FIELDS
    put(tape, node + VALUE, listed)
    put(tape, node + COUNT, count)
    if holds_large or small > _SMALL_MAX:
        put(tape, node + KIND, _LARGE_OBJECT if is_object else _LARGE_ARRAY)
        put(tape, node + SIZE, large)
        return large <= _LARGE_MAX
    put(tape, node + KIND, _SMALL_OBJECT if is_object else _SMALL_ARRAY)
    put(tape, node + SIZE, small)
    return True


@inline
def _read_key(text: Any, at: Any, end: Any, scratch: Any, used: Any) -> Any:
    """(place, bytes, place of the value, used) of a key; -1 bytes if it is none."""
    if signed(load8(text, at)) != _QUOTE:
        return np.int64(0), np.int64(-1), at, used
    key, count, at, used = read_string(text, at + 1, end, scratch, used)
    if count < 0 or count > _MAX_KEY_LENGTH:
        return key, np.int64(-1), at, used
    at = _behind_space(text, at)
    if signed(load8(text, at)) != _COLON:
        return key, np.int64(-1), at, used
    return key, count, _behind_space(text, at + 1), used


@inline
def _put_key(tape: Any, word: Any, key: Any, count: Any, first: Any) -> None:
    put(tape, word + KEY, key)
    put(tape, word + KEY_BYTES, count)
    put(tape, word + KEY_WORD, first)


@inline
def _keep(stack: Any, depth: Any, first: Any, is_object: Any, node: Any) -> None:
    put(stack, 3 * depth, first)
    put(stack, 3 * depth + 1, 1 if is_object else 0)
    put(stack, 3 * depth + 2, node)


@inline
def _put_value(tape: Any, word: Any, kind: Any, value: Any, count: Any, size: Any) -> None:
    put(tape, word + KIND, kind)
    put(tape, word + VALUE, value)
    put(tape, word + COUNT, count)
    put(tape, word + SIZE, size)


@inline
def _read_number(text: Any, at: Any, end: Any, powers: Any) -> Any:
    """(type, value, its bytes, place behind) of a number, 0 bytes if the reference has to look at it."""
    kind, bits, at = read_number(text, at, end, powers)
    number, size = signed(bits), 0 if kind == UNDECIDED else 8
    if kind == _INT64:
        if -0x8000 <= number <= 0x7FFF:
            kind, size = _INT16, 2
        elif -0x80000000 <= number <= 0x7FFFFFFF:
            kind, size = _INT32, 4
        elif number > 0xFFFFFFFF:
            kind = _UINT64
    return kind, number, size, at


@inline
def _read_scalar(text: Any, at: Any, end: Any, byte: Any, powers: Any) -> Any:
    """The same of a number, which begins with that byte, or of null, true or false, 0 bytes if it is none."""
    if byte == _MINUS or _NOUGHT <= byte <= _NINE:
        return _read_number(text, at, end, powers)
    word = load32(text, at)
    if word == _NULL:
        return np.int64(_LITERAL), np.int64(0), 1, at + 4
    if word == _TRUE:
        return np.int64(_LITERAL), np.int64(1), 1, at + 4
    if word == _FALS and load8(text, at + 4) == _LETTER_E:
        return np.int64(_LITERAL), np.int64(2), 1, at + 5
    return np.int64(_LITERAL), np.int64(0), 0, at


@kernel
def parse(
    text: Any, at: Any, end: Any, tape: Any, room: Any, nodes: Any, members: Any, scratch: Any, stack: Any, powers: Any
) -> Any:
    """The document ``text[at:end]`` on the tape, the root as node 0: DONE, or ODD, or FULL if ``room`` nodes are few.

    All buffers are memory.  ``nodes`` and ``members`` have room for a number each per node.  A member waits in
    ``nodes`` until its container closes, and is then one of its ``members``.
    """
    # np.int64: numba would compile what is called with a literal 0 for this value alone, and then again.
    made = waiting = listed = used = depth = first = np.int64(0)
    key = key_bytes = 0
    is_object = wants_key = False
    while True:
        at = _behind_space(text, at)
        if wants_key:
            key, key_bytes, at, used = _read_key(text, at, end, scratch, used)
            if key_bytes < 0:
                return ODD
        if at >= end:
            return ODD
        if made == room:
            return FULL
        node = made
        word = FIELDS * node
        made += 1
        if is_object:
            _put_key(tape, word, key, key_bytes, key_word(key, key_bytes, text, scratch))
        byte = signed(load8(text, at))
        closes = False
        if byte == _QUOTE:
            place, count, at, used = read_string(text, at + 1, end, scratch, used)
            if count < 0:
                return ODD
            _put_value(tape, word, _STRING, place, count, length_size(count) + count)
        elif byte | _LOWER_CASE == _OPEN_OBJECT:  # or an array
            if depth == _MAX_DEPTH:
                return ODD
            _keep(stack, depth, first, is_object, node)
            depth, first = depth + 1, waiting
            is_object = byte == _OPEN_OBJECT
            at = _behind_space(text, at + 1)
            closes = signed(load8(text, at)) == (_CLOSE_OBJECT if is_object else _CLOSE_ARRAY)
            wants_key = is_object
            if not closes:
                continue
        else:
            kind, number, size, at = _read_scalar(text, at, end, byte, powers)
            if size == 0:
                return ODD
            _put_value(tape, word, kind, number, 0, size)
        # What follows: the end of containers, then the next member, or the end of the text.
        while True:
            if closes:
                count = waiting - first
                depth -= 1
                node = get(stack, 3 * depth + 2)
                if is_object and count > 1:
                    count = sort_members(nodes, first, count, tape, text, scratch)
                if count < 0 or not _close(tape, node, is_object, nodes, first, count, members, listed):
                    return ODD
                listed += count
                waiting = first
                first = get(stack, 3 * depth)
                is_object = get(stack, 3 * depth + 1) == 1
                at += 1
            if at > end:
                return ODD
            at = _behind_space(text, at)
            if depth == 0:
                return DONE if at >= end else ODD
            put(nodes, waiting, node)
            waiting += 1
            byte = signed(load8(text, at))
            if byte == _COMMA:
                at += 1
                wants_key = is_object
                break
            if byte != (_CLOSE_OBJECT if is_object else _CLOSE_ARRAY):
                return ODD
            closes = True
