"""The canonical decode: one JSON object an event, the same from every correct parser (docs/canonical-decode.md).

Cells are exact: a value is text that gives the same bytes back, bytes are hex, NULL is null.  The shape is published
by :func:`forge.decode.schema.decode_schema`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.reader import FIRST, Beginning, PlacedEvent
from forge.binlog.window import LogSource
from forge.decode.cells import Cell, MappedTable, RowChange, row_changes, surroundings_of
from forge.decode.readers import is_informational, readers_of
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.event import EVENT_FLAGS, carries_checksum, own_format
from forge.events.layout import Surroundings
from forge.events.plain import flag_names, text_or_hex
from forge.events.query import Query
from forge.events.registry import event_name
from forge.events.row_reader import QuickRows, RowReader
from forge.events.rows import ROWS_BODIES
from forge.unpacking import TooManyCells
from forge.values.quick import UnusualError

#: Bytes of a QUERY event whose fields are kept.
_KEPT_SIZE = 4096


def canonical_events(
    source: LogSource, beginning: Beginning = FIRST, *, in_pieces: bool = False, behind: int = -1
) -> Iterator[dict[str, Any]]:
    """The events of a file as JSON-able objects, one at a time, in file order; those inside a payload follow it.

    With another ``beginning``, between two transactions, those from there on.  ``in_pieces``: the rows of large events
    are a :class:`PiecedRows`, to be shown before the next event is asked for.  ``behind``: only the events behind that
    number; of those before nothing but the tables is looked at.

    Raises FormatError, after everything that precedes the bad bytes: wrong magic number, bodies that do not fit
    their type, rows that do not fit their table, a wrong checksum (after its event, which has ``valid: false``),
    a torn tail.  A single cell without a value is no error: it is shown as hex with a note.
    Events may share parts that are equal: the objects are for reading.
    """
    tables = TableMaps()
    for logged in logged_events(source, beginning):
        if logged.index > behind:
            yield canonical_event(logged, tables, in_pieces=in_pieces)
        else:
            tables.note(logged)


def events_without_rows(source: LogSource) -> Iterator[dict[str, Any]]:
    """As :func:`canonical_events`, but for the rows of row events, which are not looked at."""
    tables = TableMaps()
    for logged in logged_events(source):
        yield event_without_rows(logged, tables.note(logged))


def canonical_rows(source: LogSource) -> Iterator[RowChange]:
    """The rows of a file, in file order: what decoders are compared on.

    Raises FormatError as :func:`canonical_events`; UnsupportedError for events whose rows cannot be read yet.
    """
    tables = TableMaps()
    for logged in logged_events(source):
        tables.note(logged)
        yield from tables.changes(logged)


def canonical_event(logged: LoggedEvent, tables: TableMaps, *, in_pieces: bool = False) -> dict[str, Any]:
    """The object of one event; ``tables`` are those mapped before it.  Raises as :func:`canonical_events`."""
    shown = event_without_rows(logged, tables.note(logged))
    if isinstance(logged.placed.event.body, ROWS_BODIES):
        shown |= _row_fields(logged, tables, in_pieces)
    return shown


def event_without_rows(logged: LoggedEvent, mapped: MappedTable | None) -> dict[str, Any]:
    """The object of one event but for the rows of a row event; ``mapped`` is the table that it maps, if it does."""
    placed = logged.placed
    event = placed.event
    shown: dict[str, Any] = {
        "index": placed.index,
        "offset": placed.offset,
    }
    if logged.inner:
        shown["inner"] = logged.inner
    type_code = event.type_code
    shown["type"] = event_name(type_code)
    shown["type_code"] = type_code
    shown["timestamp"] = event.timestamp
    shown["server_id"] = event.server_id
    shown["event_size"] = len(placed.raw)
    shown["log_pos"] = _log_pos(placed)
    shown["flags"] = flag_names(event.flags, EVENT_FLAGS)
    # Bytes behind a header or a fixed part that is longer than usual.
    if event.header_extra:
        shown["header_extra"] = event.header_extra.hex()
    if event.post_header_extra:
        shown["post_header_extra"] = event.post_header_extra.hex()
    shown["checksum"] = _checksum(placed)
    if is_informational(event):
        shown["readers"] = readers_of(event, placed.format)
    shown["fields"] = _fields(placed, mapped)
    return shown


def _log_pos(placed: PlacedEvent) -> int:
    """The header's field; that of 3.23 has none."""
    if placed.event.log_pos is not None:
        return placed.event.log_pos
    return own_format(placed.event, placed.format).log_pos(placed.offset, len(placed.raw))


