"""Strings of JSON text.  One without escapes stays where it is; the others are written out in a scratch buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.bulk.json.strings import special_bytes
from forge.bulk.machine import copy, inline, load8, load64, signed, store8, store64, trailing_zeros, unsigned
from forge.bulk.plan import HIGH
from forge.bulk.text.utf8 import is_well_formed

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_QUOTE, _BACKSLASH, _SPACE, _U = 0x22, 0x5C, 0x20, ord("u")
#: What the letter behind a backslash stands for; 0 where it stands for nothing.
_MEANING = np.zeros(256, np.uint64)
for _letter, _byte in zip(b'bfnrt"\\/', b'\b\f\n\r\t"\\/', strict=True):
    _MEANING[_letter] = _byte
#: The digit that a byte is; 16 where it is none.
_DIGIT = np.full(256, 16)
for _number, _letters in enumerate((b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9")):
    _DIGIT[_letters[0]] = _number
for _number, _letters in enumerate((b"aA", b"bB", b"cC", b"dD", b"eE", b"fF"), 10):
    _DIGIT[list(_letters)] = _number


@inline
def held_in(place: Any, text: Any, scratch: Any) -> Any:
    """The buffer of a string's place, and where it is in there: a negative place is one in the scratch buffer."""
    return (text, place) if place >= 0 else (scratch, -1 - place)


@inline
def copy_short(source: Any, begin: Any, count: Any, out: Any, at: Any) -> None:
    """As ``copy``, but quicker for a few bytes, and up to 7 bytes behind both ends are read and overwritten."""
    if count > 64:
        copy(out, at, source, begin, count)
    else:
        for step in range(0, count, 8):
            store64(out, at + step, load64(source, begin + step))


@inline
def _unit(text: Any, at: Any) -> Any:
    """The number of four hexadecimal digits; 65536 or more if they are not."""
    number = 0
    for place in range(at, at + 4):
        digit = _DIGIT[load8(text, place)]
        number = (number << 4) + digit if digit < 16 else 1 << 20
    return number


@inline
def _write_character(character: Any, out: Any, at: Any) -> Any:
    if character < 0x80:
        store8(out, at, unsigned(character))
        return at + 1
    if character < 0x800:
        store8(out, at, unsigned(0xC0 | character >> 6))
    else:
        if character < 0x10000:
            store8(out, at, unsigned(0xE0 | character >> 12))
        else:
            store8(out, at, unsigned(0xF0 | character >> 18))
            at += 1
            store8(out, at, unsigned(0x80 | (character >> 12) & 0x3F))
        at += 1
        store8(out, at, unsigned(0x80 | (character >> 6) & 0x3F))
    store8(out, at + 1, unsigned(0x80 | character & 0x3F))
    return at + 2


@inline
def _unescape(text: Any, begin: Any, at: Any, end: Any, scratch: Any, used: Any) -> Any:
    """As :func:`read_string`, for a string from ``begin`` with its first escape at ``at``."""
    out = used + at - begin
    copy(scratch, used, text, begin, at - begin)
    while at < end:
        byte = signed(load8(text, at))
        if byte == _QUOTE:
            count = out - used
            return -1 - used, (count if is_well_formed(scratch, used, out, 4) else -1), at + 1, out
        if byte < _SPACE:
            break
        if byte != _BACKSLASH:
            store8(scratch, out, unsigned(byte))
            out += 1
            at += 1
            continue
        letter = load8(text, at + 1)
        at += 2
        if _MEANING[letter] != _ZERO:
            store8(scratch, out, _MEANING[letter])
            out += 1
            continue
        if signed(letter) != _U:
            break
        character = _unit(text, at)
        at += 4
        if 0xD800 <= character < 0xDC00 and signed(load8(text, at)) == _BACKSLASH:
            low = _unit(text, at + 2) if signed(load8(text, at + 1)) == _U else 0
            at += 6
            if not 0xDC00 <= low < 0xE000:
                break
            character = 0x10000 + ((character - 0xD800) << 10) + low - 0xDC00
        elif character >= 0xD800 and (character < 0xE000 or character > 0xFFFF):
            break
        out = _write_character(character, scratch, out)
    return 0, -1, at, used


@inline
def read_string(text: Any, begin: Any, end: Any, scratch: Any, used: Any) -> Any:
    """(place, bytes, place behind, used) of the string whose first byte is ``text[begin]``, not beyond ``end``.

    -1 bytes if it is none: not closed, not UTF-8, half a surrogate pair.  ``used`` bytes of ``scratch`` are taken,
    which has room for as many as the text.  Up to 16 bytes behind ``end`` are read.
    """
    at = begin
    seen = _ZERO
    while at < end:
        word = load64(text, at)
        special = special_bytes(word)
        if special == _ZERO:
            seen |= word
            at += 8
            continue
        first = trailing_zeros(special) >> 3
        seen |= word & ((_ONE << unsigned(8 * first)) - _ONE)
        at += first
        if at >= end:
            break
        byte = signed(load8(text, at))
        if byte == _BACKSLASH:
            return _unescape(text, begin, at, end, scratch, used)
        if byte != _QUOTE:
            break
        count = at - begin
        if seen & HIGH != _ZERO and not is_well_formed(text, begin, at, 4):
            break
        return begin, count, at + 1, used
    return 0, -1, at, used
