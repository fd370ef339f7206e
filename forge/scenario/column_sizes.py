"""Kinds of column types, and the bytes that a column takes in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.scenario.definition import ColumnDefinition

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
    if kind in WITHOUT_KEY:
        return 12
    if kind in ("VARCHAR", "VARBINARY"):
        longest = int.from_bytes(metadata, "little")
        return longest + (1 if longest < 256 else 2)
    if kind in ("CHAR", "BINARY"):
        return metadata[1] | ((metadata[0] & 0x30) ^ 0x30) << 4
    sizes = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "FLOAT": 4, "YEAR": 1, "DATE": 3}
    return sizes.get(kind, 8)
