"""JSON strings: eight bytes at a time where nothing is to be escaped, a byte at a time where something is.

A word is examined as a whole: the sum below has the upper bit of a byte set where that byte, or one below it, is a
control character, a quote or a backslash; the lowest such bit is always a true one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.machine import inline, load8, load64, signed, store8, store32, store64, unsigned
from forge.bulk.plan import HIGH
from forge.bulk.text.utf8 import is_well_formed

#: Bytes behind the end of a quoted string that writing it may change, and bytes behind a source that are read.
SPILL: Final = 8

_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_EACH = 0x0101010101010101
_ONES, _SPACES, _QUOTES = np.uint64(_EACH), np.uint64(0x20 * _EACH), np.uint64(0x22 * _EACH)
_BACKSLASHES, _LETTERS = np.uint64(0x5C * _EACH), np.uint64(0x61 * _EACH)
_QUOTE, _BACKSLASH, _SPACE = np.uint64(0x22), np.uint64(0x5C), np.uint64(0x20)
_ESCAPED_ZEROS = np.uint64(int.from_bytes(b"\\u00", "little"))
_FOUR, _FIFTEEN = np.uint64(4), np.uint64(15)
#: The letter behind the backslash, for the bytes that have one.
_LETTER = np.zeros(128, np.uint64)
for _byte, _letter in zip(b'\b\t\n\f\r"\\', b'btnfr"\\', strict=True):
    _LETTER[_byte] = _letter
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@inline
def special_bytes(word: Any) -> Any:
    """Non-zero if a byte of ``word`` cannot stand in a JSON string as it is; the lowest bit is that of the first."""
    quotes = word ^ _QUOTES
    backslashes = word ^ _BACKSLASHES
    marks = ((word - _SPACES) & ~word) | ((quotes - _ONES) & ~quotes) | ((backslashes - _ONES) & ~backslashes)
    return marks & HIGH


@inline
def quoted_fits(source: Any, begin: Any, count: Any, room: Any) -> Any:
    """Whether ``room`` bytes are enough for :func:`write_quoted`, of which 6 * count + 2 always are."""
    needed = count + 2
    for place in range(begin, begin + count):
        byte = load8(source, place)
        if byte < _SPACE or byte in (_QUOTE, _BACKSLASH):
            needed += 1 if _LETTER[byte] != _ZERO else 5
    return needed <= room


@inline
def write_quoted(source: Any, begin: Any, count: Any, out: Any, at: Any) -> Any:
    """``count`` bytes of text in quotes at ``out[at]``; the place behind, or -1 if they are not UTF-8.

    :func:`quoted_fits` says whether there is room.  SPILL bytes behind the result are overwritten, and SPILL bytes
    behind the source are read.
    """
    store8(out, at, _QUOTE)
    at += 1
    seen = _ZERO
    place = begin
    end = begin + count
    while place < end:
        word = load64(source, place)
        step = 8
        if end - place < 8:
            step = end - place
            keep = (_ONE << (_EIGHT * unsigned(step))) - _ONE
            word = (word & keep) | (_LETTERS & ~keep)
        seen |= word
        if special_bytes(word) == _ZERO:
            store64(out, at, word)
            place += step
            at += step
        else:
            stop = place + step
            while place < stop:
                byte = load8(source, place)
                place += 1
                if byte >= _SPACE and byte != _QUOTE and byte != _BACKSLASH:
                    store8(out, at, byte)
                    at += 1
                elif _LETTER[byte] != _ZERO:
                    store8(out, at, _BACKSLASH)
                    store8(out, at + 1, _LETTER[byte])
                    at += 2
                else:
                    store32(out, at, _ESCAPED_ZEROS)
                    store8(out, at + 4, load8(_HEX, signed(byte >> _FOUR)))
                    store8(out, at + 5, load8(_HEX, signed(byte & _FIFTEEN)))
                    at += 6
    store8(out, at, _QUOTE)
    if seen & HIGH != _ZERO and not is_well_formed(source, begin, end, 4):
        return -1
    return at + 1
