"""Transactions of several tables and operations in one go: where their events lie, and the envelopes around the rows.

As forge.bulk.writing.stamping does for transactions that are all alike.  A *shape* is a statement's: the TABLE_MAP
events before its rows, and the rows event.  A *form* is a transaction's: the events before the first statement and
behind the last.  What a transaction is made of is a form and, one after the other, shapes with a number of rows each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import copy, kernel, load16, memory, store16
from forge.bulk.plan import Bytes
from forge.bulk.writing.envelope import STMT_END, EventTemplate, RowsTemplate
from forge.bulk.writing.packing import HEADER_SIZE
from forge.bulk.writing.row_images import Sizes
from forge.bulk.writing.stamping import Stamps, packed_width, put_length, store_number

Flags = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TransactionForm:
    """Events around the statements of a transaction; the first of ``opening`` says how long the transaction is."""

    opening: tuple[EventTemplate, ...]
    closing: tuple[EventTemplate, ...]


@dataclass(frozen=True, slots=True)
class StatementShape:
    """Events of a statement: TABLE_MAP, and the rows event, which the statement may have several of."""

    maps: tuple[EventTemplate, ...]
    rows: RowsTemplate


@dataclass(frozen=True, slots=True)
class FormTables:
    """Forms and shapes as kernels take them: event ``i`` is ``data[cuts[i]:cuts[i + 1]]``.

    ``forms`` has a row (opening, behind it, closing, behind it) a form, ``shapes`` one (maps, behind them, rows event,
    limit) a shape: numbers of events, and how many bytes of rows an event takes, 0 for one row.  Of each event:
    ``stamps[stamp_cuts[i]:stamp_cuts[i + 1]]`` are rows (number, offset, width), ``lengths`` has where the length of
    the transaction goes, -1 for none, ``flags`` where the rows flags are, -1 for none.
    """

    data: Bytes
    cuts: Sizes
    stamps: Sizes
    stamp_cuts: Sizes
    lengths: Sizes
    flags: Sizes
    positioned: Flags
    forms: Sizes
    shapes: Sizes


def form_tables(forms: Sequence[TransactionForm], shapes: Sequence[StatementShape], limit: int) -> FormTables:
    """``limit``: binlog_row_event_max_size."""
    events: list[EventTemplate] = []
    flags: list[int] = []

    def add(*templates: EventTemplate, flags_at: int = -1) -> tuple[int, int]:
        begin = len(events)
        events.extend(templates)
        flags.extend([flags_at] * len(templates))
        return begin, len(events)

    form_rows = [(*add(*form.opening), *add(*form.closing)) for form in forms]
    shape_rows = [
        (*add(*shape.maps), add(shape.rows.head, flags_at=shape.rows.flags_at)[0], 0 if shape.rows.alone else limit)
        for shape in shapes
    ]
    stamps = [(stamp.number, stamp.offset, stamp.width) for event in events for stamp in event.stamps]
    return FormTables(
        data=np.frombuffer(b"".join(event.data for event in events), np.uint8),
        cuts=np.cumsum([0, *(len(event.data) for event in events)]).astype(np.int64),
        stamps=np.array(stamps, np.int64).reshape(-1, 3),
        stamp_cuts=np.cumsum([0, *(len(event.stamps) for event in events)]).astype(np.int64),
        lengths=np.array([-1 if event.length_at is None else event.length_at for event in events], np.int64),
        flags=np.array(flags, np.int64),
        positioned=np.array([event.positioned for event in events], np.uint8),
        forms=np.array(form_rows, np.int64).reshape(-1, 4),
        shapes=np.array(shape_rows, np.int64).reshape(-1, 4),
    )


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Transactions in their order: the form of each; ``cuts[i]`` to ``cuts[i + 1]`` are its statements, each with its
    shape and number of rows (at least 1).
    """

    forms: Sizes
    cuts: Sizes
    shapes: Sizes
    counts: Sizes


@dataclass(frozen=True, slots=True)
class PlacedEvents:
    """Where everything lies: rows (``begins``), events with the template, the transaction, and whether it is the last
    rows event of its statement; transactions (``bounds``, one more than they are).
    """

    begins: Sizes
    event_begins: Sizes
    event_ends: Sizes
    templates: Sizes
    transactions: Sizes
    last: Flags
    bounds: Sizes

    @property
    def end(self) -> int:
        return int(self.bounds[-1])


def place_interleaved(sizes: Sizes, interleaved: Interleaved, tables: FormTables, checksum: int) -> PlacedEvents:
    """Lay out the transactions, whose rows have these sizes; ``checksum``: bytes behind an event."""
    widths = tables.forms[:, 1] - tables.forms[:, 0] + tables.forms[:, 3] - tables.forms[:, 2]
    maps = tables.shapes[:, 1] - tables.shapes[:, 0]
    most = int(widths[interleaved.forms].sum() + maps[interleaved.shapes].sum()) + len(sizes)
    begins = np.empty(len(sizes), np.int64)
    event_begins, event_ends, templates, transactions = (np.empty(most, np.int64) for _ in range(4))
    last = np.zeros(most, np.uint8)
    bounds = np.empty(len(interleaved.forms) + 1, np.int64)
    count = _place(
        sizes,
        interleaved.forms,
        interleaved.cuts,
        interleaved.shapes,
        interleaved.counts,
        tables.cuts,
        tables.lengths,
        tables.forms,
        tables.shapes,
        checksum,
        begins,
        event_begins,
        event_ends,
        templates,
        transactions,
        last,
        bounds,
    )
    return PlacedEvents(
        begins, event_begins[:count], event_ends[:count], templates[:count], transactions[:count], last[:count], bounds
    )


