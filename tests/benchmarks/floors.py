"""Floors of the same machine in the same run: reading and checking a file, writing one, copying memory."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

_CHUNK = 1 << 20


def read_floor(path: Path) -> int:
    """Read the file into one buffer, a MiB at a time, each summed by ``zlib.crc32``."""
    buffer = memoryview(bytearray(_CHUNK))
    total = 0
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            zlib.crc32(buffer[:size])
            total += size
    return total


class WriteFloor:
    """Sum the bytes of a file, a MiB at a time, and write them to a new file."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._data: bytes | None = None

    def __call__(self) -> int:
        if self._data is None:
            self._data = self._source.read_bytes()
        data = memoryview(self._data)
        self._target.unlink(missing_ok=True)
        with self._target.open("wb", buffering=0) as file:
            for start in range(0, len(data), _CHUNK):
                chunk = data[start : start + _CHUNK]
                zlib.crc32(chunk)
                file.write(chunk)
        return len(data)


class MemoryCopy:
    """Copy so many bytes of memory, as numpy does it (memcpy)."""

    def __init__(self, size: int) -> None:
        self._source = np.ones(size, np.uint8)
        self._target = np.zeros(size, np.uint8)

    def __call__(self) -> int:
        self._target[:] = self._source
        return self._source.nbytes
