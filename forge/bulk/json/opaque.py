"""The text of opaque values inside documents (the packings are in :mod:`forge.values.json.opaque`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json.doubles import write_digits, write_unsigned
from forge.bulk.json.strings import write_quoted
from forge.bulk.machine import inline, kernel, load8, load64, signed, store8, store16, store32, store64, unsigned
from forge.values.numeric.decimals import MAX_PRECISION, MAX_SCALE
from forge.values.wire_types import WireType

#: Bytes of the longest text that is not made of the value's bytes: a DECIMAL with 65 digits, a zero, a point, a sign.
LONGEST: Final = 80

_ZERO, _ONE, _TEN = np.uint64(0), np.uint64(1), np.uint64(10)
_QUOTE, _MINUS, _DASH, _COLON, _POINT, _SPACE = (np.uint64(ord(sign)) for sign in '"--:. ')
_NOUGHT = np.uint64(48)
_LINE_BREAK = np.uint64(int.from_bytes(b"\\n", "little"))
_BASE64_TYPE = np.uint64(int.from_bytes(b'"base64:', "little"))
_TYPE = np.uint64(int.from_bytes(b"type", "little"))
_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)
_PADDING = np.uint64(ord("="))
#: base64 characters in a line.
_LINE = 76
#: Bytes of a group of 0 to 9 decimal digits, and the number that the group stays below.
_GROUP_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4])
_GROUP_LIMIT = np.array([10**digits for digits in range(10)])
_MAX_PRECISION, _MAX_SCALE = MAX_PRECISION, MAX_SCALE
#: The type whose bytes are printed as the text that they are.
TEXT: Final = int(WireType.VAR_STRING)
_DECIMAL, _TEXT = int(WireType.NEWDECIMAL), TEXT
_DATE, _TIME = int(WireType.DATE), int(WireType.TIME)
_TIMESTAMP, _DATETIME = int(WireType.TIMESTAMP), int(WireType.DATETIME)


@inline
def _two(number: Any, out: Any, at: Any) -> Any:
    return write_digits(unsigned(number), np.int64(2), out, at)


@inline
def _clock(packed: Any, out: Any, at: Any) -> Any:
    """hh:mm:ss.ffffff of a packed time that is not negative; -1 if its fraction has more than six digits."""
    fraction = packed & 0xFFFFFF
    if fraction > 999999:
        return -1
    hour = (packed >> 36) & 0x3FF
    at = _two(hour, out, at) if hour < 100 else write_digits(unsigned(hour), np.int64(3 if hour < 1000 else 4), out, at)
    store8(out, at, _COLON)
    at = _two((packed >> 30) & 0x3F, out, at + 1)
    store8(out, at, _COLON)
    at = _two((packed >> 24) & 0x3F, out, at + 1)
    store8(out, at, _POINT)
    return write_digits(unsigned(fraction), np.int64(6), out, at + 1)


@inline
def _temporal(code: Any, packed: Any, out: Any, at: Any) -> Any:
    store8(out, at, _QUOTE)
    at += 1
    if packed < 0:
        store8(out, at, _MINUS)
        at += 1
        packed = -packed
        if packed < 0:
            return -1
    if code == _TIME:
        at = _clock(packed, out, at)
    else:
        days = packed >> 41
        months = days >> 5
        if months >= 130000:  # the year has five digits
            return -1
        at = write_digits(unsigned(months // 13), np.int64(4), out, at)
        store8(out, at, _DASH)
        at = _two(months % 13, out, at + 1)
        store8(out, at, _DASH)
        at = _two(days & 0x1F, out, at + 1)
        if code != _DATE:
            store8(out, at, _SPACE)
            at = _clock(packed & 0x1FFFFFFFFFF, out, at + 1)
    if at < 0:
        return -1
    store8(out, at, _QUOTE)
    return at + 1


@inline
def _decimal(source: Any, begin: Any, count: Any, out: Any, at: Any) -> Any:
    if count < 3:
        return -1
    precision = signed(load8(source, begin))
    scale = signed(load8(source, begin + 1))
    if precision < 1 or precision > _MAX_PRECISION or scale > precision or scale > _MAX_SCALE:
        return -1
    whole = precision - scale
    # Groups of nine digits outwards from the point: a short one first, and one last.
    first = whole % 9
    last = scale % 9
    groups = whole // 9 + scale // 9
    if count - 2 != _GROUP_BYTES[first] + 4 * groups + _GROUP_BYTES[last]:
        return -1
    place = begin + 2
    negative = signed(load8(source, place)) < 0x80
    flip = 0xFF if negative else 0
    sign_bit = 0x80
    if negative:
        store8(out, at, _MINUS)
        at += 1
    leading = True
    zero = True
    left = whole
    digits = first if first > 0 else (9 if groups > 0 else last)
    for _ in range(groups + (1 if first > 0 else 0) + (1 if last > 0 else 0)):
        if left == 0:
            if leading:
                store8(out, at, _NOUGHT)
                at += 1
                leading = False
            store8(out, at, _POINT)
            at += 1
        number = 0
        for _ in range(_GROUP_BYTES[digits]):
            number = number << 8 | (signed(load8(source, place)) ^ flip ^ sign_bit)
            sign_bit = 0
            place += 1
        if number >= _GROUP_LIMIT[digits]:
            return -1
        if number != 0:
            zero = False
        if not leading:
            at = write_digits(unsigned(number), digits, out, at)
        elif number != 0:
            at = write_unsigned(unsigned(number), out, at)
            leading = False
        left -= digits
        digits = 9 if left > 0 or -left + 9 <= scale else last
    if leading:
        store8(out, at, _NOUGHT)
        at += 1
    return -1 if negative and zero else at


@kernel
def write_opaque(code: Any, source: Any, begin: Any, count: Any, out: Any, at: Any) -> Any:
    """The text of the opaque value of column type ``code`` in ``count`` bytes, at ``out[at]``; the place behind.

    -1 where the reference has to look: the bytes are not what the type demands, or no server wrote them.  Up to
    LONGEST bytes, and 6 for each byte of text or 2 for each other; as many bytes as behind a string are overwritten
    and read behind the ends.
    """
    if code == _DECIMAL:
        return _decimal(source, begin, count, out, at)
    if code in (_TIMESTAMP, _DATE, _TIME, _DATETIME):
        return _temporal(code, signed(load64(source, begin)), out, at) if count == 8 else -1
    if code == _TEXT:
        return write_quoted(source, begin, count, out, at)
    store64(out, at, _BASE64_TYPE)
    store32(out, at + 8, _TYPE)
    at = write_unsigned(unsigned(code), out, at + 12)
    store8(out, at, _COLON)
    at += 1
    column = 0
    for place in range(begin, begin + count, 3):
        if column == _LINE:
            store16(out, at, _LINE_BREAK)
            at += 2
            column = 0
        left = begin + count - place
        group = signed(load8(source, place)) << 16
        if left > 1:
            group |= signed(load8(source, place + 1)) << 8
        if left > 2:
            group |= signed(load8(source, place + 2))
        store8(out, at, load8(_ALPHABET, group >> 18))
        store8(out, at + 1, load8(_ALPHABET, (group >> 12) & 63))
        store8(out, at + 2, load8(_ALPHABET, (group >> 6) & 63) if left > 1 else _PADDING)
        store8(out, at + 3, load8(_ALPHABET, group & 63) if left > 2 else _PADDING)
        at += 4
        column += 4
    store8(out, at, _QUOTE)
    return at + 1
