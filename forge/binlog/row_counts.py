"""How many rows of each table a log changes: what is counted, of small logs one event after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.binlog.logged import logged_events
from forge.binlog.mapped import ends_a_statement, mapped_columns, refuse_to_pass, unmapped
from forge.binlog.window import LogSource
from forge.errors import UnsupportedError
from forge.events.mariadb_compressed import COMPRESSED_ROWS
from forge.events.plain import name_text
from forge.events.row_image import images_of, iterate_rows
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.table_map import TableMap
from forge.unpacking import CELLS_OF_A_BYTE, MOST_CELLS
from forge.values.base import Column

#: What is done to rows.
OPERATIONS = ("insert", "update", "delete")


@dataclass(slots=True)
class Count:
    """Row events of one operation: their number, their rows, and their bytes with header and checksum.

    Bytes of events out of a compressed transaction are those of the unpacked event.
    """

    rows: int = 0
    events: int = 0
    bytes: int = 0


def no_rows() -> dict[str, Count]:
    """A count for each operation."""
    return {word: Count() for word in OPERATIONS}


@dataclass(slots=True)
class RowCounts:
    """What happened to one table, by operation."""

    by_operation: dict[str, Count] = field(default_factory=no_rows)


def count_rows(source: LogSource, counts: dict[str, RowCounts]) -> None:
    """Add the tables that a log maps, in the order of their first TABLE_MAP, with what happened to them.

    Raises FormatError for bytes that break a rule of the format; UnsupportedError for what the bulk reader has to
    count, which says all errors better.
    """
    tables: dict[int, tuple[TableMap, tuple[Column, ...], str]] = {}
    left = MOST_CELLS
    for logged in logged_events(source):
        body = logged.body
        refuse_to_pass(logged.placed)
        if not logged.inner:
            left += CELLS_OF_A_BYTE * len(logged.raw)
        if isinstance(body, TableMap):
            last = tables.get(body.table_id)
            if last is None or last[0] != body:
                name = f"{name_text(body.database)}.{name_text(body.table)}"
                tables[body.table_id] = body, mapped_columns(logged.placed, body, inner=logged.inner > 0), name
                counts.setdefault(name, RowCounts())
        elif isinstance(body, COMPRESSED_ROWS):
            raise UnsupportedError("compressed rows are counted in bulk")
        elif isinstance(body, ROWS_BODIES):
            if body.table_id not in tables:
                if ends_a_statement(body):
                    continue
                raise unmapped(logged.placed, body)
            _, columns, name = tables[body.table_id]
            rows = sum(1 for _ in iterate_rows(body, columns))
            left -= rows * (len(columns) + 1)
            if left < 0:
                raise UnsupportedError("too many cells for their bytes")
            count = counts[name].by_operation[_operation(body)]
            count.rows += rows
            count.events += 1
            count.bytes += len(logged.raw)


def _operation(body: RowsBody) -> str:
    before, after = images_of(body)
    return "insert" if before is None else "delete" if after is None else "update"
