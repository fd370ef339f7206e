"""Which columns count as numeric, as character columns, as ENUM or SET: the spaces that optional metadata counts in.

YEAR counts as numeric, BIT does not; VECTOR counts as a character column; GEOMETRY does on MariaDB only
(Table_map_log_event::init_metadata_fields of sql/log_event.cc).
"""

from __future__ import annotations

from forge.values.base import Column
from forge.values.registry import codec_for, metadata_space
from forge.values.wire_types import WireType

#: BLOB and TEXT, and MariaDB's compressed ones.
BLOB_TYPES = (WireType.BLOB, WireType.BLOB_COMPRESSED)


def is_enum(column: Column) -> bool:
    return metadata_space(column) == "enum"


def is_set(column: Column) -> bool:
    return metadata_space(column) == "set"


def is_numeric(column: Column) -> bool:
    return metadata_space(column) == "numeric"


def is_character(column: Column, mariadb: bool = False) -> bool:
    space = metadata_space(column)
    return space == "character" or (mariadb and space == "geometry")


def has_prefixes(column: Column) -> bool:
    """Whether a key may hold only the first characters of the column's values."""
    return metadata_space(column) in ("character", "geometry")


def longest_value(column: Column) -> int | None:
    """Bytes of the longest value of a CHAR, VARCHAR, BLOB and their like; None for any other type.

    Raises FormatError for metadata that no such column has.
    """
    return codec_for(column).longest_value(column) if is_character(column) else None
