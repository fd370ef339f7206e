"""The SQL literals that store a column's values, or equal them."""

from __future__ import annotations

from forge.engine.dictionary.columns import ColumnDefinition
from forge.values.base import Value
from forge.values.literals import hexadecimal


def value_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal that stores, or equals, exactly this value."""
    return "NULL" if value is None else column.codec.sql(column.wire, value)


def comparison_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal to compare the column with: BINARY(n) has its padding."""
    return hexadecimal(value) if isinstance(value, bytes) else value_sql(column, value)
