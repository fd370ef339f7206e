"""A parsed document in flat memory: its nodes, and the members of its containers in the order of the binary form.

A node has eight words.  Their numbers are added to ``FIELDS * node``:

==========  ============================================================================================
KIND        the type code of the binary form
VALUE       an integer or the bits of a double; the place of a string; where a container's members begin
COUNT       bytes of a string; members of a container
SIZE        bytes of the value where it is not inlined, without its type
KEY         the place of its key, for a member of an object
KEY_BYTES   bytes of the key
KEY_WORD    the first eight bytes of the key, so that numbers compare as they do, zeros behind a shorter one
==========  ============================================================================================
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json.unquoting import held_in
from forge.bulk.machine import inline, load8, load64, signed, store64, swap64, unsigned
from forge.values.json import binary

FIELDS: Final = 8
KIND, VALUE, COUNT, SIZE, KEY, KEY_BYTES, KEY_WORD = range(7)

_ZERO, _EIGHT = np.uint64(0), np.uint64(8)
_LITERAL, _UINT16, _INT32, _UINT32 = binary.LITERAL, binary.UINT16, binary.INT32, binary.UINT32
#: Members that are moved by insertion until a document is left to the reference.
_MOST_MOVED = 1 << 14


@inline
def get(words: Any, index: Any) -> Any:
    """The int64 number ``index`` of a buffer."""
    return signed(load64(words, 8 * index))


@inline
def put(words: Any, index: Any, number: Any) -> None:
    """Stores the int64 number ``index`` of a buffer."""
    store64(words, 8 * index, unsigned(number))


@inline
def is_inlined(kind: Any, width: Any) -> Any:
    """As :func:`forge.values.json.binary.is_inlined`."""
    return _LITERAL <= kind <= _UINT16 or (width == 4 and _INT32 <= kind <= _UINT32)


@inline
def key_word(key: Any, count: Any, text: Any, scratch: Any) -> Any:
    """KEY_WORD of a key."""
    if count == 0:
        return 0
    source, at = held_in(key, text, scratch)
    word = swap64(load64(source, at))
    if count < 8:
        unused = _EIGHT * unsigned(8 - count)
        word = (word >> unused) << unused
    return signed(word)


@inline
def _order(tape: Any, left: Any, right: Any, text: Any, scratch: Any) -> Any:
    """Below, at or above 0 as the key of the node ``left`` is before that of ``right``, equal or behind it."""
    left *= FIELDS
    right *= FIELDS
    count = get(tape, left + KEY_BYTES)
    longer = count - get(tape, right + KEY_BYTES)
    if longer != 0:
        return longer
    one = load64(tape, 8 * (left + KEY_WORD))
    other = load64(tape, 8 * (right + KEY_WORD))
    if one != other:
        return -1 if one < other else 1
    if count > 8:
        a, begin = held_in(get(tape, left + KEY), text, scratch)
        b, second = held_in(get(tape, right + KEY), text, scratch)
        for step in range(8, count):
            difference = signed(load8(a, begin + step)) - signed(load8(b, second + step))
            if difference != 0:
                return difference
    return 0


@inline
def sort_members(nodes: Any, first: Any, count: Any, tape: Any, text: Any, scratch: Any) -> Any:
    """Sorts ``count`` members from ``nodes[first]`` on as the server does; of equal keys the last one stays.

    The number of those that are left; -1 if they are many that are not sorted yet.
    """
    moved = kept = np.int64(0)
    for index in range(first, first + count):
        node = get(nodes, index)
        slot = first + kept
        order = 1
        while slot > first:
            order = _order(tape, node, get(nodes, slot - 1), text, scratch)
            if order >= 0:
                break
            put(nodes, slot, get(nodes, slot - 1))
            slot -= 1
            moved += 1
        if moved > _MOST_MOVED:
            return np.int64(-1)
        if order == 0 and slot > first:
            # The others stay where they are: those behind were moved by one.
            put(nodes, slot - 1, node)
            for place in range(slot, first + kept):
                put(nodes, place, get(nodes, place + 1))
        else:
            put(nodes, slot, node)
            kept += 1
    return kept
