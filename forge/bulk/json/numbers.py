"""Numbers of JSON text: integers of 64 bits, and decimal digits rounded to the nearest double.

Doubles are found by the Eisel-Lemire method (Daniel Lemire, "Number parsing at a gigabyte per second", 2021): the
digits times a power of ten of 128 bits give all bits of the result and the one to round by, but for rare products
whose lower bits are all set.  Those, and all that the reference refuses, are left to the reference.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.json.powers import FIRST_POWER
from forge.bulk.machine import double_bits, high_product, inline, leading_zeros, load8, load64, signed, unsigned
from forge.values.json import binary

#: What :func:`read_number` says of a number that the reference has to read or refuse.
UNDECIDED: Final = -1

_FIRST = FIRST_POWER
_INT64, _UINT64, _DOUBLE = binary.INT64, binary.UINT64, binary.DOUBLE
_ZERO, _ONE, _THREE, _TEN = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(10)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOWER_NINE = np.uint64(0x1FF)
_HIDDEN, _FULL = np.uint64(1 << 52), np.uint64(1 << 53)
_TOP, _EXPONENT_AT = np.uint64(63), np.uint64(52)
_LARGEST_SIGNED, _SIGN = np.uint64((1 << 63) - 1), np.uint64(1 << 63)
_TENTH_OF_LARGEST, _LAST_OF_LARGEST = np.uint64((2**64 - 1) // 10), np.uint64((2**64 - 1) % 10)
#: Powers of ten that are doubles.
_EXACT = np.array([10.0**exponent for exponent in range(23)])
_MOST_EXACT = 22
#: Digits that a word holds, whatever they are; digits before the point of the largest double; its exponent.
_DIGITS, _WHOLE_DIGITS, _LARGEST_EXPONENT = 19, 309, 308
_MINUS, _PLUS, _POINT, _NOUGHT, _NINE = (ord(sign) for sign in "-+.09")
_SMALL_E, _LOWER_CASE = ord("e"), 0x20


@inline
def nearest_double(digits: Any, exponent: Any, powers: Any) -> Any:
    """The bits of the double nearest to digits * 10**exponent (digits > 0); all set if that is not decided here.

    ``powers`` is :func:`forge.bulk.json.powers.powers_of_ten`, whose numbers are rounded up; the method wants
    them rounded down where 128 bits are not enough for the power (or its inverse).
    """
    if exponent < _FIRST:
        return _ZERO
    if exponent > _LARGEST_EXPONENT:
        return _ALL
    exact = -27 <= exponent <= 55
    shift = leading_zeros(digits)
    digits = digits << unsigned(shift)
    place = 16 * (exponent - _FIRST)
    power = load64(powers, place)
    high = high_product(digits, power)
    low = digits * power
    if high & _LOWER_NINE == _LOWER_NINE:
        more = high_product(digits, load64(powers, place + 8) - (_ZERO if exact else _ONE))
        low += more
        if more > low:
            high += _ONE
    if low == _ALL and not exact:
        return _ALL
    top = high >> _TOP
    cut = top + np.uint64(9)
    mantissa = high >> cut
    biased = ((217706 * exponent) >> 16) + 63 + signed(top) - shift + 1023
    if biased <= 0:
        # Below the normal doubles; a number half-way between two of them has more digits than there are.
        if biased < -62:
            return _ZERO
        mantissa >>= unsigned(1 - biased)
        return (mantissa + (mantissa & _ONE)) >> _ONE
    if low <= _ONE and -4 <= exponent <= 23 and mantissa & _THREE == _ONE and mantissa << cut == high:
        mantissa ^= _ONE  # half-way: to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >= _FULL:
        mantissa = _HIDDEN
        biased += 1
    if biased >= 2047:
        return _ALL
    return (mantissa ^ _HIDDEN) | (unsigned(biased) << _EXPONENT_AT)


@inline
def _is_digit(byte: Any) -> Any:
    return _NOUGHT <= byte <= _NINE


@inline
def _read_exponent(text: Any, at: Any, end: Any) -> Any:
    """(exponent, place behind) of what stands behind the letter; more than any double has if it is none."""
    byte = signed(load8(text, at)) if at < end else 0
    down = byte == _MINUS
    if down or byte == _PLUS:
        at += 1
    begin = at
    stated = np.int64(0)
    while at < end:
        byte = signed(load8(text, at))
        if not _is_digit(byte):
            break
        if stated < 100000:
            stated = 10 * stated + byte - _NOUGHT
        at += 1
    if at == begin:
        return np.int64(_LARGEST_EXPONENT + 1), at
    return (-stated if down else stated), at


@inline
def read_number(text: Any, at: Any, end: Any, powers: Any) -> Any:
    """(type, bits, place behind) of the number that begins at ``text[at]``, not beyond ``end``.

    The type is INT64, UINT64 (for what is above the largest INT64), DOUBLE or UNDECIDED.
    """
    negative = signed(load8(text, at)) == _MINUS
    if negative:
        at += 1
    sign = _SIGN if negative else _ZERO
    # The first digits, how many digits from the first that is not zero, and how many of these are not in ``number``.
    number = _ZERO
    count = 0
    cut = 0
    byte = signed(load8(text, at)) if at < end else 0
    if byte == _NOUGHT:
        at += 1
    elif not _is_digit(byte):
        return UNDECIDED, _ZERO, at
    else:
        while at < end:
            byte = signed(load8(text, at))
            if not _is_digit(byte):
                break
            if count < _DIGITS:
                number = number * _TEN + unsigned(byte - _NOUGHT)
            else:
                cut += 1
            count += 1
            at += 1
    byte = signed(load8(text, at)) if at < end else 0
    exponent = cut
    if byte != _POINT and byte | _LOWER_CASE != _SMALL_E:
        if cut == 0:
            if negative and number <= _SIGN:
                return _INT64, _ZERO - number, at
            if not negative:
                return (_INT64 if number <= _LARGEST_SIGNED else _UINT64), number, at
        elif cut == 1 and not negative:
            last = load8(text, at - 1) - np.uint64(_NOUGHT)
            if number < _TENTH_OF_LARGEST or (number == _TENTH_OF_LARGEST and last <= _LAST_OF_LARGEST):
                return _UINT64, number * _TEN + last, at
    if count >= _WHOLE_DIGITS:
        return UNDECIDED, _ZERO, at
    if byte == _POINT:
        at += 1
        begin = at
        while at < end:
            byte = signed(load8(text, at))
            if not _is_digit(byte):
                break
            if count < _DIGITS:
                number = number * _TEN + unsigned(byte - _NOUGHT)
                exponent -= 1
                if number != _ZERO:
                    count += 1
            elif byte != _NOUGHT:
                cut += 1
            at += 1
        if at == begin:
            return UNDECIDED, _ZERO, at
        byte = signed(load8(text, at)) if at < end else 0
    if byte | _LOWER_CASE == _SMALL_E:
        stated, at = _read_exponent(text, at + 1, end)
        if stated > _LARGEST_EXPONENT:
            return UNDECIDED, _ZERO, at
        exponent += stated
    if number == _ZERO:
        return _DOUBLE, sign, at
    if number <= _FULL and -_MOST_EXACT <= exponent <= _MOST_EXACT and cut == 0:
        # Both are doubles, so that one operation rounds once.
        exact = np.float64(number)
        exact = exact / _EXACT[-exponent] if exponent < 0 else exact * _EXACT[exponent]
        return _DOUBLE, double_bits(exact) | sign, at
    bits = nearest_double(number, exponent, powers)
    if bits == _ALL or (cut > 0 and nearest_double(number + _ONE, exponent, powers) != bits):
        return UNDECIDED, _ZERO, at
    return _DOUBLE, bits | sign, at
