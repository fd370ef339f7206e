"""What a correct reader gets of a file, in a form that programs compare which have no part of MySQL (docs/kit.md).

Events are those of the canonical decode without their rows.  Rows stand by themselves: each cell has its bytes and its
type code, and a typed value; its exact text is there too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from forge.binlog.logged import logged_events
from forge.decode.cells import Cell, RowChange
from forge.decode.decode import event_without_rows
from forge.decode.reference import Place, place_behind
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.plain import text_or_hex
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.text.compressed import decompress
from forge.values.wire_types import WireType

#: Bytes of a cell whose object is kept: the cases of a corpus have many alike.
_KEPT_SIZE = 64
_COMPRESSED = (WireType.BLOB_COMPRESSED, WireType.VARCHAR_COMPRESSED)


@dataclass(slots=True)
class Expected:
    """The events and rows of a file as JSON-able objects, up to ``problem``, which ends them if there is one.

    ``problem_place`` is the event with the problem.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    problem: FormatError | UnsupportedError | None = None
    problem_place: Place = (0, 0)


def expected_of(data: bytes) -> Expected:
    """The events and rows of a file that a correct reader gets.  Raises nothing for any bytes."""
    expected = Expected()
    tables = TableMaps()
    try:
        for logged in logged_events(data):
            expected.problem_place = (logged.placed.offset, logged.inner)
            expected.events.append(event_without_rows(logged, tables.note(logged)))
            expected.rows += map(row_object, tables.changes(logged))
            expected.problem_place = place_behind(logged)
    except (FormatError, UnsupportedError) as error:
        expected.problem = error
    return expected


def row_object(change: RowChange) -> dict[str, Any]:
    """A row with where it is from: event, offset, number inside a payload, number in its event."""
    return {
        "event": change.event_index,
        "offset": change.offset,
        **({"inner": change.inner} if change.inner else {}),
        "row": change.row,
        "kind": change.kind,
        "database": text_or_hex(change.database),
        "table": text_or_hex(change.table),
        "before": _image(change.before),
        "after": _image(change.after),
    }


def _image(cells: tuple[Cell, ...] | None) -> list[dict[str, Any]] | None:
    return None if cells is None else [cell_object(cell) for cell in cells]


def cell_object(cell: Cell) -> dict[str, Any]:
    """A cell: its column and type, its bytes, how many of them are a length, its exact text if it has one, its value.

    NULL has null for bytes, and neither text nor value.
    """
    shown: dict[str, Any] = {"column": cell.number}
    if cell.column.name is not None:
        shown["name"] = text_or_hex(cell.column.name)
    shown["type_code"] = cell.column.type_code
    # Members are part of what a column is known by, and may be very many.
    if cell.partial or cell.raw is None or len(cell.raw) > _KEPT_SIZE or cell.column.members is not None:
        return shown | _value(cell)
    return shown | _kept_value(cell.column, cell.column.declared, cell.raw)


@lru_cache(maxsize=1 << 14)
def _kept_value(column: Column, declared: SqlType | None, raw: bytes) -> dict[str, Any]:
    """That of whole cells; ``declared`` is the column's, which is no part of what it is known by."""
    return _value(Cell(0, column, raw))


def stored(cell: Mapping[str, Any]) -> bytes:
    """The bytes of a cell's object behind their length; those of MariaDB's compressed columns as they were before."""
    data = bytes.fromhex(cell["raw"])[cell.get("prefix", 0) :]
    return decompress(data) if cell.get("type_code") in _COMPRESSED else data


def _value(cell: Cell) -> dict[str, Any]:
    """What of a cell's object is not of its column."""
    typed = cell.typed()
    if cell.raw is None or typed is None:
        return {"raw": None}
    shown: dict[str, Any] = {"raw": cell.raw.hex()}
    if prefix := cell.prefix():
        shown["prefix"] = prefix
    if "broken" not in typed and isinstance(text := cell.text(), str):
        shown["text"] = text
    if "json" in typed:
        typed = {"json": msgspec.Raw(typed["json"].encode())}
    return shown | {"value": typed}
