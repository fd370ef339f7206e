"""The part of a log that the kernel sees."""

from __future__ import annotations

from typing import Final

from forge.binlog.reader import PlacedEvent, announced_size
from forge.binlog.window import LogWindow
from forge.bulk.printing import words
from forge.bulk.printing.memories import Memory, Words
from forge.errors import FormatError
from forge.events.event import decode_event
from forge.events.format import HEADER_SIZE, FormatContext
from forge.vendors.shown_events import ShownEvent, shown

#: Bytes that are looked at together, at least; and of the largest event that the kernel prints.
_TOGETHER: Final = 1 << 19
_LARGEST: Final = 1 << 26


class KernelBuffer:
    """Bytes of the file from ``place`` on, which is that of an event."""

    def __init__(self, window: LogWindow, table: Words) -> None:
        self._window = window
        self._words = table
        self._place = self._fill = 0

    @property
    def is_plain(self) -> bool:
        """Whether what has been passed can be read again."""
        return self._window.is_plain

    def at(self, offset: int) -> int:
        """Where the byte at an offset of the file is."""
        return offset - self._place

    def offset(self, at: int) -> int:
        return self._place + at

    def has(self, offset: int) -> bool:
        """Whether there is anything of that place."""
        return self._place <= offset < self._place + self._fill

    def read(self, offset: int) -> bool:
        """Have what the file has from ``offset`` on; whether that is more than before."""
        size = _TOGETHER
        if self.has(offset) and self.at(offset) + HEADER_SIZE <= self._fill:
            size = max(size, announced_size(self._words.memory(words.BUFFER).data, self.at(offset)))
        if size > _LARGEST:
            return False
        behind = self._place + self._fill if self.has(offset) else offset
        memory = self._words.memory(words.BUFFER)
        if memory.size < size:
            memory = Memory(size)
            self._words.set(words.BUFFER, memory)
        self._fill = self._window.read_into(offset, memoryview(memory.data)[:size])
        self._place = offset
        self._words[words.PLACE], self._words[words.END] = self._place, self._fill
        return offset + self._fill > behind

    def event(self, offset: int, format: FormatContext) -> ShownEvent | None:
        """The event there, all of which is there; None if its bytes are no event."""
        data, at = self._words.memory(words.BUFFER).data, self.at(offset)
        raw = bytes(memoryview(data)[at : at + announced_size(data, at)])
        try:
            return shown(PlacedEvent(1, offset, raw, decode_event(raw, offset, format), format))
        except FormatError:
            return None
