"""QUERY events that are known, and XID events."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_unsigned
from forge.bulk.machine import are_same, inline, load16, load32, load64, signed
from forge.bulk.printing import texts as fixed
from forge.bulk.printing import words
from forge.bulk.printing.access import get, memory_at, put
from forge.bulk.printing.heads import put_header, put_number, put_span, put_text
from forge.bulk.printing.words import DONE, ENDS_IT, ODD, SHAPE_WORDS, STARTS
from forge.events.format import HEADER_SIZE

#: Where they are in the header of an event.
_FLAGS_AT: Final = 17


@inline
def print_xid(table: Any, data: Any, at: Any, size: Any) -> Any:
    if size != HEADER_SIZE + 8 + get(table, words.TAIL):
        return np.int64(ODD)
    texts, head = memory_at(table, words.TEXTS), memory_at(table, words.HEAD)
    o = put_header(table, data, at, size, texts, head, get(table, words.HEAD_AT))
    o = put_text(fixed.XID, texts, head, o)
    o = write_unsigned(load64(data, at + HEADER_SIZE), head, o)
    put(table, words.HEAD_AT, put_text(fixed.COMMIT, texts, head, o))
    put(table, words.IN_TRANSACTION, 0)
    put(table, words.BEGINS, 0)
    return np.int64(DONE)


@inline
def print_query(table: Any, data: Any, at: Any, size: Any) -> Any:
    texts, shapes = memory_at(table, words.TEXTS), memory_at(table, words.SHAPES)
    begin, end = at + HEADER_SIZE + 8, at + size - get(table, words.TAIL)
    record = np.int64(-1)
    for number in range(get(table, words.QUERIES)):
        place = number * SHAPE_WORDS
        known = get(shapes, place + words.QUERY_SIZE)
        fits = known == end - begin and get(shapes, place + words.FLAGS) == signed(load16(data, at + _FLAGS_AT))
        if fits and are_same(texts, get(shapes, place), data, begin, known):
            record = np.int64(place)
            break
    if record < 0:
        return np.int64(ODD)
    head = memory_at(table, words.HEAD)
    o = put_header(table, data, at, size, texts, head, get(table, words.HEAD_AT))
    o = put_number(fixed.THREAD, load32(data, begin - 8), texts, head, o)
    o = put_number(fixed.EXEC_TIME, load32(data, begin - 4), texts, head, o)
    o = put_span(get(shapes, record + words.FORE_AT), get(shapes, record + words.FORE_SIZE), texts, head, o)
    o = put_number(fixed.SET_TIME, load32(data, at), texts, head, o)
    o = put_span(get(shapes, record + words.HIND_AT), get(shapes, record + words.HIND_SIZE), texts, head, o)
    put(table, words.HEAD_AT, o)
    effect = get(shapes, record + words.EFFECT)
    if effect == STARTS:
        put(table, words.IN_TRANSACTION, 1)
    elif effect == ENDS_IT:
        put(table, words.IN_TRANSACTION, 0)
        put(table, words.BEGINS, 0)
    elif not get(table, words.IN_TRANSACTION):
        put(table, words.BEGINS, 0)
    return np.int64(DONE)
