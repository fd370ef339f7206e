"""Rows into events: how many share one, and what each event's header says.

Rows share an event until post-header, extra data, width, bitmaps and rows would pass binlog_row_event_max_size; a row
is never split, and the common header and the checksum do not count (the rule of forge.compile.rows.rows).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from forge.bulk.crc32 import crc32
from forge.bulk.machine import SLACK, inline, kernel, memory, store32
from forge.bulk.plan import Bytes, slacked
from forge.bulk.writing.row_images import Sizes
from forge.events.format import CHECKSUM_SIZE

HEADER_SIZE: Final = 19
_SIZE_AT: Final = 9
_LOG_POS_AT: Final = 13
#: Bytes that are sealed before they are handed on.
_PIECE: Final = 1 << 18


class Packed(NamedTuple):
    """Where the rows of a batch lie in the buffer, and the events that they make.

    ``begins[i]``: of row ``i``.  ``event_begins`` and ``event_ends`` (checksum included): of the events, of which the
    last is still open and may take more rows.  ``at``: where the next row of that event goes.
    """

    begins: Sizes
    event_begins: Sizes
    event_ends: Sizes
    at: int


def pack_rows(sizes: Sizes, at: int, opened: int, head: int, limit: int, checksum: int) -> Packed:
    """Pack rows of these sizes, from ``at`` on.

    ``opened``: where the event begins that may take more rows; -1 if there is none.  ``head``: bytes of an event before
    its rows, the common header included.  ``limit``: binlog_row_event_max_size; 0 gives each row its own event.
    ``checksum``: bytes behind an event.
    """
    rows = len(sizes)
    begins = np.empty(rows, np.int64)
    event_begins = np.empty(rows + 1, np.int64)
    event_ends = np.empty(rows + 1, np.int64)
    events, end = _pack_rows(sizes, at, opened, head, limit, checksum, begins, event_begins, event_ends)
    return Packed(begins, event_begins[:events], event_ends[:events], end)


@kernel
def _pack_rows(
    sizes: Any,
    at: Any,
    opened: Any,
    head: Any,
    limit: Any,
    checksum: Any,
    begins: Any,
    event_begins: Any,
    event_ends: Any,
) -> Any:
    events = 0
    if opened >= 0:
        event_begins[0] = opened
        events = 1
    for row in range(len(sizes)):
        size = sizes[row]
        if events == 0 or at + size - event_begins[events - 1] - HEADER_SIZE > limit:
            if events > 0:
                at += checksum
                event_ends[events - 1] = at
            event_begins[events] = at
            events += 1
            at += head
        begins[row] = at
        at += size
    if events > 0:
        event_ends[events - 1] = at + checksum
    return events, at


@kernel
def seal(out: Any, begins: Any, ends: Any, positioned: Any, position: Any, checksum: Any) -> None:
    """Fill in what events say of themselves: size, where the next one begins, checksum.

    ``position``: of ``out[0]`` in the file.  ``positioned``: one an event, whether it says where the next one begins
    (log_pos, modulo 2^32) or 0.  ``checksum``: whether it has one.
    """
    data = memory(out)
    for event in range(len(begins)):
        fill_header(data, begins[event], ends[event], position, positioned[event])
    if checksum:  # Behind all of them: a wide load waits for narrow stores that have just been made.
        for event in range(len(begins)):
            put_checksum(data, begins[event], ends[event])


@inline
def fill_header(data: Any, begin: Any, end: Any, position: Any, positioned: Any) -> None:
    """Size and log_pos of one event of :func:`seal`."""
    store32(data, begin + _SIZE_AT, np.uint64(end - begin))
    store32(data, begin + _LOG_POS_AT, np.uint64(position + end) if positioned else np.uint64(0))


@inline
def put_checksum(data: Any, begin: Any, end: Any) -> None:
    covered = end - begin - CHECKSUM_SIZE
    store32(data, begin + covered, np.uint64(crc32(data, begin, covered)))


def sealed(
    out: Bytes, begins: Sizes, ends: Sizes, positioned: Bytes, position: int, *, checksum: bool
) -> Iterator[tuple[int, memoryview]]:
    """:func:`seal`, and the bytes of the events with their place in the file.

    Piece by piece, so that each is still in the cache.
    """
    first = at = 0
    while first < len(ends):
        last = max(int(np.searchsorted(ends, at + _PIECE)), first + 1)
        seal(out, begins[first:last], ends[first:last], positioned[first:last], position, checksum)
        end = int(ends[last - 1])
        yield position + at, out[at:end].data
        first, at = last, end


def room(out: Bytes, used: int, needed: int) -> Bytes:
    """``out`` if it has ``needed`` bytes (slack not counted), otherwise a larger one with its first ``used`` bytes."""
    if len(out) >= needed + SLACK:
        return out
    larger = slacked(needed + needed // 4)
    larger[:used] = out[:used]
    return larger
