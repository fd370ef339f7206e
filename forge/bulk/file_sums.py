"""The CRC32 of a file or a part of it, read a piece at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

try:
    from isal import isal_zlib as _library
except ImportError:  # A machine that ISA-L is not built for.
    import zlib as _library  # type: ignore[no-redef]

_crc32: Final[Callable[[Any, int], int]] = _library.crc32
#: Bytes that are read before they are summed: they are still in the cache then.
_PIECE: Final = 1 << 20


def crc32_of(path: Path) -> int:
    """zlib.crc32 of all bytes of a file."""
    with path.open("rb", buffering=0) as file:
        return crc32_of_part(file.fileno(), 0, os.fstat(file.fileno()).st_size)


def crc32_of_part(descriptor: int, begin: int, end: int) -> int:
    """zlib.crc32 of the bytes of an open file from ``begin`` to ``end``.  Raises OSError where it ends before."""
    buffer: Any = np.empty(min(_PIECE, end - begin), np.uint8)
    crc32 = 0
    while begin < end:
        piece = buffer[: end - begin]
        count = os.preadv(descriptor, [piece], begin)
        if not count:
            raise OSError("the file has become shorter")
        crc32 = _crc32(piece[:count], crc32)
        begin += count
    return crc32