def _fields(placed: PlacedEvent, mapped: MappedTable | None) -> dict[str, Any]:
    body = placed.event.body
    if isinstance(body, Query) and len(placed.raw) <= _KEPT_SIZE:
        return _query_fields(body)
    try:
        if mapped is None:
            return body.canonical(surroundings_of(placed))
        if not mapped.fields:
            mapped.fields.update(body.canonical(surroundings_of(placed, mapped)))
        return mapped.fields
    except FormatError as error:
        raise error.of_event(placed.offset, placed.index) from None


@lru_cache(maxsize=256)
def _query_fields(body: Query) -> dict[str, Any]:
    """The fields of QUERY, most of which are BEGIN, with the same status variables in every transaction."""
    return body.canonical(Surroundings())


def _checksum(placed: PlacedEvent) -> dict[str, Any]:
    if not carries_checksum(placed.event, placed.format):
        return {"algorithm": "NONE", "valid": None}
    return {"algorithm": "CRC32", "valid": placed.event.checksum is None}


def _row_fields(logged: LoggedEvent, tables: TableMaps, in_pieces: bool) -> dict[str, Any]:
    body = logged.placed.event.body
    assert isinstance(body, ROWS_BODIES)
    mapped = tables.by_id.get(body.table_id)
    named = {} if mapped is None else {
        "database": text_or_hex(mapped.body.database), "table": text_or_hex(mapped.body.table)
    }  # fmt: skip
    if mapped is not None and mapped.rows is not None:
        count = tables.count_large(logged, mapped)
        if in_pieces and count is not None:
            return named | {"rows": PiecedRows(count, mapped.rows, logged, mapped)}
        try:
            usual = _usual_rows(mapped.rows.read(body))
            if count is None:
                tables.count(logged, len(usual) * mapped.cells_of_a_row(body))
            return named | {"rows": usual}
        except UnusualError:
            pass
    try:
        rows = [_shown_change(change) for change in tables.changes(logged)]
    except TooManyCells:
        raise
    except UnsupportedError as error:
        return named | {"rows": [], "raw_rows": body.rows.hex(), "note": error.problem}
    return named | {"rows": rows}


class PiecedRows:
    """The rows of a large event, made some at a time, each time that they are asked for."""

    def __init__(self, count: int, reader: RowReader, logged: LoggedEvent, mapped: MappedTable) -> None:
        self._count, self._reader, self._logged, self._mapped = count, reader, logged, mapped

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        body = self._logged.body
        assert isinstance(body, ROWS_BODIES)
        shown = 0
        try:
            for piece in self._reader.pieces(body):
                rows = _usual_rows(piece)
                yield from rows
                shown += len(rows)
        except UnusualError:
            # A cell that is not usual: from its piece on, cell by cell.
            changes = row_changes(self._logged.placed, self._logged.inner, self._mapped)
            yield from map(_shown_change, islice(changes, shown, None))


def _shown_change(change: RowChange) -> dict[str, Any]:
    return {"before": _image(change.before), "after": _image(change.after)}


def _usual_rows(usual: QuickRows) -> list[dict[str, Any]]:
    if usual.before is None:
        return [{"before": None, "after": after} for after in usual.after or ()]
    if usual.after is None:
        return [{"before": before, "after": None} for before in usual.before]
    return [{"before": before, "after": after} for before, after in zip(usual.before, usual.after, strict=True)]


def _image(cells: tuple[Cell, ...] | None) -> list[dict[str, Any]] | None:
    return None if cells is None else [cell.plain() for cell in cells]
