"""The rows of a log in bulk held against the canonical decode: values, images, places, and where each refuses."""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from forge.bulk.reading.rows import read_rows
from forge.bulk.registry import column_plan
from forge.decode.cells import Cell, RowChange
from forge.decode.decode import canonical_rows
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.events.plain import name_text
from forge.values.registry import codec_for
from forge.values.text.enums import MemberCodec


def value_of(cell: Cell) -> Any:
    """What Arrow has of a cell; None for what it cannot say too."""
    if cell.raw is None:
        return None
    plan, codec = column_plan(cell.column), codec_for(cell.column)
    assert plan is not None
    kind = plan.arrow_type
    try:
        if cell.partial:
            return cell.updated()
        value = cell.value()
        if pa.types.is_dictionary(kind):
            assert isinstance(codec, MemberCodec)
            text = codec.text(cell.column, value)
            return text if text == codec.members_text(cell.column, value) else None
        if pa.types.is_string(kind):
            return codec.text(cell.column, value)
        shown = codec.python_value(cell.column, value)
    except ForgeError:
        return None
    if pa.types.is_struct(kind):
        raw = cell.raw[-plan.wire :]
        return {"srid": int.from_bytes(raw[:4], "little"), "wkb": raw[4:]}
    if pa.types.is_uint64(kind) and not isinstance(shown, int):
        return int.from_bytes(cell.raw, "little")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return None if isinstance(shown, str) else shown
    return [number for (number,) in struct.iter_unpack("<f", shown)] if pa.types.is_list(kind) else shown


def same(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float) and math.isnan(value):
        return math.isnan(other)
    return bool(value == other)


def reference_changes(data: bytes) -> tuple[dict[str, list[RowChange]], ForgeError | None]:
    """The rows of each table up to the end, or to the error."""
    found = defaultdict(list)
    try:
        for change in canonical_rows(data):
            found[f"{name_text(change.database)}.{name_text(change.table)}"].append(change)
    except (FormatError, UnsupportedError) as error:
        return found, error
    return found, None


def difference(log: Path) -> str | None:
    """What the rows in bulk have otherwise than the canonical decode; None if nothing.

    A refusal must be of the same kind, rule and place, with four exceptions: metadata that no column has is refused
    although all its cells are NULL; a wrong checksum is told before what else is wrong in its event; and a body that no
    row depends on is not looked at; and a log whose headers are not those of the vendors' servers is not read at all.
    """
    expected, refusal = reference_changes(log.read_bytes())
    seen: dict[str, int] = defaultdict(int)
    try:
        for table, batch in read_rows(log, images="both", on_odd="null"):
            names = [field.name for field in batch.schema.field("before").type]
            columns = {field.name: batch.column(field.name) for field in batch.schema}
            for row in range(batch.num_rows):
                if seen[table] == len(expected[table]):
                    return None if refusal is not None and _unread(refusal) else f"{table}: more rows"
                change = expected[table][seen[table]]
                seen[table] += 1
                found = _row_difference(columns, row, change, names)
                if found is not None:
                    return f"{table}, row {seen[table]}: {found}"
    except ForgeError as error:
        return _refusals_differ(refusal, error)
    if refusal is not None:
        return None if _unread(refusal) else f"read in spite of: {refusal}"
    counts = {table: len(rows) for table, rows in expected.items()}
    return None if dict(seen) == counts else f"rows: {dict(seen)}, not {counts}"


def _row_difference(columns: dict[str, Any], row: int, change: RowChange, names: list[str]) -> str | None:
    place = (columns["_operation"][row].as_py(), columns["_event"][row].as_py(), columns["_position"][row].as_py())
    if place != (change.kind, change.event_index, change.offset):
        return f"{place}, not {(change.kind, change.event_index, change.offset)}"
    for half, cells in (("before", change.before), ("after", change.after)):
        image = columns[half][row]
        if image.is_valid != (cells is not None):
            return f"image {half}"
        present = int.from_bytes(columns[f"_present_{half}"][row].as_py(), "little")
        if present != sum(1 << (cell.number - 1) for cell in cells or ()):
            return f"presence {half}"
        values = {cell.number - 1: value_of(cell) for cell in cells or ()}
        for index, name in enumerate(names if image.is_valid else ()):
            value = columns[half].field(index)[row].as_py()
            if not same(value, values.get(index)):
                return f"{half} {name}: {value!r}, not {values.get(index)!r}"
    return None


def _unread(refusal: ForgeError) -> bool:
    return isinstance(refusal, FormatError) and refusal.phase in ("body", "post_header")


def _refusals_differ(expected: ForgeError | None, met: ForgeError) -> str | None:
    if isinstance(met, FormatError):
        if met.phase == "metadata" and not isinstance(expected, FormatError):
            return None
        if isinstance(expected, FormatError):
            if met.phase == "checksum" and met.event_index == expected.event_index:
                return None
            # A body that no row depends on is passed by; what a later event has is met then.
            if _unread(expected) and met.event_index is not None and met.event_index > (expected.event_index or 0):
                return None
            if (met.rule, met.phase, met.offset) == (expected.rule, expected.phase, expected.offset):
                return None
    if isinstance(met, UnsupportedError) and "read in bulk" in str(met):
        return None
    return None if str(met) == str(expected) else f"refused: {met!r} {met}, not {expected!r} {expected}"
