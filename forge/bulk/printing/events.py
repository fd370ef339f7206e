"""The kernel that prints events as mysqlbinlog does: those that servers write for changed rows, one after the other.

It knows what it has met: the bytes of table maps, of what stands before rows, and of statements like BEGIN, and the
texts that the reference path made of them.  It returns at what is new, and hands over what is odd.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_unsigned
from forge.bulk.json.powers import powers_of_ten
from forge.bulk.machine import (
    are_same,
    copy,
    inline,
    load8,
    load16,
    load32,
    load64,
    memory,
    signed,
    store8,
)
from forge.bulk.printing import heads, words
from forge.bulk.printing import texts as fixed
from forge.bulk.printing.access import get, memory_at, put
from forge.bulk.printing.cells import FULL as NO_ROOM
from forge.bulk.printing.heads import (
    know_moment,
    put_base64,
    put_flags,
    put_header_line,
    put_number,
    put_place,
    put_span,
    put_text,
)
from forge.bulk.printing.images import put_image
from forge.bulk.printing.mariadb_heads import print_annotation, print_mariadb_gtid
from forge.bulk.printing.statement_heads import print_query, print_xid
from forge.bulk.printing.transaction_heads import print_gtid
from forge.bulk.printing.words import (
    DONE,
    ENDS,
    FULL,
    LAYOUT_WORDS,
    MAP_WORDS,
    MOST_MAPPED,
    NEW_LAYOUT,
    NEW_MAP,
    NEW_ZONE,
    NO_MORE,
    ODD,
    ODD_ROWS,
)
from forge.events.event import SIZE_OFFSET, SKIP_REPLICATION
from forge.events.format import HEADER_SIZE

_GTID, _ANONYMOUS, _QUERY, _XID, _TABLE_MAP, _WRITE, _UPDATE, _DELETE = 33, 34, 2, 16, 19, 30, 31, 32
_WRITE_1, _DELETE_1, _ANNOTATE, _MARIADB_GTID = 23, 25, 160, 162
#: Bytes that are left in a text before what is no cell, and before each cell.
ROOM: Final = 1 << 14
_ID: Final = np.uint64(0xFFFFFFFFFFFF)
_FLAGS_AT: Final = 17
_POWERS_OF_TEN: Final = powers_of_ten()


@inline
def _slot_of(table: Any, table_id: Any) -> Any:
    """The record of the table map that was met last with this id; -1 for none."""
    ids = memory_at(table, words.IDS)
    mask = (ids[1] >> 4) - 1
    at = (table_id * 0x9E3779B1 >> 7) & mask
    while get(ids, 2 * at) != -1:
        if get(ids, 2 * at) == table_id:
            return get(ids, 2 * at + 1)
        at = (at + 1) & mask
    return np.int64(-1)


@inline
def _mapped(table: Any, table_id: Any) -> Any:
    """The place of the id among the tables that are mapped; the place behind them if it is none."""
    mapped, count = memory_at(table, words.MAPPED), get(table, words.MAPPED_COUNT)
    place = np.int64(0)
    while place < count and get(mapped, 2 * place) != table_id:
        place += 1
    return place


@inline
def _add_to_block(table: Any, data: Any, at: Any, size: Any) -> None:
    if get(table, words.BLOCKS):
        block = memory_at(table, words.BLOCK)
        put(table, words.BLOCK_AT, put_base64(data, at, size, block, get(table, words.BLOCK_AT)))


@inline
def _has_room(table: Any, size: Any) -> Any:
    """Whether an event of that size fits the BINLOG statement."""
    needed = (size // heads.BASE64_LINE + 1) * (heads.BASE64_LINE + 20) + 64
    return not get(table, words.BLOCKS) or get(table, words.BLOCK_AT) + needed <= get(table, words.BLOCK + 1)


@inline
def _print_map(table: Any, data: Any, at: Any, size: Any, annotated: Any) -> Any:
    begin, end = at + HEADER_SIZE + 6, at + size - get(table, words.TAIL)
    if begin > end:
        return np.int64(ODD)
    table_id = signed(load64(data, begin - 6) & _ID)
    slot = _slot_of(table, table_id)
    if slot < 0:
        return np.int64(NEW_MAP)
    maps, texts, record = memory_at(table, words.MAPS), memory_at(table, words.TEXTS), slot * MAP_WORDS
    known = get(maps, record + words.MAP_SIZE)
    if known != end - begin or not are_same(texts, get(maps, record + words.MAP_AT), data, begin, known):
        return np.int64(NEW_MAP)
    place = _mapped(table, table_id)
    if not get(maps, record + words.USABLE) or place == MOST_MAPPED:
        return np.int64(ODD)
    if not _has_room(table, size):
        return np.int64(FULL)
    mapped, head = memory_at(table, words.MAPPED), memory_at(table, words.HEAD)
    put(mapped, 2 * place, table_id)
    put(mapped, 2 * place + 1, slot)
    if place == get(table, words.MAPPED_COUNT):
        put(table, words.MAPPED_COUNT, place + 1)
    if get(table, words.ALONE):
        _add_to_block(table, data, at, size)
        return np.int64(DONE)
    o = get(table, words.HEAD_AT)
    if annotated < 0:
        o = put_place(table, at, texts, head, o)
    o = put_header_line(table, data, at, size, texts, head, o)
    o = put_span(get(maps, record + words.BEFORE_AT), get(maps, record + words.BEFORE_SIZE), texts, head, o)
    o = write_unsigned(np.uint64(table_id), head, o)
    behind = words.KEYED_AT if get(table, words.TELLS_KEYS) else words.BEHIND_AT
    o = put_span(get(maps, record + behind), get(maps, record + behind + 1), texts, head, o)
    put(table, words.HEAD_AT, o)
    put(table, words.UNFINISHED, 1)
    _add_to_block(table, data, at, size)
    return np.int64(DONE)


@inline
def _print_annotated(table: Any, data: Any, at: Any, size: Any) -> Any:
    """The text of a statement, which is told with the first table that it changes, together with that."""
    following, end = at + size, get(table, words.END)
    if get(table, words.ALONE):
        return np.int64(DONE)
    if following + HEADER_SIZE > end or following + signed(load32(data, following + SIZE_OFFSET)) > end:
        return np.int64(NO_MORE)
    following_size = signed(load32(data, following + SIZE_OFFSET))
    is_map = signed(load8(data, following + 4)) == _TABLE_MAP and following_size >= HEADER_SIZE + get(table, words.TAIL)
    if not is_map or get(table, words.PLACE) + following >= get(table, words.STOP) or _is_replicated(data, following):
        return np.int64(ODD)
    texts, head, begin = memory_at(table, words.TEXTS), memory_at(table, words.HEAD), get(table, words.HEAD_AT)
    o = put_place(table, at, texts, head, begin)
    put(table, words.HEAD_AT, put_place(table, following, texts, head, o))
    why = print_annotation(table, data, at, size)
    if why == DONE:
        known = know_moment(table, signed(load32(data, following)))
        why = _print_map(table, data, following, following_size, at) if known else np.int64(NEW_ZONE)
    if why == DONE:
        put(table, words.TAKEN, size + following_size)
    else:
        put(table, words.HEAD_AT, begin)
    return why


@inline
def _is_replicated(data: Any, at: Any) -> Any:
    """Whether the event says that it is not to be replicated on."""
    return signed(load16(data, at + _FLAGS_AT)) & SKIP_REPLICATION != 0


@inline
def _layout_of(table: Any, slot: Any, data: Any, kind: Any, at: Any, end: Any) -> Any:
    """The record of the layout that the bytes at ``at`` have; -1 if it is not known."""
    layouts, texts = memory_at(table, words.LAYOUTS), memory_at(table, words.TEXTS)
    number = get(memory_at(table, words.MAPS), slot * MAP_WORDS + words.FIRST)
    while number >= 0:
        record = number * LAYOUT_WORDS
        size = get(layouts, record + words.HEADER_SIZE)
        fits = get(layouts, record) == kind and at + size <= end
        if fits and are_same(texts, get(layouts, record + words.HEADER_AT), data, at, size):
            return record
        number = get(layouts, record + words.NEXT)
    return np.int64(-1)


@inline
def _print_row_lines(table: Any, data: Any, end: Any, record: Any) -> Any:
    """The rows from ROW_AT on."""
    layouts, texts, steps = (
        memory_at(table, words.LAYOUTS), memory_at(table, words.TEXTS), memory_at(table, words.STEPS),
    )  # fmt: skip
    held = memory_at(table, words.SCRATCH), memory_at(table, words.STACK), memory(_POWERS_OF_TEN)
    body = memory_at(table, words.BODY)
    limit = body[1] - ROOM
    prefix, prefix_size = get(layouts, record + words.PREFIX_AT), get(layouts, record + words.PREFIX_SIZE)
    before, before_count = get(layouts, record + words.BEFORE), get(layouts, record + words.BEFORE_COUNT)
    after, after_count = get(layouts, record + words.AFTER), get(layouts, record + words.AFTER_COUNT)
    at, o = get(table, words.ROW_AT), get(table, words.BODY_AT)
    rows = np.int64(0)
    why = np.int64(DONE)
    while at < end:
        start, begin = at, o
        if o > limit:
            why = np.int64(FULL)
            break
        copy(body, o, texts, prefix, prefix_size)
        o += prefix_size
        step, columns = before, before_count
        for _ in range(2):
            if columns >= 0 and o >= 0:
                at, o = put_image(data, at, end, steps, step, columns, (texts, held), body, o, limit)
            step, columns = after, after_count
        if o < 0:
            why = np.int64(FULL if o == NO_ROOM else ODD_ROWS)
            at, o = start, begin
            break
        rows += 1
    put(table, words.ROW_AT, at)
    put(table, words.BODY_AT, o)
    put(table, words.ROW_COUNT, get(table, words.ROW_COUNT) + rows)
    return why


@inline
def _print_row_head(table: Any, data: Any, at: Any, size: Any, kind: Any, table_id: Any, flags: Any) -> None:
    texts, head = memory_at(table, words.TEXTS), memory_at(table, words.HEAD)
    o = put_place(table, at, texts, head, get(table, words.HEAD_AT))
    put(table, words.HEAD_AT, o)
    at_word, is_mariadb = words.HEAD_AT, get(table, words.MARIADB)
    if is_mariadb:
        head, at_word = memory_at(table, words.HELD_HEADS), words.HELD_AT
        o, flags = get(table, at_word), flags & 1
    o = put_header_line(table, data, at, size, texts, head, o)
    kind = kind if kind >= _WRITE else kind + _WRITE - _WRITE_1
    name = fixed.ROW_EVENTS[0] if kind == _WRITE else fixed.ROW_EVENTS[1] if kind == _UPDATE else fixed.ROW_EVENTS[2]
    o = put_text(name, texts, head, o)
    o = put_number(fixed.TABLE_ID, table_id, texts, head, o)
    put(table, at_word, put_flags(flags, texts, head, o))
    put(table, words.UNFINISHED, 1)


@inline
def _print_rows(table: Any, data: Any, at: Any, size: Any, kind: Any) -> Any:
    end, flags_at = at + size - get(table, words.TAIL), at + HEADER_SIZE + 6
    if flags_at + 2 > end:
        return np.int64(ODD)
    table_id, flags = signed(load64(data, flags_at - 6) & _ID), signed(load16(data, flags_at))
    place = _mapped(table, table_id)
    if place == get(table, words.MAPPED_COUNT) or flags >= fixed.FLAGS_END:
        return np.int64(ODD)
    slot = get(memory_at(table, words.MAPPED), 2 * place + 1)
    record = _layout_of(table, slot, data, kind, flags_at + 2, end)
    if record < 0:
        return np.int64(NEW_LAYOUT)
    layouts, texts = memory_at(table, words.LAYOUTS), memory_at(table, words.TEXTS)
    rows_at = flags_at + 2 + get(layouts, record + words.HEADER_SIZE)
    if get(table, words.ROW_AT) < 0:
        if not get(layouts, record + words.PRINTED) or rows_at >= end:
            return np.int64(ODD)
        body, body_at = memory_at(table, words.BODY), get(table, words.BODY_AT)
        held_at, held_size = get(table, words.HELD_AT), get(table, words.HELD_HEADS + 1)
        if not _has_room(table, size) or body_at > body[1] - ROOM or held_at > held_size - ROOM:
            return np.int64(FULL)
        if not get(table, words.ALONE):
            _print_row_head(table, data, at, size, kind, table_id, flags)
        _add_to_block(table, data, at, size)
        event_at, event_size = get(layouts, record + words.EVENT_AT), get(layouts, record + words.EVENT_SIZE)
        if get(table, words.ROWS):
            put(table, words.BODY_AT, put_span(event_at, event_size, texts, body, body_at))
        put(table, words.ROW_AT, rows_at)
    if get(table, words.ROWS):
        why = _print_row_lines(table, data, end, record)
        if why != DONE:
            return why
    put(table, words.ROW_AT, -1)
    return _end_statement(table) if flags & 1 else np.int64(DONE)


@inline
def _end_statement(table: Any) -> Any:
    """What is held of a statement goes behind its heads, if there is room; else whoever holds more of it does that."""
    head, o = memory_at(table, words.HEAD), get(table, words.HEAD_AT)
    block, body = get(table, words.BLOCK_AT), get(table, words.BODY_AT)
    held = get(table, words.HELD_AT)
    if get(table, words.HELD) or o + held + block + body + ROOM > head[1]:
        return np.int64(ENDS)
    texts = memory_at(table, words.TEXTS)
    copy(head, o, memory_at(table, words.HELD_HEADS), np.int64(0), held)
    o += held
    put(table, words.HELD_AT, 0)
    put(table, words.UNFINISHED, 0)
    put(table, words.MAPPED_COUNT, 0)
    if block:
        o = put_text(fixed.BLOCK_BEGIN, texts, head, o)
        copy(head, o, memory_at(table, words.BLOCK), np.int64(0), block)
        o = put_text(fixed.BLOCK_END, texts, head, o + block)
    copy(head, o, memory_at(table, words.BODY), np.int64(0), body)
    o += body
    if get(table, words.COUNTS):
        o = put_number(fixed.ROW_COUNT, get(table, words.ROW_COUNT), texts, head, o)
        store8(head, o, np.uint64(10))
        o += 1
    put(table, words.ROW_COUNT, 0)
    put(table, words.HEAD_AT, o)
    put(table, words.BLOCK_AT, 0)
    put(table, words.BODY_AT, 0)
    return np.int64(DONE)


@inline
def _print_event(table: Any, data: Any, at: Any, size: Any) -> Any:
    if get(table, words.ROW_AT) < 0:
        if get(table, words.PLACE) + at >= get(table, words.STOP):
            return np.int64(ODD)
        if not know_moment(table, signed(load32(data, at))):
            return np.int64(NEW_ZONE)
    kind = signed(load8(data, at + 4))
    is_mariadb = get(table, words.MARIADB)
    if is_mariadb and _is_replicated(data, at):
        return np.int64(ODD)
    if _WRITE <= kind <= _DELETE or (is_mariadb and _WRITE_1 <= kind <= _DELETE_1):
        return _print_rows(table, data, at, size, kind)
    if kind == _TABLE_MAP:
        return _print_map(table, data, at, size, np.int64(-1))
    if is_mariadb and kind == _ANNOTATE:
        return _print_annotated(table, data, at, size)
    if get(table, words.ALONE):
        return np.int64(DONE)
    if is_mariadb and kind == _MARIADB_GTID:
        return print_mariadb_gtid(table, data, at, size)
    if kind == _QUERY:
        return print_query(table, data, at, size)
    if kind == _XID:
        return print_xid(table, data, at, size)
    if kind in (_GTID, _ANONYMOUS) and not is_mariadb:
        return print_gtid(table, data, at, size, kind == _ANONYMOUS)
    return np.int64(ODD)


def print_events(address: Any, count: Any) -> Any:
    """Print the events of the buffer, of a table of ``count`` bytes at that address; why it returned."""
    table = address, count
    data, end = memory_at(table, words.BUFFER), get(table, words.END)
    limit = get(table, words.HEAD + 1) - ROOM
    why = np.int64(NO_MORE)
    at = get(table, words.AT)
    while at + HEADER_SIZE <= end:
        size = signed(load32(data, at + SIZE_OFFSET))
        if size < HEADER_SIZE + get(table, words.TAIL):
            why = np.int64(ODD)
            break
        if at + size > end:
            break
        if get(table, words.HEAD_AT) > limit:
            why = np.int64(FULL)
            break
        put(table, words.TAKEN, size)
        why = _print_event(table, data, at, size)
        if why in (DONE, ENDS):
            at += get(table, words.TAKEN)
        if why != DONE:
            break
        why = np.int64(NO_MORE)
    put(table, words.AT, at)
    return why
