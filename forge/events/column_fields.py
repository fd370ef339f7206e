"""Columns and collations as the canonical decode shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.charsets import charset, find_collation
from forge.errors import ForgeError
from forge.events.plain import Fields, text_or_hex
from forge.events.shapes import HEX, TEXT, U8, U64, Shape, array, object_of
from forge.values.base import Column
from forge.values.registry import codec_for

COLLATION_SHAPE = object_of({"id": U64, "name": {"type": "string"}, "charset": {"type": "string"}}, "name", "charset")
_BOOLEAN: Shape = {"type": "boolean"}
_REQUIRED: Shape = {
    "column": {"type": "integer", "minimum": 1},
    "type": {"type": "string"},
    "type_code": U8,
    "metadata": HEX,
    "nullable": _BOOLEAN,
}
_OPTIONAL: Shape = {
    "name": TEXT,
    "unsigned": _BOOLEAN,
    "collation": COLLATION_SHAPE,
    "members": array(TEXT),
    "geometry_type": U64,
    "dimensions": U64,
    "visible": _BOOLEAN,
}
COLUMN_SHAPE = object_of(_REQUIRED | _OPTIONAL, *_OPTIONAL)


def collation_fields(number: int, family: str) -> Fields:
    """``id``; ``name`` and ``charset`` too where the family's servers have such a collation."""
    collation = find_collation(number, family)
    return {"id": number} | ({"name": collation.name, "charset": collation.charset} if collation else {})


def columns_fields(columns: Sequence[Column], family: str, visibility: Any) -> list[Fields]:
    """The columns of a TABLE_MAP; ``visibility`` is its record of that name, None if it has none."""
    shown = []
    for number, column in enumerate(columns, start=1):
        fields = _column_fields(number, column, family)
        if isinstance(visibility, str) and number <= len(visibility):
            fields["visible"] = visibility[number - 1] == "1"
        shown.append(fields)
    return shown


def _column_fields(number: int, column: Column, family: str) -> Fields:
    fields: Fields = {"column": number}
    if column.name is not None:
        fields["name"] = text_or_hex(column.name)
    fields |= {
        "type": codec_for(column).type_name(column),
        "type_code": column.type_code,
        "metadata": column.metadata.hex(),
        "nullable": column.nullable,
    }
    if column.unsigned is not None:
        fields["unsigned"] = column.unsigned
    if column.collation is not None:
        fields["collation"] = collation_fields(column.collation, family)
    if column.members is not None:
        fields["members"] = [_member(member, column, family) for member in column.members]
    if column.geometry_type is not None:
        fields["geometry_type"] = column.geometry_type
    if column.dimensions is not None:
        fields["dimensions"] = column.dimensions
    return fields


def _member(member: bytes, column: Column, family: str) -> str | dict[str, str]:
    """A member is in its column's character set."""
    collation = None if column.collation is None else find_collation(column.collation, family)
    if collation is not None and collation.charset != "binary":
        try:
            return charset(collation.charset).decode(member)
        except ForgeError:
            pass
    return {"hex": member.hex()}
