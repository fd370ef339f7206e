"""The canonical decode of a file as decoders are compared with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.binlog.logged import LoggedEvent, logged_events
from forge.check.canonical.cells import MappedTable, RowChange, surroundings_of
from forge.check.canonical.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.transaction_payload import TransactionPayload

#: File offset of an event, and its number inside the payload at that offset (0: not inside one).
Place = tuple[int, int]


@dataclass(slots=True)
class Reference:
    """Table maps and rows by the place of their event, and the error that ends the file, if one does."""

    tables: dict[Place, MappedTable] = field(default_factory=dict)
    rows: dict[Place, list[RowChange]] = field(default_factory=dict)
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
            self.rows.pop(place, None)


def place_behind(logged: LoggedEvent) -> Place:
    """Where the event behind this one is, if there is one."""
    placed = logged.placed
    if logged.inner or isinstance(placed.event.body, TransactionPayload):
        return placed.offset, logged.inner + 1
    return placed.offset + len(placed.raw), 0


def read_reference(data: bytes) -> Reference:
    """The canonical decode of a file, as far as it goes."""
    reference = Reference()
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
                reference.rows.setdefault(place, []).append(change)
            reference.problem_place = place_behind(logged)
    except (FormatError, UnsupportedError) as error:
        reference.problem = error
        if isinstance(error, FormatError) and error.phase == "checksum":
            # The event was read before its checksum was found wrong: nothing that it says counts.
            reference.problem_place = (last, 0)
            reference.forget(last)
    return reference
