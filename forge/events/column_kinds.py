"""Which columns count as numeric, as character columns, as ENUM or SET: the spaces that optional metadata counts in.

YEAR counts as numeric, BIT does not; VECTOR counts as a character column; GEOMETRY does on MariaDB only
(rows.md 2.3 - 2.10).
"""

from __future__ import annotations

from forge.values.base import Column
from forge.values.text.strings import unfolded_length

#: TINY SHORT LONG FLOAT DOUBLE LONGLONG INT24 YEAR DECIMAL NEWDECIMAL
NUMERIC_TYPES = frozenset((0, 1, 2, 3, 4, 5, 8, 9, 13, 246))
#: VARCHAR VAR_STRING BLOB VECTOR and MariaDB's compressed types; STRING unless it is an ENUM or SET.
CHARACTER_TYPES = frozenset((15, 253, 252, 242, 140, 141))
STRING, GEOMETRY, VECTOR = 254, 255, 242
ENUM_METADATA, SET_METADATA = 247, 248


def is_enum(column: Column) -> bool:
    return column.type_code == STRING and column.metadata[:1] == bytes([ENUM_METADATA])


def is_set(column: Column) -> bool:
    return column.type_code == STRING and column.metadata[:1] == bytes([SET_METADATA])


def is_numeric(column: Column) -> bool:
    return column.type_code in NUMERIC_TYPES


def is_character(column: Column, mariadb: bool = False) -> bool:
    if column.type_code == STRING:
        return not (is_enum(column) or is_set(column))
    return column.type_code in CHARACTER_TYPES or (mariadb and column.type_code == GEOMETRY)


def has_prefixes(column: Column) -> bool:
    """Whether a key may hold only the first characters of the column's values."""
    return is_character(column) or column.type_code == GEOMETRY


def longest_value(column: Column) -> int | None:
    """Bytes of the longest value of a CHAR, VARCHAR, BLOB and their like; None for any other type.

    Raises FormatError for metadata that no such column has.
    """
    if column.type_code in _VARCHARS:
        return int.from_bytes(column.metadata, "little") - (column.type_code == _VARCHAR_COMPRESSED)
    if column.type_code in BLOB_TYPES:
        return int(256 ** column.metadata[0] - 1)
    if column.type_code == STRING and is_character(column):
        return unfolded_length(column.metadata)
    return None


_VARCHAR_COMPRESSED = 141
_VARCHARS = (15, 253, _VARCHAR_COMPRESSED)
#: BLOB and TEXT, and MariaDB's compressed ones.
BLOB_TYPES = (252, 140)
