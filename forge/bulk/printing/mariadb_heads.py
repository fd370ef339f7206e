"""GTID and ANNOTATE_ROWS events of MariaDB, and what is printed of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_unsigned
from forge.bulk.machine import inline, load8, load32, load64, signed, store8
from forge.bulk.printing import texts as fixed
from forge.bulk.printing import words
from forge.bulk.printing.access import get, memory_at, put
from forge.bulk.printing.heads import know_moment, put_header, put_header_line, put_number, put_text
from forge.bulk.printing.words import DONE, NEW_ZONE, ODD
from forge.events.format import HEADER_SIZE

_NEWLINE, _DASH, _RETURN = (np.uint64(ord(sign)) for sign in "\n-\r")
_STANDALONE, _COMMIT_ID, _TRANSACTIONAL, _ALLOW_PARALLEL, _WAITED, _DDL, _XA = 1, 2, 4, 8, 16, 32, 0xC0
_THREAD_ID: Final = 0x10
#: Bytes of a statement's text that is printed.
_LONG: Final = 2000


@inline
def print_mariadb_gtid(table: Any, data: Any, at: Any, size: Any) -> Any:
    begin, end = at + HEADER_SIZE, at + size - get(table, words.TAIL)
    field = begin + 13
    if field > end:
        return np.int64(ODD)
    number, domain, flags = load64(data, begin), signed(load32(data, begin + 8)), signed(load8(data, begin + 12))
    commit_id, thread = np.uint64(0), np.int64(-1)
    if flags & _COMMIT_ID:
        commit_id = load64(data, field)
        field += 8
    if field > end or flags & _XA or signed(number) <= get(table, words.LAST_NUMBER):
        return np.int64(ODD)
    extra = signed(load8(data, field)) if field < end else np.int64(0)
    if extra:
        if extra != _THREAD_ID or field + 5 > end:
            return np.int64(ODD)
        thread = signed(load32(data, field + 1))
    server = signed(load32(data, at + 5))
    is_usual = domain == get(table, words.DOMAIN) and server == get(table, words.SERVER)
    if not is_usual or get(table, words.PARALLEL) != (0 if flags & _ALLOW_PARALLEL else 1):
        return np.int64(ODD)
    texts, head = memory_at(table, words.TEXTS), memory_at(table, words.HEAD)
    put(table, words.LAST_NUMBER, signed(number))
    put(table, words.SEEN_GTID, 1)
    o = put_header(table, data, at, size, texts, head, get(table, words.HEAD_AT))
    o = put_number(fixed.MARIADB_GTID, domain, texts, head, o)
    store8(head, o, _DASH)
    o = write_unsigned(np.uint64(server), head, o + 1)
    store8(head, o, _DASH)
    o = write_unsigned(number, head, o + 1)
    if flags & _COMMIT_ID:
        o = put_number(fixed.COMMIT_ID, commit_id, texts, head, o)
    if flags & _DDL:
        o = put_text(fixed.DDL, texts, head, o)
    if flags & _TRANSACTIONAL:
        o = put_text(fixed.TRANSACTIONAL, texts, head, o)
    if flags & _WAITED:
        o = put_text(fixed.WAITED, texts, head, o)
    if thread >= 0 and get(table, words.TELLS_THREADS):
        o = put_number(fixed.THREAD_ID, thread, texts, head, o)
    store8(head, o, _NEWLINE)
    o = put_text(fixed.SET_END, texts, head, put_number(fixed.SET_NUMBER, number, texts, head, o + 1))
    if not flags & _STANDALONE:
        o = put_text(fixed.START, texts, head, o)
    put(table, words.HEAD_AT, o)
    return np.int64(DONE)


@inline
def print_annotation(table: Any, data: Any, at: Any, size: Any) -> Any:
    """The text of a statement, behind the place of the event that follows, which is not printed here."""
    begin, end = at + HEADER_SIZE, at + size - get(table, words.TAIL)
    if end - begin > _LONG:
        return np.int64(ODD)
    if not know_moment(table, signed(load32(data, at))):
        return np.int64(NEW_ZONE)
    texts, head = memory_at(table, words.TEXTS), memory_at(table, words.HEAD)
    o = put_header_line(table, data, at, size, texts, head, get(table, words.HEAD_AT))
    o = put_text(fixed.ANNOTATION, texts, head, o)
    while begin < end:
        byte = load8(data, begin)
        if byte == _RETURN and begin + 1 < end and load8(data, begin + 1) == _NEWLINE:
            begin += 1
            byte = _NEWLINE
        if byte == _NEWLINE:
            o = put_text(fixed.ANNOTATION_LINE, texts, head, o)
        else:
            store8(head, o, byte)
            o += 1
        begin += 1
    store8(head, o, _NEWLINE)
    put(table, words.HEAD_AT, o + 1)
    return np.int64(DONE)
