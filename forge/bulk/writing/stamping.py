"""Many small transactions at once: where their events lie, and the envelope around the rows of each.

Two passes.  :func:`place` packs the rows of every transaction into events and lays out the events around them; the
length field of a GTID event is as long as the transaction's length needs, so sizes come first.  :func:`stamp` copies
the templates to their places and puts the numbers of each transaction into them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import copy, inline, kernel, load16, memory, store8, store16, store32, store64
from forge.bulk.plan import Bytes
from forge.bulk.writing.envelope import STMT_END, Envelope, EventTemplate, RowsTemplate
from forge.bulk.writing.packing import HEADER_SIZE
from forge.bulk.writing.row_images import Sizes

Stamps = npt.NDArray[np.uint64]
#: Instead of the number of a template: a rows event.
_ROWS = -1


@dataclass(frozen=True, slots=True)
class Templates:
    """The events of an envelope as kernels take them: the bytes of event ``k`` are ``data[cuts[k]:cuts[k + 1]]``.

    Event ``opening`` is the first behind the rows.  ``stamps`` has a row (event, number, offset, width) a stamp;
    those of event ``k`` are ``stamps[stamp_cuts[k]:stamp_cuts[k + 1]]``.  The rows event comes last.
    """

    data: Bytes
    cuts: Sizes
    stamps: Sizes
    stamp_cuts: Sizes
    opening: int
    length_at: int
    flags_at: int
    #: One an event: whether it has a log_pos.
    positioned: Bytes

    @property
    def around(self) -> int:
        """How many events stand around the rows."""
        return len(self.cuts) - 2


def templates_of(envelope: Envelope, rows: RowsTemplate) -> Templates:
    """The envelope around rows events like ``rows``."""
    before = [*envelope.opening, *envelope.maps]
    events: Sequence[EventTemplate] = [*before, *envelope.closing, rows.head]
    lengths = [event.length_at for event in events]
    assert all(length is None for length in lengths[1:])
    stamps = [
        (number, stamp.number, stamp.offset, stamp.width)
        for number, event in enumerate(events)
        for stamp in event.stamps
    ]
    return Templates(
        data=np.frombuffer(b"".join(event.data for event in events), np.uint8),
        cuts=np.cumsum([0, *(len(event.data) for event in events)]).astype(np.int64),
        stamps=np.array(stamps, np.int64).reshape(-1, 4),
        stamp_cuts=np.cumsum([0, *(len(event.stamps) for event in events)]).astype(np.int64),
        opening=len(before),
        length_at=-1 if lengths[0] is None else lengths[0],
        flags_at=rows.flags_at,
        positioned=np.array([event.positioned for event in events], np.uint8),
    )


@dataclass(frozen=True, slots=True)
class Placed:
    """Where everything lies: rows (``begins``), events with the template of each, transactions."""

    begins: Sizes
    event_begins: Sizes
    event_ends: Sizes
    kinds: Sizes
    transaction_begins: Sizes
    end: int

    @property
    def transactions(self) -> int:
        return len(self.transaction_begins) - 1


def place(
    sizes: Sizes, rows_each: int, templates: Templates, limit: int, checksum: int, at: int, largest: int
) -> Placed:
    """Lay out transactions of ``rows_each`` rows (the last may have fewer), from ``at`` on.

    ``limit``: binlog_row_event_max_size, 0 for one row an event; ``checksum``: bytes behind an event.  Stops behind the
    transaction that reaches ``largest``.
    """
    transactions = -(-len(sizes) // rows_each)
    begins = np.empty(len(sizes), np.int64)
    events = transactions * templates.around + len(sizes)
    event_begins, event_ends, kinds = (np.empty(events, np.int64) for _ in range(3))
    bounds = np.empty(transactions + 1, np.int64)
    placed, count = _place(
        sizes,
        rows_each,
        templates.cuts,
        templates.opening,
        templates.length_at >= 0,
        limit,
        checksum,
        at,
        largest,
        begins,
        event_begins,
        event_ends,
        kinds,
        bounds,
    )
    rows = min(placed * rows_each, len(sizes))
    return Placed(
        begins[:rows],
        event_begins[:count],
        event_ends[:count],
        kinds[:count],
        bounds[: placed + 1],
        int(bounds[placed]),
    )


@inline
def packed_width(value: Any) -> Any:
    if value < 251:
        return 1
    if value < 1 << 16:
        return 3
    return 4 if value < 1 << 24 else 9


@kernel
def _place(
    sizes: Any,
    rows_each: Any,
    cuts: Any,
    opening: Any,
    has_length: Any,
    limit: Any,
    checksum: Any,
    at: Any,
    largest: Any,
    begins: Any,
    event_begins: Any,
    event_ends: Any,
    kinds: Any,
    bounds: Any,
) -> Any:
    around = len(cuts) - 2
    head = cuts[around + 1] - cuts[around]
    fixed = cuts[around] + around * checksum
    event = 0
    transaction = 0
    row = 0
    bounds[0] = at
    while row < len(sizes) and (transaction == 0 or at < largest):
        last = min(row + rows_each, len(sizes))
        # First without the length of the transaction, which may take 1 to 9 bytes of the first event.
        gap = 0
        if has_length:
            total = fixed
            used = limit + 1
            for number in range(row, last):
                if used + sizes[number] > limit:
                    total += head + checksum
                    used = head - HEADER_SIZE
                used += sizes[number]
                total += sizes[number]
            gap = 1
            while packed_width(total + gap) > gap:
                gap = packed_width(total + gap)
        for kind in range(opening):
            event_begins[event] = at
            kinds[event] = kind
            at += cuts[kind + 1] - cuts[kind] + checksum
            if kind == 0:
                at += gap
            event_ends[event] = at
            event += 1
        used = limit + 1
        for number in range(row, last):
            size = sizes[number]
            if used + size > limit:
                if number > row:
                    at += checksum
                    event_ends[event] = at
                    event += 1
                event_begins[event] = at
                kinds[event] = _ROWS
                at += head
                used = head - HEADER_SIZE
            begins[number] = at
            at += size
            used += size
        at += checksum
        event_ends[event] = at
        event += 1
        for kind in range(opening, around):
            event_begins[event] = at
            kinds[event] = kind
            at += cuts[kind + 1] - cuts[kind] + checksum
            event_ends[event] = at
            event += 1
        row = last
        transaction += 1
        bounds[transaction] = at
    return transaction, event


def stamp(out: Bytes, placed: Placed, templates: Templates, stamps: Stamps, first: int) -> None:
    """Copy the templates to their places; transaction ``i`` has the numbers ``stamps[:, first + i]``."""
    _stamp(
        out,
        placed.event_begins,
        placed.kinds,
        placed.transaction_begins,
        templates.data,
        templates.cuts,
        templates.stamps,
        templates.stamp_cuts,
        templates.opening,
        templates.length_at,
        templates.flags_at,
        stamps,
        first,
    )


@inline
def store_number(out: Any, at: Any, value: Any, width: Any) -> None:
    if width == 8:
        store64(out, at, value)
    elif width == 4:
        store32(out, at, value)
    else:
        for byte in range(width):
            store8(out, at + byte, value >> np.uint64(8 * byte))


@inline
def put_length(out: Any, at: Any, value: Any) -> Any:
    """The packed form; its size."""
    width = packed_width(value)
    number = np.uint64(value)
    if width == 1:
        store8(out, at, number)
    elif width == 3:
        store8(out, at, np.uint64(252))
        store16(out, at + 1, number)
    elif width == 4:
        store32(out, at, (number << np.uint64(8)) | np.uint64(253))
    else:
        store8(out, at, np.uint64(254))
        store64(out, at + 1, number)
    return width


@kernel
def _stamp(
    out: Any,
    event_begins: Any,
    kinds: Any,
    bounds: Any,
    data: Any,
    cuts: Any,
    places: Any,
    place_cuts: Any,
    opening: Any,
    length_at: Any,
    flags_at: Any,
    stamps: Any,
    first: Any,
) -> None:
    around = len(cuts) - 2
    transaction = 0
    to, source = memory(out), memory(data)
    for event in range(len(event_begins)):
        at = event_begins[event]
        if at >= bounds[transaction + 1]:
            transaction += 1
        kind = kinds[event] if kinds[event] >= 0 else around
        begin = cuts[kind]
        count = cuts[kind + 1] - begin
        if kind == 0 and length_at >= 0:
            copy(to, at, source, begin, length_at)
            width = put_length(to, at + length_at, bounds[transaction + 1] - bounds[transaction])
            copy(to, at + length_at + width, source, begin + length_at, count - length_at)
        else:
            copy(to, at, source, begin, count)
        for number in range(place_cuts[kind], place_cuts[kind + 1]):
            value = stamps[places[number, 1], first + transaction]
            offset = places[number, 2]
            if kind == 0 and length_at >= 0 and offset >= length_at:
                offset += packed_width(bounds[transaction + 1] - bounds[transaction])
            store_number(to, at + offset, value, places[number, 3])
        if kind == opening and event > 0:  # The one before is the last rows event of the transaction.
            flags = event_begins[event - 1] + flags_at
            store16(to, flags, load16(to, flags) | np.uint64(STMT_END))


__all__ = ["Placed", "Stamps", "Templates", "place", "stamp", "templates_of"]
