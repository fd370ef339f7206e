"""CRC32 by tables, for any CPU: eight of them take eight bytes at a time ("slicing-by-8", Kounavis and Berry, 2005)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import inline, load8, load64

#: That of zlib.crc32, bits reflected.
POLYNOMIAL: Final = 0xEDB88320
ONES: Final = np.uint32(0xFFFFFFFF)


def _sliced_tables() -> npt.NDArray[np.uint32]:
    """``[0]`` is the ordinary table; ``[k]`` is that of a byte that ``k`` zero bytes follow."""
    tables = np.zeros((8, 256), np.uint32)
    remainder = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainder = (remainder >> np.uint32(1)) ^ np.where(remainder & 1, np.uint32(POLYNOMIAL), np.uint32(0))
    tables[0] = remainder
    for number in range(1, 8):
        tables[number] = tables[0][tables[number - 1] & 0xFF] ^ (tables[number - 1] >> np.uint32(8))
    return tables


TABLES: Final = _sliced_tables()


@inline
def sliced(buffer: Any, begin: Any, count: Any) -> Any:
    """The remainder of ones after ``count`` bytes."""
    mask = np.uint64(0xFF)
    state = np.uint64(ONES)
    at = begin
    end = begin + count
    while at + 8 <= end:
        word = load64(buffer, at) ^ state
        state = np.uint64(
            TABLES[7, word & mask]
            ^ TABLES[6, (word >> np.uint64(8)) & mask]
            ^ TABLES[5, (word >> np.uint64(16)) & mask]
            ^ TABLES[4, (word >> np.uint64(24)) & mask]
            ^ TABLES[3, (word >> np.uint64(32)) & mask]
            ^ TABLES[2, (word >> np.uint64(40)) & mask]
            ^ TABLES[1, (word >> np.uint64(48)) & mask]
            ^ TABLES[0, word >> np.uint64(56)]
        )
        at += 8
    while at < end:
        state = np.uint64(TABLES[0, (state ^ load8(buffer, at)) & mask]) ^ (state >> np.uint64(8))
        at += 1
    return np.uint32(state)
