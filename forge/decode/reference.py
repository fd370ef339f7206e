"""The canonical decode of a file as decoders are compared with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.reader import PlacedEvent
from forge.decode.cells import MappedTable, RowChange, row_changes, surroundings_of
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.event import decode_event_strictly
from forge.events.format import FormatContext
from forge.events.transaction_payload import TransactionPayload

#: File offset of an event, and its number inside the payload at that offset (0: not inside one).
Place = tuple[int, int]
#: Cells of a file that are kept; the rows of further events are read again when they are asked for.
_MOST_KEPT = 1 << 17


class _Again(NamedTuple):
    """A row event that can be read again: its bytes in the file, or, of one inside a payload, its own."""

    number: int
    #: How many rows it has.
    row_count: int
    raw: slice | bytes
    format: FormatContext
    mapped: MappedTable


class RowsByPlace(Mapping[Place, Sequence[RowChange]]):
    """The rows of each row event, in file order, by the place of the event."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        #: None for those that are read again.
        self._rows: dict[Place, list[RowChange] | None] = {}
        self._again: dict[Place, _Again] = {}
        self._cells = 0
        #: What was read again last.
        self._last: tuple[Place, list[RowChange]] | None = None

    def __getitem__(self, place: Place) -> Sequence[RowChange]:
        rows = self._rows[place]
        if rows is not None:
            return rows
        if self._last is None or self._last[0] != place:
            again = self._again[place]
            raw = self._data[again.raw] if isinstance(again.raw, slice) else again.raw
            event = decode_event_strictly(raw, place[0], again.format)
            placed = PlacedEvent(again.number, place[0], raw, event, again.format)
            self._last = place, list(row_changes(placed, place[1], again.mapped))
        return self._last[1]

    def count(self, place: Place) -> int:
        """How many rows the event has."""
        rows = self._rows[place]
        return self._again[place].row_count if rows is None else len(rows)

    def __iter__(self) -> Iterator[Place]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, place: Place, change: RowChange) -> None:
        """One more row of the event at ``place``."""
        rows = self._rows.setdefault(place, [])
        assert rows is not None
        rows.append(change)
        self._cells += len(change.before or ()) + len(change.after or ())

    def close(self, place: Place, logged: LoggedEvent) -> None:
        """The event's rows are complete: they are kept, if not too many are."""
        rows = self._rows.get(place)
        if self._cells <= _MOST_KEPT or not rows:
            return
        placed = logged.placed
        raw = placed.raw if logged.inner else slice(placed.offset, placed.offset + len(placed.raw))
        self._again[place] = _Again(placed.index, len(rows), raw, placed.format, rows[0].mapped)
        self._rows[place] = None

    def pop(self, place: Place) -> None:
        """Take back the rows of the event."""
        self._rows.pop(place, None)
        self._again.pop(place, None)


@dataclass(slots=True)
class Reference:
    """Table maps and rows by the place of their event, and the error that ends the file, if one does."""

    tables: dict[Place, MappedTable] = field(default_factory=dict)
    rows: RowsByPlace = field(default_factory=RowsByPlace)
    #: Event index by place, of the events above, in file order.
    events: dict[Place, int] = field(default_factory=dict)
    #: Event index and text of what is said beside rows.
    statements: dict[Place, tuple[int, str]] = field(default_factory=dict)
    problem: FormatError | UnsupportedError | None = None
    #: The event with the problem, or where there is no event.
    problem_place: Place = (0, 0)

    def forget(self, offset: int) -> None:
        """Take back what the event at ``offset``, and those inside it, said."""
        for place in [place for place in self.statements if place[0] == offset]:
            del self.statements[place]
        for place in [place for place in self.events if place[0] == offset]:
            del self.events[place]
            self.tables.pop(place, None)
            self.rows.pop(place)


def place_behind(logged: LoggedEvent) -> Place:
    """Where the event behind this one is, if there is one."""
    placed = logged.placed
    if logged.inner or isinstance(placed.event.body, TransactionPayload):
        return placed.offset, logged.inner + 1
    return placed.offset + len(placed.raw), 0


def read_reference(data: bytes) -> Reference:
    """The canonical decode of a file, as far as it goes."""
    reference = Reference(rows=RowsByPlace(data))
    tables = TableMaps()
    last = 0
    try:
        for logged in logged_events(data):
            placed = logged.placed
            last = placed.offset
            place = reference.problem_place = (placed.offset, logged.inner)
            text = placed.event.body.statement(surroundings_of(placed))
            if text is not None:
                reference.statements[place] = placed.index, text
            mapped = tables.note(logged)
            if mapped is not None:
                reference.events[place] = placed.index
                reference.tables[place] = mapped
            for change in tables.changes(logged):
                reference.events[place] = placed.index
                reference.rows.add(place, change)
            reference.rows.close(place, logged)
            reference.problem_place = place_behind(logged)
    except (FormatError, UnsupportedError) as error:
        reference.problem = error
        if isinstance(error, FormatError) and error.phase == "checksum":
            # The event was read before its checksum was found wrong: nothing that it says counts.
            reference.problem_place = (last, 0)
            reference.forget(last)
    return reference
