"""The tables that the events of a file map, and the rows of its row events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forge.binlog.logged import LoggedEvent
from forge.binlog.mapped import ends_a_statement, mapped_columns, refuse_to_pass, unmapped
from forge.decode.cells import MappedTable, RowChange, row_changes, shown_cells
from forge.errors import UnsupportedError
from forge.events.row_reader import RowReader
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.unpacking import CELLS_OF_A_BYTE, MOST_CELLS, TooManyCells
from forge.values.quick import UnusualError

#: Bytes of rows that are counted before they are shown.
LARGE_ROWS = 1 << 15


@dataclass(slots=True)
class TableMaps:
    """The tables that are mapped where a reader stands."""

    by_id: dict[int, MappedTable] = field(default_factory=dict)
    #: Bytes of the file up to here, and the cells of its rows (forge.unpacking.MOST_CELLS).
    size: int = 0
    cells: int = 0
    #: The event that was counted last: one that is read again does not count.
    counted: tuple[int, int] | None = None

    def note(self, logged: LoggedEvent) -> MappedTable | None:
        """Remember a TABLE_MAP event; None for any other.

        Raises FormatError if its metadata does not fit its types.
        """
        placed = logged.placed
        body = placed.event.body
        if not logged.inner:
            self.size = placed.offset + len(placed.raw)
        if not isinstance(body, TableMap):
            return None
        columns, problem, rows = None, None, None
        fields: dict[str, Any] = {}
        counts: dict[tuple[bytes | None, bytes | None], int] = {}
        mariadb, last = placed.format.mariadb, self.by_id.get(body.table_id)
        if last is not None and last.body is body and last.mariadb == mariadb:
            columns, problem, rows, fields, counts = last.columns, last.problem, last.rows, last.fields, last.counts
        else:
            try:
                columns = mapped_columns(placed, body, inner=logged.inner > 0)
                rows = RowReader(columns, shown_cells)
            except UnsupportedError as error:
                problem = error.problem
        mapped = MappedTable(placed.index, placed.offset, body, columns, mariadb, problem, rows, fields, counts)
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
        again = self.counted == (placed.offset, logged.inner)
        counted = again or self.count_large(logged, mapped) is not None
        cells = 0 if counted or body.width != len(mapped.columns) else mapped.cells_of_a_row(body)
        for change in row_changes(placed, logged.inner, mapped):
            self.count(logged, cells)
            yield change

    def count_large(self, logged: LoggedEvent, mapped: MappedTable) -> int | None:
        """Count the cells of a large row event at once: its rows; None if it is small, or not usual.

        Raises TooManyCells.
        """
        body = logged.body
        assert isinstance(body, ROWS_BODIES)
        if len(body.rows) < LARGE_ROWS or mapped.rows is None or body.width != len(mapped.rows.columns):
            return None
        cells = mapped.cells_of_a_row(body)
        try:
            rows = mapped.rows.count(body, self._left() // cells)
        except UnusualError:
            return None
        self.count(logged, rows * cells)
        return rows

    def count(self, logged: LoggedEvent, cells: int) -> None:
        """Count cells of the event.  Raises TooManyCells if they are too many for the file's size."""
        self.counted = (logged.offset, logged.inner)
        self.cells += cells
        if self._left() < 0:
            raise TooManyCells(self.size, logged.offset, logged.index)

    def _left(self) -> int:
        return MOST_CELLS + CELLS_OF_A_BYTE * self.size - self.cells
