"""Events of a list of the bulk reader: one by the reference path, bytes of many; and lists made of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from forge.binlog.logged import LoggedEvent
from forge.bulk.machine import SLACK
from forge.bulk.reading.events import EventList
from forge.bulk.reading.listed import Listed
from forge.events.event import Event, decode_event_strictly
from forge.events.format import checksummed

Numbers = npt.NDArray[Any]


def event_of(listed: Listed, index: int) -> Event:
    """The event by the reference path.  Raises FormatError."""
    format = checksummed(listed.format, bool(listed.events.tails[index]))
    return decode_event_strictly(raw_of(listed, index), int(listed.events.places[index]), format)


def raw_of(listed: Listed, index: int) -> bytes:
    begin, size = int(listed.events.begins[index]), int(listed.events.sizes[index])
    return listed.buffer[begin : begin + size].tobytes()


def bytes_at(buffer: Numbers, begins: Numbers, width: int) -> Numbers:
    """The ``width`` bytes from each place on, a row each."""
    found: Numbers = np.ascontiguousarray(buffer[begins[:, None] + np.arange(width)])
    return found


def listed_of(events: list[LoggedEvent]) -> Listed:
    """Events of the reference path as the bulk reader lists them."""
    made = EventList(len(events))
    data, format = bytearray(), events[-1].placed.format
    for logged in events:
        tail = len(logged.raw) - logged.placed.unchecked_size
        type_code, size = logged.event.type_code, len(logged.raw)
        made.add(len(data), size, type_code, tail=tail, place=logged.offset, number=logged.index)
        data += logged.raw
    return Listed(np.frombuffer(bytes(data) + bytes(SLACK), np.uint8), made, format)
