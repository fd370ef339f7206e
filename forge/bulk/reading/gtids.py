"""The GTIDs of transactions as text, those of many at once.

A GTID event is written for every transaction, so that files of small ones have as many as rows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.digits import write_unsigned
from forge.bulk.machine import SLACK, inline, kernel, load8, load32, load64, memory, signed, store8, store64, unsigned
from forge.bulk.plan import Bytes, strings_of
from forge.bulk.reading.events import EventList
from forge.bulk.reading.listed import Listed
from forge.errors import FormatError
from forge.events.event import Event, decode_event_strictly
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_gtid import MariadbGtid

#: Bytes of the longest text that the kernel writes: a UUID, a colon and a number of 20 characters.
_LONGEST: Final = 64
#: Characters of a UUID.
_UUID: Final = 36
_GTID, _ANONYMOUS, _MARIADB = Gtid.type_code, AnonymousGtid.type_code, MariadbGtid.type_code
_TAGGED = GtidTagged.type_code
_HAS_TAG: Final = -2
_HYPHEN, _COLON = np.uint64(ord("-")), np.uint64(ord(":"))
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
#: Where it is in the header of an event.
_SERVER_ID: Final = 5

GTID_TYPE: Final = pa.dictionary(pa.int32(), pa.string())
_NONE: Final = pa.nulls(1, pa.string())
_FIRST: Final = np.zeros(1, np.int32)


class Gtids:
    """The GTIDs that are in force in a list of events: the one in force before it, then those of its GTID events."""

    def __init__(self, before: str | None = None) -> None:
        self._before = _NONE if before is None else strings_of([before])

    def texts(
        self, listed: Listed, gtid_events: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]
    ) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        """The different GTIDs of groups, null for none, and which of them each group has; one stands for all.

        The groups ascend: 0 is the GTID of before the list, others are those of its GTID events.
        """
        if groups[-1] == 0:
            return self._before, _FIRST
        if groups[0] == groups[-1]:
            groups = groups[:1]
        return _texts(listed, gtid_events, groups, self._before[0].as_py() if groups[0] == 0 else None)

    def behind(self, listed: Listed, gtid_events: npt.NDArray[np.int64]) -> Gtids:
        """Those of the next list, if these are the GTID events of this one.  Raises FormatError."""
        gtids = Gtids()
        gtids._before, _ = _texts(listed, gtid_events, np.array([len(gtid_events)], np.int64), None)
        return gtids


def _texts(
    listed: Listed, gtid_events: npt.NDArray[np.int64], groups: npt.NDArray[np.int64], before: str | None
) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """The texts of groups, of which 0 is the one in force before, and the place of each group's."""
    buffer, events, format = listed.buffer, listed.events, listed.format
    most = min(len(groups), int(groups[-1] - groups[0]) + 1)
    known = (before or "").encode()
    ends, places = np.empty(most + 1, np.int32), np.empty(len(groups), np.int32)
    validity = np.zeros((most + 7) // 8, np.uint8)
    out = np.empty(len(known) + most * _LONGEST + SLACK, np.uint8)
    out[: len(known)] = np.frombuffer(known, np.uint8)
    count, short = _write(buffer, events.arrays, gtid_events, groups, len(known), places, (ends, validity, out))
    if short == _HAS_TAG:
        different, indexes = np.unique(groups, return_inverse=True)
        chosen = (None if group == 0 else int(gtid_events[group - 1]) for group in different.tolist())
        texts = [before if event is None else _reference_text(buffer, events, event, format) for event in chosen]
        return pa.array(texts, pa.string()), indexes.astype(np.int32)
    if short >= 0:
        _reference_text(buffer, events, short, format)
        raise FormatError("the GTID event is too short", phase="body", offset=int(events.places[short]))
    buffers = [pa.py_buffer(validity), pa.py_buffer(ends), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.string(), count, buffers), places


def _reference_text(buffer: Bytes, events: EventList, event: int, format: FormatContext) -> str | None:
    begin = int(events.begins[event])
    raw = bytes(buffer[begin : begin + int(events.sizes[event])])
    try:
        decoded = decode_event_strictly(raw, int(events.places[event]), format)
    except FormatError as error:
        raise error.within(base=int(events.places[event]), event_index=int(events.numbers[event])) from None
    return gtid_text(decoded)


def gtid_text(event: Event) -> str | None:
    """The GTID that a GTID event gives; None for an anonymous one."""
    body = event.body
    if isinstance(body, MariadbGtid):
        return body.gtid(event.server_id)
    if isinstance(body, GtidTagged):
        return f"{body.uuid}:{body.tag}:{body.gno}"
    assert isinstance(body, AnonymousGtid)
    return body.gtid()


@inline
def _put_uuid(data: Any, begin: Any, held: Any, at: Any) -> None:
    """The text of the 16 bytes from ``data[begin]`` on."""
    for byte in range(16):
        if byte == 4 or byte == 6 or byte == 8 or byte == 10:
            store8(held, at, _HYPHEN)
            at += 1
        value = load8(data, begin + byte)
        store8(held, at, load8(_HEX, signed(value >> np.uint64(4))))
        store8(held, at + 1, load8(_HEX, signed(value & np.uint64(15))))
        at += 2


@inline
def _put_mariadb(data: Any, begin: Any, held: Any, at: Any) -> Any:
    """Domain, server and number of the event at ``data[begin]``; where they end."""
    at = write_unsigned(load32(data, begin + HEADER_SIZE + 8), held, at)
    store8(held, at, _HYPHEN)
    at = write_unsigned(load32(data, begin + _SERVER_ID), held, at + 1)
    store8(held, at, _HYPHEN)
    return write_unsigned(load64(data, begin + HEADER_SIZE), held, at + 1)


@kernel
def _write(buffer: Any, events: Any, gtid_events: Any, groups: Any, before: Any, places: Any, texts: Any) -> Any:
    """Of the text of group 0 so many bytes stand in the texts.

    Returns how many texts there are, and the event that is too short: -1 if none is, _HAS_TAG where a GTID has a tag.
    """
    begins, sizes, types, tails, _, _ = events
    ends, validity, out = texts
    data, held = memory(buffer), memory(out)
    at = np.int64(0)
    # Where the text of the last UUID is: the next one is the same, most likely.
    known, known_first, known_second = np.int64(-1), np.uint64(0), np.uint64(0)
    group = np.int64(-1)
    count = 0
    ends[0] = 0
    for index in range(len(groups)):
        if groups[index] == group:
            places[index] = count - 1
            continue
        group = groups[index]
        bit = count
        places[index] = count
        count += 1
        if group == 0:
            at = np.int64(before)
            ends[count] = at
            if before > 0:
                validity[bit >> 3] |= np.uint8(1 << (bit & 7))
            continue
        event = gtid_events[group - 1]
        begin, kind = begins[event], types[event]
        body, size = begin + HEADER_SIZE, sizes[event] - HEADER_SIZE - tails[event]
        if kind == _TAGGED:
            return count, _HAS_TAG
        if size < (13 if kind == _MARIADB else 25):
            return count, event
        if kind == _MARIADB:
            at = _put_mariadb(data, begin, held, at)
        elif kind == _GTID:
            first, second = load64(data, body + 1), load64(data, body + 9)
            if known >= 0 and first == known_first and second == known_second:
                # Of the 40 bytes the last four are written again.
                for word in range(0, _UUID, 8):
                    store64(held, at + word, load64(held, known + word))
            else:
                known, known_first, known_second = at, first, second
                _put_uuid(data, body + 1, held, at)
            store8(held, at + _UUID, _COLON)
            at += _UUID + 1
            number = signed(load64(data, body + 17))
            if number < 0:
                store8(held, at, _HYPHEN)
                at += 1
            at = write_unsigned(unsigned(abs(number)), held, at)
        if kind != _ANONYMOUS:
            validity[bit >> 3] |= np.uint8(1 << (bit & 7))
        ends[count] = at
    return count, -1
