"""Pieces of text in a temporary file, which are read in the opposite order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

#: Bytes of the length behind each piece, and of the file that are read at a time.
_LENGTH, _BLOCK = 8, 1 << 20


class Spill:
    """The pieces, for the time of a ``with`` block."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="forge-")  # noqa: SIM115 (closed with the block)
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, text: str) -> None:
        """One more piece.  Raises OSError."""
        data = text.encode("utf-8", "surrogateescape")
        self._file.write(data + len(data).to_bytes(_LENGTH, "little"))
        self.size += len(data) + _LENGTH

    def cut(self, size: int) -> None:
        """Forget the pieces behind the first ``size`` bytes."""
        self._file.seek(size)
        self._file.truncate()
        self.size = size

    def backwards(self) -> Iterator[bytes]:
        """The pieces, the last one first; small ones together."""
        self._file.flush()
        block, first = b"", self.size
        end = self.size
        while end > 0:
            if end - first < _LENGTH:
                block, first = self._block(end)
            length = int.from_bytes(block[end - first - _LENGTH : end - first], "little")
            begin = end - _LENGTH - length
            if begin < first:
                yield self._read(begin, length)
            else:
                yield block[begin - first : begin - first + length]
            end = begin

    def _block(self, end: int) -> tuple[bytes, int]:
        first = max(0, end - _BLOCK)
        return self._read(first, end - first), first

    def _read(self, begin: int, size: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(size)
