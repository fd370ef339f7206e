"""Powers of ten as 128-bit numbers, and the few operations on 64-bit words that decimal numbers need."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import types

from forge.bulk.machine import intrinsic

#: Decimal exponents of the table.  Text needs -342 to 308 (smaller and larger numbers are zero and too big), the
#: digits of doubles -292 to 324.
FIRST_POWER: Final = -342
LAST_POWER: Final = 324


@cache
def powers_of_ten() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Two words for each exponent, the upper one first: 10**exponent as a number of exactly 128 bits, rounded up.

    From 0 to 55 the number is exact.
    """
    words = []
    for exponent in range(FIRST_POWER, LAST_POWER + 1):
        over, under = (10**exponent, 1) if exponent >= 0 else (1, 10**-exponent)
        shift = 128 - over.bit_length() + under.bit_length()
        number = _rounded_up(over, under, shift)
        if number.bit_length() > 128:
            number = _rounded_up(over, under, shift - 1)
        words += [number >> 64, number & 0xFFFFFFFFFFFFFFFF]
    return np.array(words, "<u8").view(np.uint8)


def _rounded_up(over: int, under: int, shift: int) -> int:
    return -(-(over << shift) // under) if shift >= 0 else -(-over // (under << -shift))


@intrinsic
def leading_zeros(_typing: Any, word: Any) -> Any:
    """Zero bits above the first one of a uint64, as int64; 64 for zero."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def trailing_zeros(_typing: Any, word: Any) -> Any:
    """Zero bits below the last one of a uint64, as int64; 64 for zero."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def double_bits(_typing: Any, number: Any) -> Any:
    """The 64 bits of a double."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate
