"""Files as lists of events, each made while the one before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from forge.columnar.plan import Bytes
from forge.columnar.reading.events import EventList
from forge.columnar.reading.lister import EventLister, Listed
from forge.columnar.reading.splits import Split
from forge.events.format import FormatContext


class EventSource:
    """The events of one file or of a split of it, list by list.

    The attributes are those of the list that was handed out last, as forge.columnar.reading.lister.Listed has them;
    they hold until the next one is asked for.
    """

    buffer: Bytes
    events: EventList
    format: FormatContext
    compressed: dict[int, bytes]

    def __init__(self, path: Path, split: Split | None = None) -> None:
        self.path = path
        self._lister = EventLister(path, split)
        self.classes = self._lister.classes

    @property
    def read_bytes(self) -> int:
        """Bytes of the file that have been read."""
        return self._lister.read_bytes

    def lists(self) -> Iterator[EventList]:
        """The events in lists that are not empty.

        A thread makes the next list of a file of many windows: reading, decompressing and kernels take no lock of the
        interpreter.

        Raises FormatError as forge.binlog.reader.read_events does, after the events before the bad bytes; bodies that
        no row depends on are not looked at.  OSError if the file cannot be read.
        """
        with closing(self._lister.lists()) as lists, ThreadPoolExecutor(max_workers=1) as thread:
            listed = next(lists, None)
            while listed is not None:
                ahead = thread.submit(_following, lists) if self._lister.is_full else None
                self._take(listed)
                yield listed.events
                listed = next(lists, None) if ahead is None else ahead.result()

    def _take(self, listed: Listed) -> None:
        self.buffer, self.events = listed.buffer, listed.events
        self.format, self.compressed = listed.format, listed.compressed


def _following(lists: Iterator[Listed]) -> Listed | None:
    return next(lists, None)
