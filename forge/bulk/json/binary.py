"""JSON texts of a whole batch as the server's binary documents."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from forge.bulk.json.parsing import DONE, FULL, STACK_WORDS, parse
from forge.bulk.json.powers import powers_of_ten
from forge.bulk.json.tape import COUNT, FIELDS, KEY, KEY_BYTES, KIND, SIZE, VALUE, get, is_inlined, put
from forge.bulk.json.unquoting import copy_short, held_in
from forge.bulk.machine import SLACK, inline, kernel, memory, store8, store16, store32, store64, unsigned
from forge.values.json import binary

_LARGE_OBJECT, _LARGE_ARRAY = binary.LARGE_OBJECT, binary.LARGE_ARRAY
_INT32, _STRING = binary.INT32, binary.STRING

#: Nodes that the tape has room for at first.
_NODES: Final = 4096


@inline
def _write_scalar(tape: Any, node: Any, text: Any, scratch: Any, out: Any, at: Any) -> Any:
    """A string or number that does not stand in its entry, at ``out[at]``; the place behind."""
    node *= FIELDS
    kind = get(tape, node + KIND)
    if kind == _STRING:
        count = get(tape, node + COUNT)
        left = count
        while left > 0x7F:
            store8(out, at, unsigned(left & 0x7F | 0x80))
            left >>= 7
            at += 1
        store8(out, at, unsigned(left))
        source, begin = held_in(get(tape, node + VALUE), text, scratch)
        copy_short(source, begin, count, out, at + 1)
        return at + 1 + count
    # Little-endian, as far as SIZE says; what is stored behind comes next.
    store64(out, at, unsigned(get(tape, node + VALUE)))
    return at + get(tape, node + SIZE)


@inline
def _write_head(tape: Any, node: Any, members: Any, text: Any, scratch: Any, out: Any, at: Any) -> Any:
    """Count, size, entries and keys of a container at ``out[at]``; the place behind, where its values begin."""
    node *= FIELDS
    kind = get(tape, node + KIND)
    first = get(tape, node + VALUE)
    count = get(tape, node + COUNT)
    is_object = kind <= _LARGE_OBJECT
    width = 4 if kind & 1 else 2
    # Four bytes are stored of every number: those behind a number of two are written after it.
    store32(out, at, unsigned(count))
    store32(out, at + width, unsigned(get(tape, node + SIZE)))
    at += 2 * width
    heap = 2 * width + count * (1 + width) + (count * (width + 2) if is_object else 0)
    if is_object:
        for index in range(first, first + count):
            key_bytes = get(tape, FIELDS * get(members, index) + KEY_BYTES)
            store32(out, at, unsigned(heap))
            store16(out, at + width, unsigned(key_bytes))
            at += width + 2
            heap += key_bytes
    for index in range(first, first + count):
        member = FIELDS * get(members, index)
        member_kind = get(tape, member + KIND)
        store8(out, at, unsigned(member_kind))
        if is_inlined(member_kind, width):
            store32(out, at + 1, unsigned(get(tape, member + VALUE)))
        else:
            store32(out, at + 1, unsigned(heap))
            heap += get(tape, member + SIZE)
        at += 1 + width
    if is_object:
        for index in range(first, first + count):
            member = FIELDS * get(members, index)
            key_bytes = get(tape, member + KEY_BYTES)
            source, begin = held_in(get(tape, member + KEY), text, scratch)
            copy_short(source, begin, key_bytes, out, at)
            at += key_bytes
    return at


@kernel
def write_document(tape: Any, members: Any, text: Any, scratch: Any, stack: Any, out: Any, at: Any) -> Any:
    """The document on the tape at ``out[at]``; the place behind, from which on SLACK bytes may be overwritten.

    Everything is written from the front to the back.  All buffers are memory.
    """
    store8(out, at, unsigned(get(tape, KIND)))
    at += 1
    if get(tape, KIND) > _LARGE_ARRAY:
        return _write_scalar(tape, np.int64(0), text, scratch, out, at)
    depth = node = np.int64(0)
    while True:
        at = _write_head(tape, node, members, text, scratch, out, at)
        index = get(tape, FIELDS * node + VALUE)
        end = index + get(tape, FIELDS * node + COUNT)
        width = 4 if get(tape, FIELDS * node + KIND) & 1 else 2
        # On to the next container inside; the ones around it wait on the stack.
        while True:
            node = np.int64(-1)
            while index < end:
                member = get(members, index)
                index += 1
                kind = get(tape, FIELDS * member + KIND)
                if kind <= _LARGE_ARRAY:
                    node = member
                    break
                if not is_inlined(kind, width):
                    at = _write_scalar(tape, member, text, scratch, out, at)
            if node >= 0:
                put(stack, 3 * depth, index)
                put(stack, 3 * depth + 1, end)
                put(stack, 3 * depth + 2, width)
                depth += 1
                break
            if depth == 0:
                return at
            depth -= 1
            index = get(stack, 3 * depth)
            end = get(stack, 3 * depth + 1)
            width = get(stack, 3 * depth + 2)


@kernel
def _write_documents(texts: Any, row: Any, out: Any, at: Any, found: Any, odds: Any, room: Any, buffers: Any) -> Any:
    """Documents of the rows from ``row`` on; (row, at, odds, full) of the first that needs a larger ``out`` or tape."""
    data, offsets, valid = texts
    ends, odd = found
    words, unescaped, kept, table = buffers
    text = memory(data)
    written = memory(out)
    tape = memory(words)
    nodes = memory(words[64 * room :])
    members = memory(words[72 * room :])
    scratch = memory(unescaped)
    stack = memory(kept)
    powers = memory(table)
    rows = valid.size
    while row < rows:
        if valid[row]:
            outcome = parse(text, offsets[row], offsets[row + 1], tape, room, nodes, members, scratch, stack, powers)
            if outcome == FULL:
                return row, at, odds, FULL
            if outcome == DONE:
                if at + 1 + get(tape, SIZE) + SLACK > out.size:
                    return row, at, odds, DONE
                at = write_document(tape, members, text, scratch, stack, written, at)
            else:
                odd[odds] = row
                odds += 1
        row += 1
        ends[row] = at
    return row, at, odds, DONE


class Documents(NamedTuple):
    """A batch of documents behind each other, and the rows that the kernel did not take."""

    #: int64, one more than rows; a NULL and an odd row have no bytes.
    offsets: Any
    #: The documents, without the length in front that a cell has.
    data: Any
    #: int32 numbers of the rows for the reference, ascending.
    odd: Any


def documents_binary(data: Any, offsets: Any, valid: Any = None) -> Documents:
    """The documents of the texts ``data[offsets[i] : offsets[i + 1]]``, as the server stores what is inserted as text.

    ``data`` is uint8, ``offsets`` int32 or int64, ``valid`` a bool for each row, or None if no row is NULL.  The bytes
    are those of :meth:`forge.values.json.codec.JsonCodec.accept`.  Odd rows are texts that the reference refuses,
    numbers that it has to round, and objects of many keys that are not in order: it decides.
    """
    rows = len(offsets) - 1
    begin, end = int(offsets[0]), int(offsets[-1])
    if not 0 <= begin <= end <= len(data):
        raise ValueError(f"the texts end at {end}, the buffer at {len(data)}")
    if end + SLACK > len(data):
        data = np.concatenate([data[:end], np.zeros(SLACK, np.uint8)])
    # Of one type each, for which the kernel is compiled.
    data = data.view()
    data.flags.writeable = False
    offsets = np.array(offsets, np.int64)
    valid = np.ones(rows, np.bool_) if valid is None else np.array(valid, np.bool_)
    texts = data, offsets, valid
    longest = int(np.diff(offsets).max(initial=0))
    ends = np.zeros(rows + 1, np.int64)
    odd = np.empty(rows, np.int32)
    scratch = np.empty(longest + SLACK, np.uint8)
    stack = np.empty(8 * STACK_WORDS, np.uint8)
    room = _NODES
    tape = np.empty(80 * room, np.uint8)
    out = np.empty(2 * (end - begin) + 4096, np.uint8)
    row = at = odds = 0
    while True:
        row, at, odds, full = _write_documents(
            texts, row, out, at, (ends, odd), odds, room, (tape, scratch, stack, powers_of_ten())
        )
        if row == rows:
            return Documents(ends, out[:at], odd[:odds])
        if full == FULL:
            room *= 4
            tape = np.empty(80 * room, np.uint8)
        else:
            more = np.empty(2 * len(out), np.uint8)
            more[:at] = out[:at]
            out = more
