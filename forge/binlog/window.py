"""A file of events read a window at a time: memory holds the window and one event, however long the file is."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from forge.errors import FormatError, ScenarioError
from forge.events.format import HEADER_SIZE
from forge.unpacking import LARGEST_UNPACKED, VARIABLE

#: Bytes that are read at a time.
WINDOW = 1 << 20
#: Bytes that are held at once of what has no size: a pipe, or what a gzip or zstd file holds.
MOST_OF_A_STREAM = 2 * LARGEST_UNPACKED


def whole(file: BinaryIO, name: str, most: int = MOST_OF_A_STREAM) -> bytes:
    """All bytes of a regular file; of a pipe, or of what a file holds compressed, ``most`` bytes.

    Raises OSError; ScenarioError for more, and for a device.
    """
    refuse_device(file, name)
    if _size_of(file) is not None:
        return file.read()
    data = file.read(most + 1)
    if len(data) > most:
        problem = f"this is a pipe or a compressed file of more than {most >> 20} MiB"
        raise ScenarioError(problem, file=name, expected=f"a file as it is, or a higher {VARIABLE}")
    return data


def refuse_device(file: BinaryIO, name: str) -> None:
    """Raise ScenarioError for a device, which may have no end: all but terminals, and that which is empty."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # not a file of the system
        return
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if is_device and not file.isatty() and status.st_rdev != Path(os.devnull).stat().st_rdev:
        raise ScenarioError("this is a device", file=name, expected="a file or a pipe")


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

    @property
    def is_plain(self) -> bool:
        """Whether it is of a regular file as it is: any part of it can be read at any time."""
        return isinstance(self.file, BufferedReader) and self.end is not None

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Have the bytes from ``offset`` on in a buffer: how many there were.  Raises OSError.

        The window of a plain file does not move; that of another one goes there.
        """
        if self.end is not None:
            buffer = buffer[: max(self.end - offset, 0)]
        if self.file is not None and self.is_plain:
            return os.preadv(self.file.fileno(), [buffer], offset)
        self._move(offset, len(buffer))
        found = memoryview(self.data)[offset - self.start :][: len(buffer)]
        buffer[: len(found)] = found
        return len(found)

    def go_on(self, offset: int) -> None:
        """What is before ``offset`` is not asked for any more."""
        if self.file is not None and self.is_plain and offset > self.start + len(self.data):
            self.file.seek(offset)
            self.data, self.start = b"", offset

    def left(self, offset: int) -> int:
        """How many bytes there are from ``offset``, which the window has reached, to the end.  Raises OSError."""
        if self.end is None:
            assert self.file is not None
            behind = self.start + len(self.data)
            while piece := self.file.read(WINDOW):
                behind += len(piece)
                if behind - offset > MOST_OF_A_STREAM:
                    raise _too_much(offset)
            self.end = behind
        return self.end - offset

    def rest(self, offset: int) -> bytes:
        """All bytes from ``offset``, which the window has reached, to the end.  Raises OSError."""
        self._move(offset, MOST_OF_A_STREAM if self.end is None else self.end - offset)
        found = self.data[offset - self.start :]
        if self.end is None and self.file is not None and (len(found) > MOST_OF_A_STREAM or self.file.read(1)):
            raise _too_much(offset)
        return found if self.end is None else found[: self.end - offset]

    def _move(self, offset: int, size: int) -> None:
        missing = offset + size - (self.start + len(self.data))
        if missing <= 0 or self.file is None:
            return
        if self.end is None and missing > MOST_OF_A_STREAM:
            raise _too_much(offset)
        start = min(offset, self.start + len(self.data))
        pieces = [self.data[start - self.start :]]
        # What ends behind a large event is the event: its bytes are there once.
        exactly = missing > WINDOW
        while missing > 0 and (piece := self.file.read(min(missing, WINDOW) if exactly else WINDOW)):
            pieces.append(piece)
            missing -= len(piece)
        self.data, self.start = b"".join(pieces), start


def _too_much(offset: int) -> FormatError:
    mib = MOST_OF_A_STREAM >> 20
    return FormatError(
        f"more than {mib} MiB from here on are one event, or none; of a pipe or a compressed file, at most {mib} MiB"
        f" are held at once (a file as it is has no such limit, and {VARIABLE} raises it)",
        phase="framing",
        offset=offset,
    )


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
