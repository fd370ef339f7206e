"""The buffers that events are listed in: which bytes they hold, and the lists that take turns in them.

A buffer has two parts.  The window holds bytes of the file as they are; whole events are listed where they lie.  What
is compressed is unpacked behind the window, so that a list may hold the events of many small payloads, or a piece of a
large one, and the memory stays the same.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from io import RawIOBase
from typing import Any

import numpy as np

from forge.bulk.machine import SLACK
from forge.bulk.plan import Bytes
from forge.bulk.reading.events import EventList
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.payloads import SMALL
from forge.bulk.reading.window_size import WindowSize
from forge.bulk.reused import Reused
from forge.events.event import SIZE_OFFSET
from forge.events.format import FormatContext
from forge.unpacking import LARGEST_UNPACKED, too_large

#: A window that an event has made larger than so many ordinary ones is given back behind it.
_MOST_WINDOWS = 16
#: With less room than this behind the window, what is unpacked goes to another buffer.
_LEAST = SMALL // 2
#: A file, a part of one, or what a gzip or zstd file holds.
File = RawIOBase | Any


class Room:
    """The buffer and the list that are made, those that were given back, and where the file stands in the buffer."""

    def __init__(self, part: int = 1) -> None:
        self.size = WindowSize(part)
        self.window = self.size.ordinary
        #: Bytes of the file that have been read.
        self.read_bytes = 0
        #: The list that is made, and those that were given back.
        self.list = Listed(np.zeros(0, np.uint8), EventList(0), FormatContext())
        self._free: Reused[Listed] = Reused()
        #: The file offset of the window's first byte, how much of it is filled, and the next event in it.
        self.base = self.fill = self.at = 0
        #: How much there is behind the window, and how much of that is filled.
        self._inner_size = SMALL
        self.inner_fill = 0

    def open(self) -> None:
        """The first list: the ordinary size of windows is known now."""
        self.window = self.size.ordinary
        self.list = Listed(self._buffer(), EventList(self.size.events), FormatContext())
        self.list.events.unpacked_from = self.inner_base

    def _buffer(self) -> Bytes:
        made = np.empty(self.window + SLACK + self._inner_size + SLACK, np.uint8)
        made[self.window : self.inner_base] = made[-SLACK:] = 0
        return made

    @property
    def is_full(self) -> bool:
        """Whether the file has filled a window: there is more to come, most likely."""
        return self.fill == self.window

    @property
    def inner_base(self) -> int:
        """Where the part behind the window begins."""
        return self.window + SLACK

    @property
    def inner_end(self) -> int:
        """Where what is filled of that part ends."""
        return self.inner_base + self.inner_fill

    @property
    def place(self) -> int:
        """The file offset of the next event."""
        return self.base + self.at

    def read(self, file: File) -> int:
        """Fill the window: how many bytes there were."""
        got = int(file.readinto(self.list.buffer.data[self.fill : self.window]) or 0)
        self.fill += got
        self.read_bytes += got
        return got

    def widen(self, least: int) -> None:
        """A larger window, for an event of at least so many bytes."""
        self._resize(window=max(2 * self.window, least), inner=self._inner_size)

    def _resize(self, *, window: int, inner: int) -> None:
        narrow, begin = self.list.buffer, self.inner_base
        self.window, self._inner_size = window, inner
        self._free.clear()
        wide = self.list.buffer = self._buffer()
        wide[self.at : self.fill] = narrow[self.at : self.fill]
        wide[self.inner_base : self.inner_end] = narrow[begin : begin + self.inner_fill]
        self.list.events.unpacked_from = self.inner_base

    def shift(self) -> None:
        """What is left of the window goes to its beginning."""
        left = self.fill - self.at
        if self.at:
            self.list.buffer[:left] = self.list.buffer[self.at : self.fill].copy()
        self.base += self.at
        self.fill, self.at = left, 0
        ordinary = self.size.ordinary
        if self.window > _MOST_WINDOWS * ordinary and left < ordinary:
            self._resize(window=ordinary, inner=SMALL)

    def flush(self) -> Iterator[Listed]:
        """Hand out what is listed."""
        if self.list.events.count:
            self.list.read_bytes = self.read_bytes
            yield self.list
            self._turn()

    def _turn(self) -> None:
        """Go on in another buffer with what is left of the window: the list is in use from here on."""
        used = self.list
        self.window = self.size.behind(self.window)
        self.list = self._spare()
        self.list.format = used.format
        self.list.compressed = {}
        self.list.events.clear()
        self.list.events.unpacked_from = self.inner_base
        self.list.buffer[self.at : self.fill] = used.buffer[self.at : self.fill]
        self.inner_fill = 0

    def _spare(self) -> Listed:
        """A list that was given back, or a new one."""
        while (listed := self._free.take()) is not None:
            if self._is_of_use(listed):
                return listed
        return Listed(self._buffer(), EventList(self.size.events), self.list.format)

    def _is_of_use(self, listed: Listed) -> bool:
        return len(listed.buffer) == self.inner_base + self._inner_size + SLACK

    def give_back(self, listed: Listed, rows: int) -> None:
        """The list, which had so many rows that were wanted, is not in use any more."""
        self.size.learn(listed, rows)
        if self._is_of_use(listed):
            self._free.add(listed)

    def size_at(self, at: int) -> int:
        """What the header there says."""
        return int.from_bytes(self.list.buffer[at + SIZE_OFFSET : at + SIZE_OFFSET + 4].tobytes(), "little")

    def raw(self, at: int) -> bytes:
        """The event there."""
        return self.list.buffer[at : at + self.size_at(at)].tobytes()

    def put(self, data: bytes | memoryview) -> None:
        """More bytes behind the window, where there is room for them."""
        begin = self.inner_end
        self.list.buffer[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
        self.inner_fill += len(data)

    def make_for_event(self, size: int) -> Iterator[Listed]:
        """Room for ``size`` bytes behind the window, and for one more event in the list."""
        if self.inner_fill + size > self._inner_size or self.list.events.full:
            yield from self.flush()
        if size > self._inner_size:
            self._resize(window=self.window, inner=size)

    def flush_around(self, begun: int) -> Generator[Listed, None, bytes]:
        """Hand out what is listed but for the last ``begun`` bytes behind the window, of an event that has begun."""
        end = self.inner_end
        kept = self.list.buffer[end - begun : end].tobytes()
        self.inner_fill -= begun
        yield from self.flush()
        self.inner_fill = 0
        return kept

    def make_for_more(self, begun: int) -> Iterator[Listed]:
        """Room for more behind the last ``begun`` bytes, of an event that has begun; both stay together.

        Raises FormatError for an event that is larger than what is unpacked at once.
        """
        if self._inner_size - self.inner_fill >= _LEAST:
            return
        kept = yield from self.flush_around(begun)
        # The event that has begun is all that is kept, and says what it takes.
        event = int.from_bytes(kept[SIZE_OFFSET : SIZE_OFFSET + 4], "little") if begun >= SIZE_OFFSET + 4 else 0
        if event > LARGEST_UNPACKED:
            raise too_large("an event inside the payload", event, phase="framing", offset=0)
        if (needed := max(begun, event) + _LEAST) > self._inner_size:
            self._resize(window=self.window, inner=needed)
        self.put(kept)

    @property
    def rest(self) -> memoryview:
        """The room that is left behind the window."""
        return self.list.buffer.data[self.inner_end : self.inner_base + self._inner_size]
