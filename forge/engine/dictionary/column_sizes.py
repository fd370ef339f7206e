"""The bytes that a column takes in a row."""

from __future__ import annotations

from forge.engine.dictionary.columns import ColumnDefinition
from forge.events.column_kinds import is_character, longest_value
from forge.values.text.column_charset import charset_of
from forge.values.wire_types import WireType


def stored_bytes(column: ColumnDefinition) -> int:
    """Bytes that the column takes in a row, as servers count them for the limit of 65535."""
    facts, metadata = column.type_facts, column.wire.metadata
    if facts.is_lob:
        return 8 + metadata[0]
    if column.wire.type_code in (WireType.VARCHAR, WireType.VARCHAR_COMPRESSED):
        # MariaDB's VECTOR is a VARBINARY.
        longest = int.from_bytes(metadata, "little")
        return longest + (1 if longest < 256 else 2)
    if facts.is_blob:
        return 12
    if is_character(column.wire):
        return longest_value(column.wire) or 0
    return column.codec.width(column.wire, bytes(64), 0)


def part_bytes(column: ColumnDefinition, prefix: int | None) -> int:
    """Bytes that count for the limit of a key; the length in front of a VARCHAR does not."""
    if prefix is None:
        if column.type_facts.is_varying:
            return int.from_bytes(column.wire.metadata, "little")
        return stored_bytes(column)
    charset = charset_of(column.wire)
    return prefix * (charset.max_length if charset else 1)
