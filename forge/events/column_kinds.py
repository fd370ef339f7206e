"""Which columns count as numeric, as character columns, as ENUM or SET: the spaces that optional metadata counts in.

YEAR counts as numeric, BIT does not; VECTOR counts as a character column; GEOMETRY does on MariaDB only
(rows.md 2.3 - 2.10).
"""

from __future__ import annotations

from forge.values.base import Column
from forge.values.text.strings import unfolded_length
from forge.values.wire_types import WireType

NUMERIC_TYPES = frozenset((
    WireType.DECIMAL, WireType.TINY, WireType.SHORT, WireType.LONG, WireType.FLOAT, WireType.DOUBLE, WireType.LONGLONG,
    WireType.INT24, WireType.YEAR, WireType.NEWDECIMAL,
))  # fmt: skip
#: STRING is one as well, unless it is an ENUM or SET.
CHARACTER_TYPES = frozenset((
    WireType.VARCHAR, WireType.VAR_STRING, WireType.BLOB, WireType.VECTOR, WireType.BLOB_COMPRESSED,
    WireType.VARCHAR_COMPRESSED,
))  # fmt: skip


def is_enum(column: Column) -> bool:
    return column.type_code == WireType.STRING and column.metadata[:1] == bytes([WireType.ENUM])


def is_set(column: Column) -> bool:
    return column.type_code == WireType.STRING and column.metadata[:1] == bytes([WireType.SET])


def is_numeric(column: Column) -> bool:
    return column.type_code in NUMERIC_TYPES


def is_character(column: Column, mariadb: bool = False) -> bool:
    if column.type_code == WireType.STRING:
        return not (is_enum(column) or is_set(column))
    return column.type_code in CHARACTER_TYPES or (mariadb and column.type_code == WireType.GEOMETRY)


def has_prefixes(column: Column) -> bool:
    """Whether a key may hold only the first characters of the column's values."""
    return is_character(column) or column.type_code == WireType.GEOMETRY


def longest_value(column: Column) -> int | None:
    """Bytes of the longest value of a CHAR, VARCHAR, BLOB and their like; None for any other type.

    Raises FormatError for metadata that no such column has.
    """
    if column.type_code in _VARCHARS:
        return int.from_bytes(column.metadata, "little") - (column.type_code == WireType.VARCHAR_COMPRESSED)
    if column.type_code in BLOB_TYPES:
        return int(256 ** column.metadata[0] - 1)
    if column.type_code == WireType.STRING and is_character(column):
        return unfolded_length(column.metadata)
    return None


_VARCHARS = (WireType.VARCHAR, WireType.VAR_STRING, WireType.VARCHAR_COMPRESSED)
#: BLOB and TEXT, and MariaDB's compressed ones.
BLOB_TYPES = (WireType.BLOB, WireType.BLOB_COMPRESSED)
