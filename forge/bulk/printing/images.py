"""The images of a row as lines, a line for each cell."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json import text as documents
from forge.bulk.json.text import length_behind
from forge.bulk.machine import (
    copy_text,
    double_bits,
    double_of,
    double_of_float,
    forced_inline,
    inline,
    load8,
    load32,
    load64,
    signed,
    store8,
    store64,
)
from forge.bulk.printing import floats, words
from forge.bulk.printing.access import get
from forge.bulk.printing.cells import FULL, ODD, put_fixed, put_text
from forge.bulk.printing.words import DOUBLE, FLOAT, JSON, STEP_WORDS, TEXT
from forge.bulk.text.utf8 import is_well_formed
from forge.values.json.binary import STRING

_ONE: Final = np.uint64(1)
#: Significant digits of a FLOAT and a DOUBLE, and the bytes that a FLOAT takes at least.
_FLOAT_DIGITS, _DOUBLE_DIGITS, _FLOAT_WIDTH = 6, 20, 20
_SPACES: Final = np.uint64(0x2020202020202020)


@inline
def _put_float(data: Any, at: Any, kind: Any, out: Any, o: Any) -> Any:
    if kind == DOUBLE:
        return floats.write_shown(load64(data, at), double_of(load64(data, at)), np.int64(_DOUBLE_DIGITS), out, o)
    number = double_of_float(load32(data, at))
    for place in range(o, o + _FLOAT_WIDTH + 4, 8):
        store64(out, place, _SPACES)
    end = floats.write_shown(double_bits(number), number, np.int64(_FLOAT_DIGITS), out, o)
    if end < 0:
        return end
    # What was tried may stand behind the end.
    for place in range(end, o + _FLOAT_WIDTH):
        store8(out, place, np.uint64(0x20))
    return max(end, o + _FLOAT_WIDTH)


@inline
def _put_document(data: Any, begin: Any, end: Any, of: Any, held: Any, out: Any, o: Any, limit: Any) -> Any:
    """A document as its text in quotes; a string as itself.  ``held``: memories of a text, a stack, powers of ten."""
    text, stack, powers = held
    if begin == end:
        return np.int64(ODD)
    if signed(load8(data, begin)) == STRING:
        count, first = length_behind(data, begin + 1, end)
        if count < 0 or first + count != end or not is_well_formed(data, first, end, 4):
            return np.int64(ODD)
        if 4 * count > limit - o:
            return np.int64(FULL)
        return put_text(data, first, end, of, out, o)
    behind = documents.write_document(data, begin, end, text, np.int64(0), text[1] - documents.ROOM, stack, powers)
    if behind < 0:
        return np.int64(ODD)
    if 4 * behind > limit - o:
        return np.int64(FULL)
    return put_text(text, np.int64(0), behind, of, out, o)


@forced_inline
def put_image(
    data: Any, at: Any, end: Any, steps: Any, step: Any, columns: Any, helds: Any, out: Any, o: Any, limit: Any
) -> Any:
    """An image of ``columns`` cells at ``at``: (the place behind it, the place behind its lines), or ODD or FULL."""
    texts, held = helds
    bitmap = at
    at += (columns + 7) >> 3
    if at > end:
        return at, np.int64(ODD)
    step *= STEP_WORDS
    for place in range(columns):
        if o > limit:
            return at, np.int64(FULL)
        if load8(data, bitmap + (place >> 3)) >> np.uint64(place & 7) & _ONE:
            count = get(steps, step + words.NULL_COUNT)
            copy_text(out, o, texts, get(steps, step + words.NULL), count)
            o += count
            step += STEP_WORDS
            continue
        kind, size, of = get(steps, step), get(steps, step + words.SIZE), get(steps, step + words.OF)
        if at + size > end:
            return at, np.int64(ODD)
        if kind < TEXT:
            if kind in (FLOAT, DOUBLE):
                o = _put_float(data, at, kind, out, o)
            else:
                o = put_fixed(kind, data, at, size, of, out, o)
            at += size
        else:
            length = signed(load32(data, at) & ((_ONE << np.uint64(8 * size)) - _ONE))
            at += size
            if at + length > end:
                return at, np.int64(ODD)
            if kind == JSON:
                o = _put_document(data, at, at + length, of, held, out, o, limit)
            elif 4 * length > limit - o:
                return at, np.int64(FULL)
            else:
                o = put_text(data, at, at + length, of, out, o)
            at += length
        if o < 0:
            return at, o
        count = get(steps, step + words.BEHIND_COUNT)
        copy_text(out, o, texts, get(steps, step + words.BEHIND), count)
        o += count
        step += STEP_WORDS
    return at, o