@kernel
def _place(
    sizes: Any,
    forms: Any,
    cuts: Any,
    shapes: Any,
    counts: Any,
    data_cuts: Any,
    lengths: Any,
    form_rows: Any,
    shape_rows: Any,
    checksum: Any,
    begins: Any,
    event_begins: Any,
    event_ends: Any,
    templates: Any,
    transactions: Any,
    last: Any,
    bounds: Any,
) -> Any:
    event = 0
    row = 0
    at = 0
    for transaction in range(len(forms)):
        bounds[transaction] = at
        form = forms[transaction]
        first_event = event
        for kind in range(form_rows[form, 0], form_rows[form, 1]):
            event_begins[event] = at
            templates[event] = kind
            at += data_cuts[kind + 1] - data_cuts[kind] + checksum
            event_ends[event] = at
            event += 1
        first_row = row
        for statement in range(cuts[transaction], cuts[transaction + 1]):
            shape = shapes[statement]
            for kind in range(shape_rows[shape, 0], shape_rows[shape, 1]):
                event_begins[event] = at
                templates[event] = kind
                at += data_cuts[kind + 1] - data_cuts[kind] + checksum
                event_ends[event] = at
                event += 1
            kind = shape_rows[shape, 2]
            limit = shape_rows[shape, 3]
            head = data_cuts[kind + 1] - data_cuts[kind]
            end = row + counts[statement]
            used = 0
            first = row
            while row < end:
                size = sizes[row]
                if row == first or used + size > limit:
                    if row > first:
                        at += checksum
                        event_ends[event] = at
                        event += 1
                    event_begins[event] = at
                    templates[event] = kind
                    at += head
                    used = head - HEADER_SIZE
                begins[row] = at
                at += size
                used += size
                row += 1
            at += checksum
            event_ends[event] = at
            last[event] = 1
            event += 1
        for kind in range(form_rows[form, 2], form_rows[form, 3]):
            event_begins[event] = at
            templates[event] = kind
            at += data_cuts[kind + 1] - data_cuts[kind] + checksum
            event_ends[event] = at
            event += 1
        transactions[first_event:event] = transaction
        if lengths[form_rows[form, 0]] >= 0:
            # The length of the transaction is part of it.
            total = at - bounds[transaction]
            gap = 1
            while packed_width(total + gap) > gap:
                gap = packed_width(total + gap)
            event_begins[first_event + 1 : event] += gap
            event_ends[first_event:event] += gap
            begins[first_row:row] += gap
            at += gap
    bounds[len(forms)] = at
    return event


def stamp_interleaved(out: Bytes, placed: PlacedEvents, tables: FormTables, stamps: Stamps) -> None:
    """Copy the templates to their places; transaction ``i`` has the numbers ``stamps[:, i]``."""
    _stamp(
        out,
        placed.event_begins,
        placed.templates,
        placed.transactions,
        placed.last,
        placed.bounds,
        tables.data,
        tables.cuts,
        tables.stamps,
        tables.stamp_cuts,
        tables.lengths,
        tables.flags,
        stamps,
    )


@kernel
def _stamp(
    out: Any,
    event_begins: Any,
    templates: Any,
    transactions: Any,
    last: Any,
    bounds: Any,
    data: Any,
    cuts: Any,
    places: Any,
    place_cuts: Any,
    lengths: Any,
    flags: Any,
    stamps: Any,
) -> None:
    to, source = memory(out), memory(data)
    for event in range(len(event_begins)):
        at = event_begins[event]
        kind = templates[event]
        transaction = transactions[event]
        begin = cuts[kind]
        count = cuts[kind + 1] - begin
        length_at = lengths[kind]
        width = 0
        if length_at >= 0:
            copy(to, at, source, begin, length_at)
            width = put_length(to, at + length_at, bounds[transaction + 1] - bounds[transaction])
            copy(to, at + length_at + width, source, begin + length_at, count - length_at)
        else:
            copy(to, at, source, begin, count)
        for number in range(place_cuts[kind], place_cuts[kind + 1]):
            offset = places[number, 1]
            if length_at >= 0 and offset >= length_at:
                offset += width
            store_number(to, at + offset, stamps[places[number, 0], transaction], places[number, 2])
        if last[event]:
            place = at + flags[kind]
            store16(to, place, load16(to, place) | np.uint64(STMT_END))


__all__ = [
    "FormTables",
    "Interleaved",
    "PlacedEvents",
    "StatementShape",
    "TransactionForm",
    "form_tables",
    "place_interleaved",
    "stamp_interleaved",
]
