"""Doubles as C prints them with ``%.<digits>g``.

Of numbers from 2**-12 up to 2**63, without a power of ten, the digits are exact in two words: the whole part, and the
fraction as 64 bits behind the point, which are multiplied by powers of ten.  All others are left to ``snprintf``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.types import containers

from forge.bulk.digits import digit_count, write_digits, write_unsigned
from forge.bulk.machine import high_product, inline, intrinsic, pointer, signed, store8, unsigned

#: Instead of a place: the number is infinite, or none.
ODD: Final = -1
#: Bytes of the longest text.
LONGEST: Final = 40

_ZERO, _ONE, _TEN = np.uint64(0), np.uint64(1), np.uint64(10)
_FRACTION, _HIDDEN = np.uint64(0xFFFFFFFFFFFFF), np.uint64(1 << 52)
_MAGNITUDE, _SIGN_AT, _EXPONENT_AT = np.uint64((1 << 63) - 1), np.uint64(63), np.uint64(52)
_INFINITE: Final = 0x7FF
_MINUS, _POINT, _NOUGHT, _HALF = np.uint64(45), np.uint64(46), np.uint64(48), np.uint64(1 << 63)
_POWERS = np.array([10**exponent for exponent in range(20)], np.uint64)
#: Digits behind the point that are taken at once.
_AT_ONCE: Final = 18


@intrinsic
def _printed(_typing: Any, out: Any, at: Any, digits: Any, number: Any) -> Any:
    """``sprintf(out + at, "%.*g", digits, number)``: how many bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        module = builder.module
        form = context.insert_const_string(module, "%.*g")
        kind = ir.FunctionType(ir.IntType(32), [byte, ir.IntType(64), byte], var_arg=True)
        function = module.globals.get("snprintf") or ir.Function(module, kind, name="snprintf")
        to = pointer(context, builder, signature.args[0], arguments[0], arguments[1], 8)
        wide = builder.trunc(arguments[2], ir.IntType(32))
        room = ir.Constant(ir.IntType(64), LONGEST)
        count = builder.call(function, [to, room, form, wide, arguments[3]])
        return builder.zext(count, ir.IntType(64))

    assert isinstance(out, (types.Array, containers.UniTuple))
    return types.int64(out, types.int64, types.int64, types.float64), generate


@inline
def write_shown(bits: Any, number: Any, digits: Any, out: Any, at: Any) -> Any:
    """The double ``number`` with these ``bits``, of so many significant digits (at most 20); the place behind, or ODD.

    LONGEST bytes are overwritten.
    """
    biased = signed((bits & _MAGNITUDE) >> _EXPONENT_AT)
    if biased == _INFINITE:
        return np.int64(ODD)
    negative = bits >> _SIGN_AT != _ZERO
    if bits & _MAGNITUDE == _ZERO:
        if negative:
            store8(out, at, _MINUS)
            at += 1
        store8(out, at, _NOUGHT)
        return at + 1
    exponent = biased - 1075
    mantissa = (bits & _FRACTION) | _HIDDEN
    if not -64 <= exponent <= 10:
        return at + _printed(out, at, np.int64(digits), number)
    fraction = _ZERO
    if exponent >= 0:
        whole = mantissa << unsigned(exponent)
    else:
        whole = mantissa >> unsigned(-exponent) if exponent > -64 else _ZERO
        fraction = mantissa << unsigned(64 + exponent)
    behind = digits - digit_count(whole)
    if whole == _ZERO:
        # The first digits behind the point do not count as long as they are zero.
        behind = digits
        head = fraction
        while high_product(head, _TEN) == _ZERO:
            head *= _TEN
            behind += 1
    if behind < 0:
        return at + _printed(out, at, np.int64(digits), number)
    first, second = min(behind, _AT_ONCE), max(behind - _AT_ONCE, 0)
    upper = high_product(fraction, _POWERS[first])
    rest = fraction * _POWERS[first]
    lower = high_product(rest, _POWERS[second])
    rest *= _POWERS[second]
    odd = (lower if second else upper if first else whole) & _ONE
    if rest > _HALF or (rest == _HALF and odd != _ZERO):
        lower += _ONE
        if lower == _POWERS[second]:
            lower = _ZERO
            upper += _ONE
            if upper == _POWERS[first]:
                upper = _ZERO
                whole += _ONE
                if digit_count(whole) > digits:
                    return at + _printed(out, at, np.int64(digits), number)
    if negative:
        store8(out, at, _MINUS)
        at += 1
    at = write_unsigned(whole, out, at)
    if upper == _ZERO and lower == _ZERO:
        return at
    store8(out, at, _POINT)
    at += 1
    if lower == _ZERO:
        second = 0
    return _without_zeros(upper, first, lower, second, out, at)


@inline
def _without_zeros(upper: Any, first: Any, lower: Any, second: Any, out: Any, at: Any) -> Any:
    """The digits behind the point, without zeros at the end."""
    last, count = (lower, second) if second else (upper, first)
    tenth = last // _TEN
    while tenth * _TEN == last:
        last = tenth
        tenth = last // _TEN
        count -= 1
    if not second:
        return write_digits(last, count, out, at)
    return write_digits(last, count, out, write_digits(upper, first, out, at))
