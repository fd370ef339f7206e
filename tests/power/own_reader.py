"""All that our own decoder gives of a log, of each of its two readers by itself.

The quick reader leaves what is not usual to the reference, so that a fault of either shows only where it reads alone.
"""

from __future__ import annotations

import json
from typing import Any

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.reader import read_events
from forge.decode.cells import Cell, _quick_text
from forge.decode.decode import canonical_events
from forge.decode.expected import expected_of
from forge.decode.table_maps import TableMaps
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.events.event import carries_checksum
from forge.events.format import CHECKSUM_SIZE
from forge.events.registry import EVENT_TYPES
from forge.events.row_image import iterate_rows
from forge.events.rows import ROWS_BODIES
from forge.events.taking import LayoutError, body_taker
from forge.values.quick import UNUSUAL, UnusualError
from forge.values.registry import codec_for

#: What stands for what the quick reader leaves to the reference.
_LEFT = "left to the reference"


def all_of(data: bytes) -> str:
    """Events, rows and the end as the kit and the canonical decode have them, the events as objects, and each body and
    cell as the quick reader and as the reference reads it."""
    expected = expected_of(data)
    shown: list[Any] = [expected.events, expected.rows, _end(expected.problem), []]
    try:
        shown[-1] += canonical_events(data)
    except (FormatError, UnsupportedError) as error:
        shown.append(_end(error))
    shown += [repr(placed) for placed in read_events(data, strict=False)]
    tables = TableMaps()
    try:
        for logged in logged_events(data):
            shown.append(_body(logged))
            tables.note(logged)
            if isinstance(logged.placed.event.body, ROWS_BODIES):
                shown.append(_rows(logged, tables))
    except (FormatError, UnsupportedError) as error:
        shown.append(_end(error))
    return json.dumps(shown, default=lambda raw: bytes(raw).decode())


def _end(problem: FormatError | UnsupportedError | None) -> Any:
    """How reading ended: what is wrong, and where."""
    if isinstance(problem, FormatError):
        return ["FormatError", problem.phase, problem.offset, problem.event_index]
    return None if problem is None else type(problem).__name__


def _body(logged: LoggedEvent) -> Any:
    """The fields of an event's body."""
    placed = logged.placed
    event, format = placed.event, placed.format
    kind = EVENT_TYPES.get(event.type_code)
    if kind is None or event.post_header_extra:
        return None
    end = len(placed.raw) - CHECKSUM_SIZE * carries_checksum(event, format)
    data = placed.raw[format.header_size(event.type_code) : end]
    try:
        found = repr(sorted((name, repr(one)) for name, one in body_taker(kind.layout)(data, format).items()))
    except LayoutError as error:
        found = f"{error} at {error.at}"
    return found


def _rows(logged: LoggedEvent, tables: TableMaps) -> Any:
    body: Any = logged.placed.event.body
    mapped = tables.by_id.get(body.table_id)
    if mapped is None or mapped.rows is None or mapped.columns is None:
        return None
    try:
        quick = repr(mapped.rows.read(body))
    except UnusualError:
        quick = _LEFT
    changes = tables.changes(logged)
    cells = [cell for change in changes for image in (change.before, change.after) for cell in image or ()]
    images = repr(list(iterate_rows(body, mapped.columns)))
    return quick, images, [_cell(cell) for cell in cells if cell.raw is not None and not cell.partial]


def _cell(cell: Cell) -> Any:
    """The text of a cell as both readers make it."""
    assert cell.raw is not None
    column = cell.column
    try:
        quick = repr(_quick_text(column, column.declared)(cell.raw))
    except UNUSUAL:
        quick = _LEFT
    try:
        reference = repr(codec_for(column).text(column, cell.value()))
    except ForgeError as error:
        reference = repr((type(error).__name__, error.offset if isinstance(error, FormatError) else None))
    return quick, reference
