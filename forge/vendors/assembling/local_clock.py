"""The times of header lines, which are those of the zone in which a text was printed."""

from __future__ import annotations

import calendar
import time
from collections.abc import Iterator

from forge.vendors.assembling.printed_events import Head

_CENTURY = (1970, 70)
#: Seconds: offsets from UTC are multiples of that, and lie between these.
_STEP, _LEAST, _MOST = 900, -12 * 3600, 14 * 3600
#: What a text of one zone needs: winter and summer time, and what they were once.
_KEPT = 4


class LocalClock:
    """The offsets from UTC that were found so far, the last one first."""

    def __init__(self) -> None:
        self.offsets: list[int] = []

    def timestamps(self, head: Head, *, search: bool) -> Iterator[int]:
        """Seconds since the epoch that a header may mean; with ``search``, of any zone."""
        seconds = _seconds(head)
        here = time.localtime(max(seconds, 0)).tm_gmtoff
        offsets = dict.fromkeys([*self.offsets, here])
        if search:
            offsets |= dict.fromkeys(range(_LEAST, _MOST + 1, _STEP))
        for offset in offsets:
            if 0 <= seconds - offset < 1 << 32:
                yield seconds - offset

    def learn(self, head: Head, timestamp: int) -> None:
        """A header means that time."""
        offset = _seconds(head) - timestamp
        if not self.offsets or self.offsets[0] != offset:
            self.offsets = [offset, *(one for one in self.offsets if one != offset)][:_KEPT]


def _seconds(head: Head) -> int:
    """The time as if it were UTC.  Years have two digits, and begin with 1970."""
    year, *rest = head.clock
    century, first = _CENTURY
    full = century - first + year + (0 if year >= first else 100)
    return calendar.timegm((full, *rest))
