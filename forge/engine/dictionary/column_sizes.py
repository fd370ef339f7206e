"""Kinds of column types, and the bytes that a column takes in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.events.column_kinds import is_character, longest_value
from forge.values.wire_types import WireType

if TYPE_CHECKING:
    from forge.engine.dictionary.definition import ColumnDefinition

#: Types whose keys need a prefix length (TEXT and BLOB), and those without an ordinary key at all.
LOBS = frozenset(f"{size}{kind}" for size in ("TINY", "", "MEDIUM", "LONG") for kind in ("TEXT", "BLOB"))
GEOMETRIES = frozenset(
    {"GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON"}
    | {"GEOMETRYCOLLECTION"}
)
WITHOUT_KEY = GEOMETRIES | {"JSON", "VECTOR"}


def stored_bytes(column: ColumnDefinition) -> int:
    """Bytes that the column takes in a row, as servers count them for the limit of 65535."""
    kind, metadata = column.type.name, column.wire.metadata
    if kind in LOBS:
        return 8 + metadata[0]
    if kind in ("VARCHAR", "VARBINARY") or column.wire.type_code == WireType.VARCHAR:
        # MariaDB's VECTOR is a VARBINARY.
        longest = int.from_bytes(metadata, "little")
        return longest + (1 if longest < 256 else 2)
    if kind in WITHOUT_KEY:
        return 12
    if is_character(column.wire):
        return longest_value(column.wire) or 0
    return column.codec.width(column.wire, bytes(64), 0)
