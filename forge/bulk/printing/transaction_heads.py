"""GTID events of MySQL, and what is printed of them: the settings of the transaction that begins."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_unsigned
from forge.bulk.machine import inline, load8, load16, load32, load64, signed, store8
from forge.bulk.printing import texts as fixed
from forge.bulk.printing import words
from forge.bulk.printing.access import get, memory_at, put
from forge.bulk.printing.heads import put_header, put_moment_in_full, put_number, put_text, put_uuid, zone_of
from forge.bulk.printing.words import DONE, NEW_ZONE, ODD
from forge.events.format import HEADER_SIZE

_NEWLINE, _COLON = np.uint64(10), np.uint64(58)
_UNKNOWN_VERSION, _TELLS_KEYS = 999999, 80030
_TOP_OF_7, _TOP_OF_4 = np.uint64(1 << 55), np.uint64(1 << 31)
_LONGEST_MOMENT: Final = 1 << 53


@inline
def _packed(data: Any, at: Any) -> Any:
    """A packed integer and the place behind it; -1 for one that is none."""
    first = signed(load8(data, at))
    if first < 251:
        return first, at + 1
    if first == 252:
        return signed(load16(data, at + 1)), at + 3
    if first == 253:
        return signed(load32(data, at + 1) & np.uint64(0xFFFFFF)), at + 4
    return np.int64(-1), at


@inline
def _gtid_numbers(data: Any, at: Any, end: Any) -> Any:
    """Commit times, immediate and original, the length, the versions likewise; a negative time: it is left to others.

    Events of servers before 5.7 end before the logical clock, of those before 8.0 before the times, and so on.
    """
    odd = np.int64(-1), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    if at == end:
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    if at + 12 > end:
        return odd
    word = load64(data, at) & np.uint64((1 << 56) - 1)
    now = signed(word & ~_TOP_OF_7)
    first = now
    at += 7
    if word & _TOP_OF_7:
        first = signed(load64(data, at) & np.uint64((1 << 56) - 1))
        at += 7
    length, at = _packed(data, at)
    if length < 0 or at + 4 > end or now >= _LONGEST_MOMENT or first >= _LONGEST_MOMENT:
        return odd
    version = load32(data, at)
    own = signed(version & ~_TOP_OF_4)
    original = own
    at += 4
    if version & _TOP_OF_4:
        original = signed(load32(data, at))
        at += 4
    if at != end and at + 8 != end:
        return odd
    return now, first, length, own, original


@inline
def print_gtid(table: Any, data: Any, at: Any, size: Any, anonymous: Any) -> Any:
    begin, end = at + HEADER_SIZE, at + size - get(table, words.TAIL)
    if begin + 42 > end:
        return np.int64(ODD)
    last, sequence, number = load64(data, begin + 26), load64(data, begin + 34), load64(data, begin + 17)
    if signed(last | sequence | number) < 0:
        return np.int64(ODD)
    now, original, length, own_version, version = _gtid_numbers(data, begin + 42, end)
    if now < 0:
        return np.int64(ODD)
    for moment in (now, original):
        if zone_of(table, moment // 1000000) < 0:
            put(table, words.ASKED, moment // 1000000)
            return np.int64(NEW_ZONE)
    texts, head = memory_at(table, words.TEXTS), memory_at(table, words.HEAD)
    put(table, words.SEEN_GTID, 1)
    put(table, words.BEGINS, 1)
    put(table, words.TELLS_KEYS, _TELLS_KEYS <= own_version < _UNKNOWN_VERSION)
    by_row = signed(load8(data, begin)) & 1 == 0
    o = put_header(table, data, at, size, texts, head, get(table, words.HEAD_AT))
    o = put_number(fixed.ANONYMOUS if anonymous else fixed.GTID, last, texts, head, o)
    o = put_number(fixed.SEQUENCE, sequence, texts, head, o)
    o = put_text(fixed.BY_ROW if by_row else fixed.NOT_BY_ROW, texts, head, o)
    o = put_number(fixed.ORIGINAL, original, texts, head, o)
    o = put_number(fixed.IMMEDIATE, now, texts, head, o)
    o = put_number(fixed.LENGTH, length, texts, head, o)
    store8(head, o, _NEWLINE)
    o += 1
    if by_row:
        o = put_text(fixed.READ_COMMITTED, texts, head, o)
    o = put_moment_in_full(table, original, texts, head, put_text(fixed.ORIGINAL_TIME, texts, head, o))
    o = put_moment_in_full(table, now, texts, head, put_text(fixed.IMMEDIATE_TIME, texts, head, o))
    o = put_text(fixed.SET_END, texts, head, put_number(fixed.SET_ORIGINAL, original, texts, head, o))
    o = put_text(fixed.SET_END, texts, head, put_number(fixed.SET_ORIGINAL_VERSION, version, texts, head, o))
    o = put_text(fixed.SET_END, texts, head, put_number(fixed.SET_OWN_VERSION, own_version, texts, head, o))
    if anonymous:
        o = put_text(fixed.SET_ANONYMOUS, texts, head, o)
    else:
        o = put_uuid(data, begin + 1, head, put_text(fixed.SET_GTID, texts, head, o))
        store8(head, o, _COLON)
        o = write_unsigned(number, head, o + 1)
        o = put_text(fixed.BLOCK_END, texts, head, o)
    put(table, words.HEAD_AT, o)
    return np.int64(DONE)
