"""Doubles as text: the shortest digits that give the number back, laid out as the server lays them out.

The digits are found by the Schubfach method (Raffaello Giulietti, "The Schubfach way to render doubles", 2021): the
bounds of the interval that rounds to the number are scaled by a power of ten so that it holds one or two multiples of
ten or of one, and the nearest of these is taken.  Three products of 64 by 128 bits are all that it takes, for every
double.  The layout is that of :func:`forge.values.numeric.floats.float_text`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.digits import digit_count, write_digits, write_unsigned
from forge.bulk.json.powers import FIRST_POWER
from forge.bulk.machine import (
    high_product,
    inline,
    load8,
    load64,
    signed,
    store8,
    store16,
    store64,
    unsigned,
)

#: Bytes of the longest text: a sign, "0.", 14 zeros and 17 digits.
LONGEST: Final = 34
#: Bytes behind the end of a text that writing it may change.
SPILL: Final = 16

_FIRST = FIRST_POWER
_ZERO, _ONE, _TWO, _FOUR = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4)
_TEN, _FORTY, _HUNDRED = np.uint64(10), np.uint64(40), np.uint64(100)
_FRACTION, _HIDDEN = np.uint64(0xFFFFFFFFFFFFF), np.uint64(1 << 52)
_EXPONENT, _EXPONENT_AT, _SIGN_AT = np.uint64(0x7FF), np.uint64(52), np.uint64(63)
_MAGNITUDE = np.uint64(0x7FFFFFFFFFFFFFFF)
_ZEROS = np.uint64(0x3030303030303030)
_NOUGHT, _MINUS, _POINT, _E = np.uint64(48), np.uint64(45), np.uint64(46), np.uint64(101)
_NOUGHT_POINT, _POINT_NOUGHT = np.uint64(0x2E30), np.uint64(0x302E)


@inline
def _scaled(upper: Any, lower: Any, number: Any) -> Any:
    """The upper 64 bits of a product with 64 bits behind the point, its last bit set if anything is cut off."""
    carry = high_product(lower, number)
    middle = upper * number + carry
    top = high_product(upper, number)
    if middle < carry:
        top += _ONE
    return top | (_ONE if middle > _ONE else _ZERO)


@inline
def shortest_digits(bits: Any, powers: Any) -> Any:
    """(digits, exponent) of the positive finite double with these ``bits``: digits * 10**exponent is the shortest
    decimal that reads back as it, and of these the nearest.  The digits can end in zeros.

    ``powers`` is :func:`forge.bulk.json.powers.powers_of_ten`.
    """
    fraction = bits & _FRACTION
    biased = signed((bits >> _EXPONENT_AT) & _EXPONENT)
    if biased != 0:
        binary = fraction | _HIDDEN
        exponent = biased - 1075
        if -52 <= exponent <= 0 and (binary & ((_ONE << unsigned(-exponent)) - _ONE)) == _ZERO:
            return binary >> unsigned(-exponent), 0
    else:
        binary = fraction
        exponent = -1074
    odd = binary & _ONE
    # Below a power of two the doubles lie twice as close.
    near = _ONE if fraction == _ZERO and biased > 1 else _ZERO
    # floor(log10(2**exponent)), or of 3/4 of it, and floor(log2(10**-power)).
    power = (exponent * 1262611 - (524031 if near != _ZERO else 0)) >> 22
    shift = unsigned(exponent + ((-power * 1741647) >> 19) + 1)
    place = 16 * (-power - _FIRST)
    upper = load64(powers, place)
    lower = load64(powers, place + 8)
    four = _FOUR * binary
    low = _scaled(upper, lower, (four - _TWO + near) << shift) + odd
    value = _scaled(upper, lower, four << shift)
    high = _scaled(upper, lower, (four + _TWO) << shift) - odd
    digits = value >> _TWO
    if digits >= _TEN:
        tens = digits // _TEN
        below = low <= _FORTY * tens
        above = _FORTY * tens + _FORTY <= high
        if below != above:
            return tens + (_ONE if above else _ZERO), power + 1
    below = low <= _FOUR * digits
    above = _FOUR * digits + _FOUR <= high
    if below != above:
        return digits + (_ONE if above else _ZERO), power
    middle = _FOUR * digits + _TWO
    up = value > middle or (value == middle and (digits & _ONE) != _ZERO)
    return digits + (_ONE if up else _ZERO), power


@inline
def write_double(bits: Any, powers: Any, out: Any, at: Any) -> Any:
    """The finite double with these ``bits`` as JSON's text at ``out[at]``; the place behind.

    Up to LONGEST bytes, and SPILL bytes behind them are overwritten.
    """
    if bits >> _SIGN_AT != _ZERO:
        store8(out, at, _MINUS)
        at += 1
        bits &= _MAGNITUDE
    if bits == _ZERO:
        store8(out, at, _NOUGHT)
        store16(out, at + 1, _POINT_NOUGHT)
        return at + 3
    digits, exponent = shortest_digits(bits, powers)
    while True:
        tenth = digits // _TEN
        if tenth * _TEN != digits:
            break
        digits = tenth
        exponent += 1
    count = digit_count(digits)
    point = count + exponent
    if -14 <= point <= 0:
        store16(out, at, _NOUGHT_POINT)
        store64(out, at + 2, _ZEROS)
        store64(out, at + 10, _ZEROS)
        return write_digits(digits, count, out, at + 2 - point)
    if 0 < point < count:
        # One place to the right, and the whole part back to where it belongs.
        write_digits(digits, count, out, at + 1)
        for place in range(at, at + point):
            store8(out, place, load8(out, place + 1))
        store8(out, at + point, _POINT)
        return at + count + 1
    if 0 < point <= 15:
        at = write_digits(digits, count, out, at)
        store64(out, at, _ZEROS)
        store64(out, at + 8, _ZEROS)
        at += point - count
        store16(out, at, _POINT_NOUGHT)
        return at + 2
    write_digits(digits, count, out, at + 1)
    store8(out, at, load8(out, at + 1))
    if count > 1:
        store8(out, at + 1, _POINT)
        at += count
    store8(out, at + 1, _E)
    at += 2
    if point < 1:
        store8(out, at, _MINUS)
        at += 1
    return write_unsigned(unsigned(point - 1 if point > 0 else 1 - point), out, at)
