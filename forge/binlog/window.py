"""A file of events read a window at a time: memory holds the window and one event, however long the file is."""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO

from forge.events.format import HEADER_SIZE

#: Bytes that are read at a time.
WINDOW = 1 << 20


class LogWindow:
    """Bytes of a file, or of a pipe, from ``start`` on: ``data``.  The window only moves forward: it is read once.

    What a regular file holds when it is opened counts as the whole: a server may go on writing it.
    A piece of a file has a ``start``, where the file is, and an ``end``.
    """

    def __init__(self, file: BinaryIO | None, data: bytes = b"", *, start: int = 0, end: int | None = None) -> None:
        self.file = file
        self.start = start
        self.data = data
        #: Where the file ends; None while that is not known.
        self.end = end if end is not None else len(data) if file is None else _size_of(file)

    def reach(self, offset: int, size: int) -> bool:
        """Whether the file has ``size`` bytes from ``offset`` on, which the window has then.

        Else the window has what is left, as far as a header goes: sizes are not believed.  Raises OSError.
        """
        if self.end is not None and offset + size > self.end:
            self._move(offset, min(self.end - offset, HEADER_SIZE))
            return False
        self._move(offset, size)
        return len(self.data) - (offset - self.start) >= size

    def left(self, offset: int) -> int:
        """How many bytes there are from ``offset``, which the window has reached, to the end.  Raises OSError."""
        if self.end is None:
            assert self.file is not None
            behind = self.start + len(self.data)
            while piece := self.file.read(WINDOW):
                behind += len(piece)
            self.end = behind
        return self.end - offset

    def rest(self, offset: int) -> bytes:
        """All bytes from ``offset``, which the window has reached, to the end.  Raises OSError."""
        self._move(offset, sys.maxsize if self.end is None else self.end - offset)
        found = self.data[offset - self.start :]
        return found if self.end is None else found[: self.end - offset]

    def _move(self, offset: int, size: int) -> None:
        missing = offset + size - (self.start + len(self.data))
        if missing <= 0 or self.file is None:
            return
        start = min(offset, self.start + len(self.data))
        pieces = [self.data[start - self.start :]]
        # What ends behind a large event is the event: its bytes are there once.
        exactly = missing > WINDOW
        while missing > 0 and (piece := self.file.read(min(missing, WINDOW) if exactly else WINDOW)):
            pieces.append(piece)
            missing -= len(piece)
        self.data, self.start = b"".join(pieces), start


#: Where events are read from: all bytes of a file, or a window of it.
LogSource = bytes | LogWindow


def window_of(source: LogSource) -> LogWindow:
    """The window of a source; that of bytes has all of them."""
    return source if isinstance(source, LogWindow) else LogWindow(None, source)


def _size_of(file: BinaryIO) -> int | None:
    """The size of a regular file; None for a pipe and the like."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # not a file of the system
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
