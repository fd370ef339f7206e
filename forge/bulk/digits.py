"""Decimal digits of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.bulk.machine import inline, leading_zeros, load16, signed, store8, store16

_ONE, _TWO, _TEN, _HUNDRED, _NOUGHT = (np.uint64(number) for number in (1, 2, 10, 100, 48))
#: "00" to "99".
_PAIRS = np.frombuffer(b"".join(b"%02d" % number for number in range(100)), np.uint8)
_POWERS = np.array([10**exponent for exponent in range(20)], np.uint64)


@inline
def digit_count(number: Any) -> Any:
    """Decimal digits of a uint64; 1 for zero."""
    guess = ((64 - leading_zeros(number | _ONE)) * 1233) >> 12
    if guess >= 20:
        return 20
    return guess + (1 if (number | _ONE) >= _POWERS[guess] else 0)


@inline
def write_digits(number: Any, count: Any, out: Any, at: Any) -> Any:
    """The last ``count`` (at least one) decimal digits of ``number`` at ``out[at]``; the place behind."""
    place = at + count
    while place - at >= 2:
        rest = number // _HUNDRED
        place -= 2
        store16(out, place, load16(_PAIRS, signed((number - rest * _HUNDRED) * _TWO)))
        number = rest
    if place > at:
        store8(out, at, _NOUGHT + number % _TEN)
    return at + count


@inline
def write_unsigned(number: Any, out: Any, at: Any) -> Any:
    """A uint64 as decimal digits at ``out[at]``; the place behind."""
    return write_digits(number, digit_count(number), out, at)
