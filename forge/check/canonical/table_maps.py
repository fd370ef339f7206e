"""The tables that the events of a file map, and the rows of its row events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forge.binlog.logged import LoggedEvent
from forge.binlog.mapped import mapped_columns
from forge.binlog.reader import PlacedEvent
from forge.check.canonical.cells import MappedTable, RowChange, row_changes
from forge.errors import FormatError, UnsupportedError
from forge.events.event import IGNORABLE, RawBody
from forge.events.registry import EVENT_NAMES
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap

#: Table ids of row events that only end a statement (sql/log_event.h: 2^24 - 1 since 5.1.4, all bits before).
DUMMY_TABLE_IDS = frozenset((0xFFFFFF, 0xFFFFFFFFFFFF))
#: Types that hold rows; where one of them is kept raw, rows cannot be told.
ROW_CARRIERS = frozenset((*range(20, 26), 30, 31, 32, 39, 40, *range(166, 173)))


@dataclass(slots=True)
class TableMaps:
    """The tables that are mapped where a reader stands."""

    by_id: dict[int, MappedTable] = field(default_factory=dict)

    def note(self, logged: LoggedEvent) -> MappedTable | None:
        """Remember a TABLE_MAP event; None for any other.

        Raises FormatError if its metadata does not fit its types.
        """
        placed = logged.placed
        body = placed.event.body
        if not isinstance(body, TableMap):
            return None
        columns, problem = None, None
        try:
            columns = mapped_columns(placed, body, inner=logged.inner > 0)
        except UnsupportedError as error:
            problem = error.problem
        mapped = MappedTable(placed.index, placed.offset, body, columns, placed.format.mariadb, problem)
        self.by_id[body.table_id] = mapped
        return mapped

    def changes(self, logged: LoggedEvent) -> Iterator[RowChange]:
        """The rows of a row event; none for any other event.

        Raises FormatError (file offset) if the rows do not fit the mapped columns or no table is mapped;
        UnsupportedError for rows that cannot be read, and for an event behind which no reader may go on.
        """
        placed = logged.placed
        body = placed.event.body
        if isinstance(body, RawBody):
            _refuse_to_pass(placed)
        if not isinstance(body, ROWS_BODIES):
            return
        mapped = self.by_id.get(body.table_id)
        if mapped is None:
            if body.table_id in DUMMY_TABLE_IDS and not body.rows:
                return
            raise FormatError(
                f"no TABLE_MAP before this event maps table id {body.table_id}",
                phase="row",
                event_index=placed.index,
                offset=placed.offset,
            )
        if mapped.columns is None:
            raise UnsupportedError(str(mapped.problem))
        yield from row_changes(placed, logged.inner, mapped)


def _refuse_to_pass(placed: PlacedEvent) -> None:
    event = placed.event
    if event.type_code in ROW_CARRIERS:
        raise UnsupportedError(f"{event.type_name} events are not decoded")
    if event.type_code not in EVENT_NAMES and not event.flags & IGNORABLE:
        raise UnsupportedError(f"event type {event.type_code} is unknown and not marked as ignorable")
