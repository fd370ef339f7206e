"""Logs as they are archived: a file that gzip or zstd has compressed as a whole is read as the log inside."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO, cast

from forge.errors import FormatError

_BEGINNINGS = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
#: The largest window of a zstd frame that is unpacked, as a power of two: what `zstd --ultra -22` uses.
_LARGEST_WINDOW = 27


def wrapping(beginning: bytes) -> str | None:
    """What a file that begins so was compressed by: gzip or zstd; None for neither."""
    return next((name for name, bytes_ in _BEGINNINGS.items() if beginning.startswith(bytes_)), None)


def unwrapped(file: BinaryIO) -> BinaryIO:
    """The file, or what it holds if it is a gzip or zstd file.  Reading raises FormatError for one that is damaged."""
    begun = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast(Any, file))
    match wrapping(begun.peek(4)):
        case "gzip":
            return cast(BinaryIO, _Unwrapped(gzip.GzipFile(fileobj=begun), "gzip"))
        case "zstd":
            import zstandard

            stream = zstandard.ZstdDecompressor(max_window_size=1 << _LARGEST_WINDOW).stream_reader(
                begun, read_across_frames=True
            )
            return cast(BinaryIO, _Unwrapped(stream, "zstd"))
    return cast(BinaryIO, begun)


class _Unwrapped:
    """A stream of unpacked bytes, whose length nobody knows before its end."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def read(self, size: int = -1) -> bytes:
        from zstandard import ZstdError

        try:
            return bytes(self._stream.read(size))
        except (gzip.BadGzipFile, EOFError, zlib.error, ZstdError) as error:
            raise FormatError(f"the {self._name} file is damaged: {error}", phase="framing") from None

    def readinto(self, room: Any) -> int:
        found = self.read(len(room))
        memoryview(room)[: len(found)] = found
        return len(found)

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")
