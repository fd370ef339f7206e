"""The tables that the events of a file map, and the rows of its row events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forge.binlog.logged import LoggedEvent
from forge.binlog.mapped import ends_a_statement, mapped_columns, refuse_to_pass, unmapped
from forge.check.canonical.cells import MappedTable, RowChange, row_changes, shown_cells
from forge.errors import UnsupportedError
from forge.events.row_reader import RowReader
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap


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
        columns, problem, rows = None, None, None
        fields: dict[str, Any] = {}
        mariadb, last = placed.format.mariadb, self.by_id.get(body.table_id)
        if last is not None and last.body is body and last.mariadb == mariadb:
            columns, problem, rows, fields = last.columns, last.problem, last.rows, last.fields
        else:
            try:
                columns = mapped_columns(placed, body, inner=logged.inner > 0)
                rows = RowReader(columns, shown_cells)
            except UnsupportedError as error:
                problem = error.problem
        mapped = MappedTable(placed.index, placed.offset, body, columns, mariadb, problem, rows, fields)
        self.by_id[body.table_id] = mapped
        return mapped

    def changes(self, logged: LoggedEvent) -> Iterator[RowChange]:
        """The rows of a row event; none for any other event.

        Raises FormatError (file offset) if the rows do not fit the mapped columns or no table is mapped;
        UnsupportedError for rows that cannot be read, and for an event behind which no reader may go on.
        """
        placed = logged.placed
        body = placed.event.body
        refuse_to_pass(placed)
        if not isinstance(body, ROWS_BODIES):
            return
        mapped = self.by_id.get(body.table_id)
        if mapped is None:
            if ends_a_statement(body):
                return
            raise unmapped(placed, body)
        if mapped.columns is None:
            raise UnsupportedError(str(mapped.problem))
        yield from row_changes(placed, logged.inner, mapped)
