"""Cells as the vendors' programs print them, straight from the bytes of a row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import write_digits, write_unsigned
from forge.bulk.machine import (
    inline,
    load8,
    load16,
    load64,
    signed,
    store8,
    store16,
    store32,
    store64,
    swap64,
    unsigned,
)
from forge.bulk.plan import HIGH
from forge.bulk.printing.words import DATE, DATETIME, DECIMAL, INTEGER, NUMBER, SECONDS, TIME, YEAR

#: Instead of a place: the reference path has to print the cell, or there is no room.
ODD, FULL = -1, -2

_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_QUOTE, _MINUS, _POINT, _B, _NOUGHT = (np.uint64(ord(sign)) for sign in "'-.b0")
_SPACE, _COLON, _OPEN, _CLOSE = (np.uint64(ord(sign)) for sign in " :()")
_TOP: Final = np.uint64(0x80)
_YEARS: Final = np.uint64(1900)
_EACH: Final = 0x0101010101010101
_ONES, _SPACES, _LETTERS = (np.uint64(byte * _EACH) for byte in (1, 0x20, 0x61))
_QUOTES, _BACKSLASHES = (np.uint64(byte * _EACH) for byte in b"'\\")
_PAIRS: Final = np.frombuffer(b"".join(b"%02d" % number for number in range(100)), np.uint8)
_POWERS: Final = np.array([10**exponent for exponent in range(20)], np.uint64)
#: Bytes of a group of 0 to 9 digits.
_GROUP_BYTES: Final = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], np.int64)
#: The bits of a byte as eight digits.
_BIT_DIGITS: Final = np.array([int.from_bytes(f"{byte:08b}".encode(), "little") for byte in range(256)], np.uint64)
_LAST_HOUR: Final = 838


def _escapes(letters: dict[int, str]) -> tuple[Any, Any]:
    texts = [
        ("\\" + letters[byte]).encode() if byte in letters else b"\\x%02x" % byte if byte < 0x20 else bytes([byte])
        for byte in range(256)
    ]
    words = np.array([int.from_bytes(text, "little") for text in texts], np.uint64)
    return words, np.array([len(text) for text in texts], np.int64)


#: What stands for each byte, as a word, and its size: of mysqlbinlog, then of mariadb-binlog.
_WORDS, _SIZES = _escapes(dict(zip(b"\b\f\n\r\t\\'", "bfnrt\\'", strict=True)))
_CONTROL_WORDS, _CONTROL_SIZES = _escapes({})


@inline
def two(number: Any, out: Any, at: Any) -> Any:
    """Two digits; the place behind."""
    store16(out, at, load16(_PAIRS, 2 * number))
    return at + 2


@inline
def put_integer(data: Any, at: Any, size: Any, out: Any, o: Any) -> Any:
    """A signed number; behind a negative one stands what it would be without a sign."""
    shift = unsigned(64 - 8 * size)
    word = load64(data, at) << shift
    value = signed(word) >> signed(shift)
    word >>= shift
    if value >= 0:
        return write_unsigned(word, out, o)
    store8(out, o, _MINUS)
    o = write_unsigned(unsigned(-value), out, o + 1)
    store8(out, o, _SPACE)
    store8(out, o + 1, _OPEN)
    o = write_unsigned(word, out, o + 2)
    store8(out, o, _CLOSE)
    return o + 1


@inline
def _number(data: Any, at: Any, size: Any) -> Any:
    """A little-endian number of 1 to 8 bytes."""
    shift = unsigned(64 - 8 * size)
    return (load64(data, at) << shift) >> shift


@inline
def _big(data: Any, at: Any, size: Any) -> Any:
    """A big-endian number of 1 to 8 bytes."""
    return swap64(load64(data, at)) >> unsigned(64 - 8 * size)


@inline
def _put_date(year: Any, month: Any, day: Any, sign: Any, out: Any, o: Any) -> Any:
    o = two(year // 100, out, o)
    o = two(year % 100, out, o)
    store8(out, o, sign)
    o = two(month, out, o + 1)
    store8(out, o, sign)
    return two(day, out, o + 1)


@inline
def put_clock(hour: Any, minute: Any, second: Any, out: Any, o: Any) -> Any:
    o = two(hour, out, o)
    store8(out, o, _COLON)
    o = two(minute, out, o + 1)
    store8(out, o, _COLON)
    return two(second, out, o + 1)


@inline
def _put_fraction(fraction: Any, digits: Any, out: Any, o: Any) -> Any:
    """A fraction of as many digits or one more, which is then 0; the place behind, or ODD."""
    if digits == 0:
        return o
    if digits & 1:
        if fraction % 10 != 0:
            return np.int64(ODD)
        fraction //= 10
    if unsigned(fraction) >= _POWERS[digits]:
        return np.int64(ODD)
    store8(out, o, _POINT)
    return write_digits(unsigned(fraction), digits, out, o + 1)


@inline
def _put_day(data: Any, at: Any, out: Any, o: Any) -> Any:
    word = signed(_number(data, at, 3))
    year, month = word >> 9, (word >> 5) & 15
    if year > 9999 or month > 12:
        return np.int64(ODD)
    store8(out, o, _QUOTE)
    o = _put_date(year, month, word & 31, _COLON, out, o + 1)
    store8(out, o, _QUOTE)
    return o + 1


@inline
def _put_datetime(data: Any, at: Any, size: Any, digits: Any, out: Any, o: Any) -> Any:
    word = signed(swap64(load64(data, at)))
    months = (word >> 46) & 0x1FFFF
    year, month = months // 13, months % 13
    hour, minute, second = (word >> 36) & 31, (word >> 30) & 63, (word >> 24) & 63
    # The first bit, which is the sign of int64, is set.
    if word >= 0 or year > 9999 or hour > 23 or minute > 59 or second > 59:
        return np.int64(ODD)
    store8(out, o, _QUOTE)
    o = _put_date(year, month, (word >> 41) & 31, _MINUS, out, o + 1)
    store8(out, o, _SPACE)
    o = put_clock(hour, minute, second, out, o + 1)
    o = _put_fraction((word & 0xFFFFFF) >> (64 - 8 * size), digits, out, o)
    if o < 0:
        return o
    store8(out, o, _QUOTE)
    return o + 1


@inline
def _put_time(data: Any, at: Any, size: Any, digits: Any, out: Any, o: Any) -> Any:
    number = signed(_big(data, at, size)) - (np.int64(1) << (8 * size - 1))
    store8(out, o, _QUOTE)
    o += 1
    if number < 0:
        store8(out, o, _MINUS)
        o += 1
        number = -number
    bits = 8 * (size - 3)
    whole = number >> bits
    hour, minute, second = whole >> 12, (whole >> 6) & 63, whole & 63
    if hour > _LAST_HOUR or minute > 59 or second > 59:
        return np.int64(ODD)
    if hour > 99:
        store8(out, o, _NOUGHT + unsigned(hour // 100))
        o += 1
    o = put_clock(hour % 100, minute, second, out, o)
    o = _put_fraction(number & ((np.int64(1) << bits) - 1), digits, out, o)
    if o < 0:
        return o
    store8(out, o, _QUOTE)
    return o + 1


@inline
def _put_seconds(data: Any, at: Any, size: Any, digits: Any, out: Any, o: Any) -> Any:
    word = _big(data, at, size)
    shift = unsigned(8 * (size - 4))
    o = write_unsigned(word >> shift, out, o)
    if digits == 0:
        return o
    fraction = word & ((_ONE << shift) - _ONE)
    if fraction >= _POWERS[2 * (size - 4)]:
        return np.int64(ODD)
    if digits & 1:
        fraction //= np.uint64(10)
    store8(out, o, _POINT)
    return write_digits(fraction, digits, out, o + 1)


@inline
def _put_decimal(data: Any, at: Any, whole: Any, scale: Any, out: Any, o: Any) -> Any:
    """``whole`` digits before the point and ``scale`` behind it."""
    negative = load8(data, at) & _TOP == _ZERO
    first, begun, seen = True, False, False
    if negative:
        store8(out, o, _MINUS)
        o += 1
    left, behind = whole, False
    while True:
        if left == 0:
            if behind:
                break
            if not begun:
                store8(out, o, _NOUGHT)
                o += 1
            if scale == 0:
                break
            behind, left = True, scale
            store8(out, o, _POINT)
            o += 1
        count = min(left, np.int64(9)) if behind else (left - 1) % 9 + 1
        left -= count
        size = _GROUP_BYTES[count]
        group = _big(data, at, size)
        if first:
            group ^= _ONE << unsigned(8 * size - 1)
            first = False
        if negative:
            group ^= (_ONE << unsigned(8 * size)) - _ONE
        at += size
        if group >= _POWERS[count]:
            return np.int64(ODD)
        seen |= group != _ZERO
        if behind or begun:
            o = write_digits(group, count, out, o)
        elif group != _ZERO:
            begun = True
            o = write_unsigned(group, out, o)
    return np.int64(ODD) if negative and not seen else o


@inline
def _put_bits(data: Any, at: Any, size: Any, count: Any, out: Any, o: Any) -> Any:
    """The last ``count`` bits of some bytes, the first of which has no more than eight before them."""
    store8(out, o, _B)
    store8(out, o + 1, _QUOTE)
    o += 2
    skipped = 8 * size - count
    for place in range(at, at + size):
        store64(out, o, _BIT_DIGITS[load8(data, place)] >> unsigned(8 * skipped))
        o += 8 - skipped
        skipped = np.int64(0)
    store8(out, o, _QUOTE)
    return o + 1


@inline
def put_fixed(kind: Any, data: Any, at: Any, size: Any, of: Any, out: Any, o: Any) -> Any:
    """A cell of a fixed size that is no float: the place behind its text, or ODD.

    ``of`` is what the kind has to know.
    """
    if kind == INTEGER:
        return put_integer(data, at, size, out, o)
    if kind == DATETIME:
        return _put_datetime(data, at, size, of, out, o)
    if kind == SECONDS:
        return _put_seconds(data, at, size, of, out, o)
    if kind == DECIMAL:
        return _put_decimal(data, at, of >> 8, of & 255, out, o)
    if kind == NUMBER:
        return write_unsigned(_number(data, at, size), out, o)
    if kind == DATE:
        return _put_day(data, at, out, o)
    if kind == TIME:
        return _put_time(data, at, size, of, out, o)
    if kind == YEAR:
        return write_unsigned(_YEARS + load8(data, at), out, o)
    # BITS and MEMBERS
    return _put_bits(data, at, size, of, out, o)


@inline
def _special(word: Any, of: Any) -> Any:
    """Non-zero if a byte of ``word`` is not printed as it is."""
    found = (word - _SPACES) & ~word
    if of == 0:
        quotes, backslashes = word ^ _QUOTES, word ^ _BACKSLASHES
        found |= ((quotes - _ONES) & ~quotes) | ((backslashes - _ONES) & ~backslashes)
    return found & HIGH


@inline
def put_text(data: Any, at: Any, end: Any, of: Any, out: Any, o: Any) -> Any:
    """Bytes in quotes, as mysqlbinlog (``of`` is 0) or mariadb-binlog has them: four a byte at most, eight behind."""
    store8(out, o, _QUOTE)
    o += 1
    while at < end:
        word = load64(data, at)
        step = end - at
        if step < 8:
            keep = (_ONE << (_EIGHT * unsigned(step))) - _ONE
            found = _special((word & keep) | (_LETTERS & ~keep), of)
        else:
            step = np.int64(8)
            found = _special(word, of)
        if found == _ZERO:
            store64(out, o, word)
            o += step
        elif of == 0:
            for place in range(at, at + step):
                byte = load8(data, place)
                store32(out, o, _WORDS[byte])
                o += _SIZES[byte]
        else:
            for place in range(at, at + step):
                byte = load8(data, place)
                store32(out, o, _CONTROL_WORDS[byte])
                o += _CONTROL_SIZES[byte]
        at += step
    store8(out, o, _QUOTE)
    return o + 1
