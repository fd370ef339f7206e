"""The CRC32 of a file or a part of it, in pieces: that of the bytes behind each other follows from those of the pieces.

What a byte adds to a remainder depends on how many bytes follow it alone: each of them multiplies it by x^8 modulo the
polynomial.  A remainder has the coefficient of x^0 in its highest bit.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from forge.bulk.crc32 import checksum
from forge.bulk.crc32_tables import POLYNOMIAL

#: 1 and x^8.
_ONE: Final = 1 << 31
_X8: Final = 1 << 23
#: Bytes that a thread sums at once: they stay in the cache meanwhile.
_PIECE: Final = 1 << 20
_THREADS: Final = 2


def crc32_of(path: Path) -> int:
    """zlib.crc32 of all bytes of a file."""
    with path.open("rb", buffering=0) as file, ThreadPoolExecutor(_THREADS) as threads:
        size = os.fstat(file.fileno()).st_size
        span = -(-size // _THREADS // _PIECE) * _PIECE or _PIECE
        spans = [(begin, min(begin + span, size)) for begin in range(0, size, span)]
        sums = list(threads.map(lambda place: crc32_of_part(file.fileno(), *place), spans))
    crc32 = 0
    for (begin, end), following in zip(spans, sums, strict=True):
        crc32 = combined(crc32, following, end - begin)
    return crc32


def combined(crc32: int, following: int, size: int) -> int:
    """The CRC32 of bytes that have the first one, and behind them ``size`` bytes that have the other one."""
    return _times(crc32, _shift(size)) ^ following


def crc32_of_part(descriptor: int, begin: int, end: int) -> int:
    """zlib.crc32 of the bytes of an open file from ``begin`` to ``end``.  Raises OSError where it ends before."""
    buffer: Any = np.empty(min(_PIECE, end - begin), np.uint8)
    crc32 = 0
    while begin < end:
        piece = buffer[: end - begin]
        count = os.preadv(descriptor, [piece], begin)
        if not count:
            raise OSError("the file has become shorter")
        crc32 = combined(crc32, int(checksum(piece[:count])), count)
        begin += count
    return crc32


@cache
def _shift(size: int) -> int:
    """x^(8 size): what ``size`` bytes behind a byte do to it."""
    factor, power = _ONE, _X8
    while size:
        if size & 1:
            factor = _times(factor, power)
        power = _times(power, power)
        size >>= 1
    return factor


def _times(one: int, other: int) -> int:
    product = 0
    while one:
        if one & _ONE:
            product ^= other
        one = one << 1 & 0xFFFFFFFF
        other = other >> 1 ^ (POLYNOMIAL if other & 1 else 0)
    return product
