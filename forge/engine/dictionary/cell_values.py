"""Values of cells as a table compares and orders them."""

from __future__ import annotations

from typing import Any

from forge.charsets import compare_key
from forge.engine.dictionary.columns import ColumnDefinition
from forge.values.base import Value
from forge.values.numeric.integers import bounds
from forge.values.text.column_charset import charset_of


def comparable(column: ColumnDefinition, value: Value | None) -> Any:
    """A value that is equal for two cells if the server calls them equal (approximately, for text)."""
    if isinstance(value, str) and column.wire.collation is not None:
        return compare_key(column.wire.collation, value)
    return value


def sort_value(column: ColumnDefinition, value: Value) -> Any:
    """What values of a column are ordered by.

    Text sorts by its bytes, which is known of every collation; the SQL of a statement asks for this order.
    """
    if isinstance(value, (str, bytes)) and column.wire.collation is not None:
        return stored_bytes_of(column, value)
    return _signed_time(value) if column.type_facts.kind == "time" else value


def stored_bytes_of(column: ColumnDefinition, value: Value) -> bytes:
    """The bytes of a text or binary value, in the column's character set."""
    if isinstance(value, str):
        charset = charset_of(column.wire)
        return value.encode() if charset is None else charset.encode(value)
    return bytes(value)


def largest_number(column: ColumnDefinition) -> int:
    """The largest value of an integer column."""
    size = column.codec.width(column.wire, b"\0" * 8, 0)
    return bounds(size, bool(column.wire.unsigned))[1]


def _signed_time(value: str) -> tuple[int, ...]:
    sign = -1 if value.startswith("-") else 1
    whole, _, fraction = value.lstrip("-").partition(".")
    parts = [*map(int, whole.split(":")), int(fraction or "0")]
    return tuple(sign * part for part in parts)
