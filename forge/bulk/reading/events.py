"""The events of a window: where each begins, and what is to be done with its type."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from forge.bulk.crc32 import checksums_hold
from forge.bulk.machine import in_place, kernel, load8, load32, signed
from forge.bulk.plan import Bytes
from forge.events.event import SIZE_OFFSET
from forge.events.format import HEADER_SIZE
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.registry import EVENT_NAMES
from forge.events.rows import (
    DeleteRows,
    DeleteRowsV1,
    PartialUpdateRows,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.events.table_map import TableMap

#: What is done with an event: nothing, or note its GTID, its table map, its rows.  SPECIAL ones change how the next
#: events are read, hold events of their own, or end the reading; they are met outside the kernels.
PASS, GTID, TABLE_MAP, ROWS, SPECIAL = range(5)
#: Why a walk ended: no whole event is left, a SPECIAL one follows, the list is full, a size is impossible.
NO_MORE, AT_SPECIAL, FULL, BAD_SIZE = range(4)

ROWS_TYPES: Final = {
    body.type_code: body
    for body in (
        WriteRowsV1, UpdateRowsV1, DeleteRowsV1, WriteRows, UpdateRows, DeleteRows, PartialUpdateRows,
    )
}  # fmt: skip

#: Types that servers list and whose events hold no rows, or none that a kernel sees.
_SPECIAL_NAMES = frozenset((15, 40, 164, 166, 167, 168))


@cache
def event_classes() -> Bytes:
    """The class of each type code; nobody changes it."""
    classes = np.full(256, SPECIAL, np.uint8)
    for code in EVENT_NAMES:
        classes[code] = SPECIAL if code in _SPECIAL_NAMES else PASS
    for code in (20, 21, 22):  # Rows of the 5.1 trees before 5.1.18, which nothing here decodes.
        classes[code] = SPECIAL
    for body in (Gtid, AnonymousGtid, GtidTagged, MariadbGtid):
        classes[body.type_code] = GTID
    classes[TableMap.type_code] = TABLE_MAP
    for code in ROWS_TYPES:
        classes[code] = ROWS
    return classes


class EventList:
    """Events one behind the other, as arrays: all of them lie in one buffer.

    ``places`` and ``numbers`` are the file offset and the number of the event, for one out of a payload those of the
    payload; ``tails`` the bytes of checksum behind it.  What begins at ``unpacked_from`` or behind was compressed.
    """

    CAPACITY = 1 << 16

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.count = 0
        self.unpacked_from = 0
        self.begins, self.sizes = np.empty((2, capacity), np.int32)
        self.types, self.tails = np.empty((2, capacity), np.uint8)
        self.places, self.numbers = np.empty((2, capacity), np.int64)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As kernels take them."""
        return self.begins, self.sizes, self.types, self.tails, self.places, self.numbers

    @property
    def full(self) -> bool:
        return self.count == self.capacity

    def clear(self) -> None:
        self.count = 0

    def add(self, begin: int, size: int, type_code: int, *, tail: int, place: int, number: int) -> None:
        """One more event; the list is not full."""
        at = self.count
        self.begins[at], self.sizes[at], self.types[at] = begin, size, type_code
        self.tails[at], self.places[at], self.numbers[at] = tail, place, number
        self.count = at + 1

    def walk(
        self, buffer: Bytes, at: int, end: int, classes: Bytes, *, tail: int, place: int, number: int, step: int
    ) -> tuple[int, int]:
        """Add the whole events of ``buffer[at:end]``: (where the walk ended, why).

        ``place`` and ``number`` are those of the first; ``step`` is 1, or 0 for the events of a payload, which share
        its place and number.
        """
        origin = tail, place, number, step
        self.count, at, why = _walk(buffer, at, end, classes, self.arrays, self.count, origin)
        return at, why

    def first_with_wrong_checksum(self, buffer: Bytes) -> int:
        """The index of an event whose checksum does not hold; -1 if all do."""
        return int(checksums_hold(buffer, self.begins, self.sizes, self.tails, self.count))


@in_place
def put_event(events: Any, count: Any, event: Any) -> None:
    """Note an event: begin, size, type, tail, place and number."""
    begins, sizes, types, tails, places, numbers = events
    begins[count], sizes[count], types[count], tails[count], places[count], numbers[count] = event


@kernel
def _walk(buffer: Any, at: Any, end: Any, classes: Any, events: Any, count: Any, origin: Any) -> Any:
    tail, place, number, step = origin
    why = NO_MORE
    start = at
    while at + HEADER_SIZE <= end:
        size = signed(load32(buffer, at + SIZE_OFFSET))
        if size < HEADER_SIZE + tail:
            why = BAD_SIZE
            break
        if at + size > end:
            break
        kind = load8(buffer, at + 4)
        if classes[kind] == SPECIAL:
            why = AT_SPECIAL
            break
        if count == len(events[0]):
            why = FULL
            break
        put_event(events, count, (at, size, kind, tail, place + (at - start) * step, number))
        number += step
        count += 1
        at += size
    return count, at, why
