"""The canonical decode of a file as decoders are compared with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.binlog.reader import read_events
from forge.check.cells import MappedTable, RowChange, TableMaps
from forge.errors import FormatError, UnsupportedError


@dataclass(slots=True)
class Reference:
    """Table maps and rows by the file offset of their event, and the error that ends the file, if one does."""

    tables: dict[int, MappedTable] = field(default_factory=dict)
    rows: dict[int, list[RowChange]] = field(default_factory=dict)
    #: Event index by offset, of the events above, in file order.
    events: dict[int, int] = field(default_factory=dict)
    problem: FormatError | UnsupportedError | None = None
    #: Offset of the event with the problem, or where there is no event.
    problem_offset: int = 0

    def forget(self, offset: int) -> None:
        """Take back what the event at ``offset`` said."""
        self.events.pop(offset, None)
        self.tables.pop(offset, None)
        self.rows.pop(offset, None)


def read_reference(data: bytes) -> Reference:
    """The canonical decode of a file, as far as it goes."""
    reference = Reference()
    tables = TableMaps()
    last = following = 4
    try:
        for placed in read_events(data, strict=True):
            last = reference.problem_offset = placed.offset
            following = placed.offset + len(placed.raw)
            mapped = tables.note(placed)
            if mapped is not None:
                reference.events[placed.offset] = placed.index
                reference.tables[placed.offset] = mapped
            for change in tables.changes(placed):
                reference.events[placed.offset] = placed.index
                reference.rows.setdefault(placed.offset, []).append(change)
            reference.problem_offset = following
    except (FormatError, UnsupportedError) as error:
        reference.problem = error
        if isinstance(error, FormatError) and error.phase == "checksum":
            # The event was read before its checksum was found wrong: nothing that it says counts.
            reference.problem_offset = last
            reference.forget(last)
    return reference
