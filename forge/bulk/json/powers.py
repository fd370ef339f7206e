"""Powers of ten as 128-bit numbers."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

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
