"""How many bytes of a file a window takes."""

from __future__ import annotations

from typing import Final

from forge.bulk.machine import SLACK
from forge.bulk.reading.events import EventList
from forge.bulk.reading.listed import Listed
from forge.events.format import HEADER_SIZE

#: Enough to be worth the few hundred microseconds of the interpreter that a window takes beside kernels, and what of it
#: is in use fits a core's cache.
WINDOW: Final = 1 << 21
#: A smaller file has at least so many windows, for two threads to share, as long as they are not smaller than this.
_WINDOWS: Final = 8
_LEAST: Final = 1 << 19
#: With fewer rows than these in a window the next ones are larger by this factor: the interpreter takes as long as for
#: many rows, and there the threads wait for each other.
_FEW_ROWS: Final = 1 << 14
_FACTOR: Final = 2
#: Events of a larger window at most: what the interpreter takes is little beside theirs.
_MOST_EVENTS: Final = EventList.CAPACITY // 2
#: Events that there is room for in the list of a small file at least: a payload may hold more than the file has bytes.
_LEAST_EVENTS: Final = 1 << 10


class WindowSize:
    """The ordinary size, WINDOW / ``part``; a window that an event does not fit is larger for a while."""

    def __init__(self, part: int = 1) -> None:
        self._usual = self.ordinary = WINDOW // part
        #: Events of a list at most.
        self.events = EventList.CAPACITY
        self._most = _FACTOR * self._usual
        self._suitable = 0

    def fit(self, size: int) -> None:
        """What suits so many bytes of a file: a small one needs a window that it does not fill, and no more room."""
        if size > 0:
            several = max(size // _WINDOWS, _LEAST)
            self.ordinary = min(self._usual, several, size // SLACK * SLACK + SLACK)
            self._most = min(_FACTOR * self.ordinary, several)
            self.events = min(EventList.CAPACITY, max(size // HEADER_SIZE, _LEAST_EVENTS))

    def learn(self, listed: Listed, rows: int) -> None:
        """A list had so many rows that were wanted."""
        events = listed.events
        last = events.count - 1
        if last < 0 or rows >= _FEW_ROWS or events.begins[last] >= events.unpacked_from:
            return
        size = int(events.begins[last] + events.sizes[last] - events.begins[0])
        if 2 * size > self.ordinary:
            self._suitable = min(self._most, size * _MOST_EVENTS // events.count)

    def behind(self, size: int) -> int:
        """That of the window behind one of that size."""
        if size == self.ordinary:
            self.ordinary = max(size, self._suitable)
            return self.ordinary
        return size
