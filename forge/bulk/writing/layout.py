"""Many transactions at once: where their events lie, and the envelopes around the rows of each.

Two passes.  :func:`place` packs the rows of every statement into events and lays out the events around them; the length
field of a GTID event is as long as the transaction's length needs, so sizes come first.  :func:`stamp` copies the
templates to their places and puts the numbers of each transaction into them.

A transaction is made of a *form*, its events before the first statement and behind the last, and of *shapes*, one a
statement: the TABLE_MAP events before its rows, and the rows event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from forge.bulk.machine import copy, inline, kernel, load16, memory, store8, store16, store32, store64
from forge.bulk.plan import Bytes
from forge.bulk.writing.packing import HEADER_SIZE
from forge.bulk.writing.row_images import Sizes
from forge.bulk.writing.templates import STMT_END, Envelope, EventTemplate, StatementTemplate

#: The numbers of transactions: a row for each of STAMPS, a column for each transaction.
Stamps = npt.NDArray[np.uint64]
#: More room than any log takes.
NO_END: Final = 1 << 62


class Templates(NamedTuple):
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
    positioned: Bytes
    forms: Sizes
    shapes: Sizes


def templates_of(forms: Sequence[Envelope], shapes: Sequence[StatementTemplate], limit: int) -> Templates:
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
    return Templates(
        data=np.frombuffer(b"".join(event.data for event in events), np.uint8),
        cuts=np.cumsum([0, *(len(event.data) for event in events)], dtype=np.int64),
        stamps=np.array(stamps, np.int64).reshape(-1, 3),
        stamp_cuts=np.cumsum([0, *(len(event.stamps) for event in events)], dtype=np.int64),
        lengths=np.array([-1 if event.length_at is None else event.length_at for event in events], np.int64),
        flags=np.array(flags, np.int64),
        positioned=np.array([event.positioned for event in events], np.uint8),
        forms=np.array(form_rows, np.int64).reshape(-1, 4),
        shapes=np.array(shape_rows, np.int64).reshape(-1, 4),
    )


class Transactions(NamedTuple):
    """Transactions in their order: the form of each; ``cuts[i]`` to ``cuts[i + 1]`` are its statements, each with its
    shape and number of rows (at least 1).
    """

    forms: Sizes
    cuts: Sizes
    shapes: Sizes
    counts: Sizes


def alike(forms: Sizes, rows: int, rows_each: int) -> Transactions:
    """Transactions of one statement, all of the first shape, with so many rows each; the last may have fewer."""
    count = len(forms)
    counts = np.full(count, rows_each, np.int64)
    counts[-1] = rows - rows_each * (count - 1)
    return Transactions(forms, np.arange(count + 1), np.zeros(count, np.int64), counts)


class Placed(NamedTuple):
    """Where everything lies: rows (``begins``), events with the template, the transaction, and whether it is the last
    rows event of its statement; transactions (``bounds``, one more than they are).
    """

    begins: Sizes
    event_begins: Sizes
    event_ends: Sizes
    templates: Sizes
    transactions: Sizes
    last: Bytes
    bounds: Sizes

    @property
    def end(self) -> int:
        return int(self.bounds[-1])


def place(sizes: Sizes, transactions: Transactions, templates: Templates, checksum: int, room: int = NO_END) -> Placed:
    """Lay out the transactions, whose rows have these sizes; ``checksum``: bytes behind an event.

    The last one is that which reaches ``room``.
    """
    widths = templates.forms[:, 1] - templates.forms[:, 0] + templates.forms[:, 3] - templates.forms[:, 2]
    maps = templates.shapes[:, 1] - templates.shapes[:, 0]
    most = len(transactions.forms) * int(widths.max()) + len(transactions.shapes) * int(maps.max()) + len(sizes)
    placed = Placed(
        begins=np.empty(len(sizes), np.int64),
        event_begins=np.empty(most, np.int64),
        event_ends=np.empty(most, np.int64),
        templates=np.empty(most, np.int64),
        transactions=np.empty(most, np.int64),
        last=np.zeros(most, np.uint8),
        bounds=np.empty(len(transactions.forms) + 1, np.int64),
    )
    rows, events, count = _place(sizes, transactions, templates, checksum, room, placed)
    return Placed(
        begins=placed.begins[:rows],
        event_begins=placed.event_begins[:events],
        event_ends=placed.event_ends[:events],
        templates=placed.templates[:events],
        transactions=placed.transactions[:events],
        last=placed.last[:events],
        bounds=placed.bounds[: count + 1],
    )


@inline
def _packed_width(value: Any) -> Any:
    if value < 251:
        return 1
    if value < 1 << 16:
        return 3
    return 4 if value < 1 << 24 else 9


@kernel
def _place(sizes: Any, transactions: Any, templates: Any, checksum: Any, room: Any, placed: Any) -> Any:
    """How many rows, events and transactions were placed."""
    # Names of their own: each access to a field counts references.
    begins, event_begins, event_ends, kinds, numbers, last, bounds = placed
    forms, statement_cuts, shapes, counts = transactions
    cuts, lengths, form_rows, shape_rows = templates.cuts, templates.lengths, templates.forms, templates.shapes
    event = row = at = transaction = 0
    bounds[0] = 0
    while transaction < len(forms) and (transaction == 0 or at < room):
        form = forms[transaction]
        first_event, first_row = event, row
        for kind in range(form_rows[form, 0], form_rows[form, 1]):
            event_begins[event], kinds[event] = at, kind
            at += cuts[kind + 1] - cuts[kind] + checksum
            event_ends[event] = at
            event += 1
        for statement in range(statement_cuts[transaction], statement_cuts[transaction + 1]):
            shape = shapes[statement]
            for kind in range(shape_rows[shape, 0], shape_rows[shape, 1]):
                event_begins[event], kinds[event] = at, kind
                at += cuts[kind + 1] - cuts[kind] + checksum
                event_ends[event] = at
                event += 1
            kind, limit = shape_rows[shape, 2], shape_rows[shape, 3]
            head = cuts[kind + 1] - cuts[kind]
            used, first, end = 0, row, row + counts[statement]
            while row < end:
                size = sizes[row]
                if row == first or used + size > limit:
                    if row > first:
                        at += checksum
                        event_ends[event] = at
                        event += 1
                    event_begins[event], kinds[event] = at, kind
                    at += head
                    used = head - HEADER_SIZE
                begins[row] = at
                at += size
                used += size
                row += 1
            at += checksum
            event_ends[event], last[event] = at, 1
            event += 1
        for kind in range(form_rows[form, 2], form_rows[form, 3]):
            event_begins[event], kinds[event] = at, kind
            at += cuts[kind + 1] - cuts[kind] + checksum
            event_ends[event] = at
            event += 1
        gap = 0
        if lengths[form_rows[form, 0]] >= 0:
            # The length of the transaction is part of it.
            total = at - bounds[transaction]
            gap = 1
            while _packed_width(total + gap) > gap:
                gap = _packed_width(total + gap)
        # Loops, where slices would be arrays: most transactions are small.
        for number in range(first_event, event):
            numbers[number] = transaction
            event_begins[number] += gap if number > first_event else 0
            event_ends[number] += gap
        for number in range(first_row, row):
            begins[number] += gap
        at += gap
        transaction += 1
        bounds[transaction] = at
    return row, event, transaction


@inline
def _put_number(out: Any, at: Any, value: Any, width: Any) -> None:
    if width == 8:
        store64(out, at, value)
    elif width == 4:
        store32(out, at, value)
    else:
        for byte in range(width):
            store8(out, at + byte, value >> np.uint64(8 * byte))


@inline
def _put_length(out: Any, at: Any, value: Any) -> Any:
    """The packed form; its size."""
    width = _packed_width(value)
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
def stamp(out: Any, placed: Any, templates: Any, stamps: Any) -> None:
    """Copy the templates to their places; transaction ``i`` has the numbers ``stamps[:, i]``."""
    _, event_begins, _, kinds, numbers, last, bounds = placed
    data, cuts, places, place_cuts, lengths, flags, _, _, _ = templates
    to, source = memory(out), memory(data)
    for event in range(len(event_begins)):
        at, kind, transaction = event_begins[event], kinds[event], numbers[event]
        begin, length_at = cuts[kind], lengths[kind]
        count = cuts[kind + 1] - begin
        width = 0
        if length_at >= 0:
            copy(to, at, source, begin, length_at)
            width = _put_length(to, at + length_at, bounds[transaction + 1] - bounds[transaction])
            copy(to, at + length_at + width, source, begin + length_at, count - length_at)
        else:
            copy(to, at, source, begin, count)
        for number in range(place_cuts[kind], place_cuts[kind + 1]):
            offset = places[number, 1]
            if length_at >= 0 and offset >= length_at:
                offset += width
            _put_number(to, at + offset, stamps[places[number, 0], transaction], places[number, 2])
        if last[event]:
            flags_at = at + flags[kind]
            store16(to, flags_at, load16(to, flags_at) | np.uint64(STMT_END))
