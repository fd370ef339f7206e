"""Rows of drawn tables, as a scenario declares them: literals by the name of their column."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from forge.plan.tables import TableColumn
from forge.testing.draws.cells import value_of
from forge.testing.draws.source import Source
from forge.testing.draws.tables import described
from forge.values.base import Column, Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, facts_of

#: Longest text and bytes: what is longer is in the shipped scenarios.
_LONGEST = 257
_DATES = ("date", "moment")
#: Values that are drawn for a cell until strict mode takes one.
_ATTEMPTS = 8

#: Cells of a row by the name of their column.
Cells = dict[str, Any]


def row_of(source: Source, columns: Sequence[TableColumn], server: str) -> Cells:
    return {column.name: cell_of(source, column, server) for column in columns}


def cell_of(source: Source, column: TableColumn, server: str) -> Any:
    """A literal for the column, or None for NULL."""
    if column.nullable and source.once_in(4):
        return None
    return literal_of(source, column.type, server)


def literal_of(source: Source, sql_type: SqlType, server: str) -> Any:
    """A literal that is not NULL, if one is found that strict mode takes."""
    shape = described(sql_type, server)
    for _ in range(_ATTEMPTS):
        value = value_of(source, shape, _LONGEST)
        if not _is_refused(sql_type, value):
            return literal(shape, value)
    return None


def _is_refused(sql_type: SqlType, value: Value) -> bool:
    """Whether strict mode refuses a value that columns can hold: the member that is none, dates with a zero month."""
    if sql_type.name == "ENUM":
        return bool(value == 0)
    return isinstance(value, str) and facts_of(sql_type).kind in _DATES and "-00" in value


def literal(column: Column, value: Value) -> Any:
    """A value as a scenario declares it."""
    if isinstance(value, (int, float, Decimal)) and facts_of(_declared(column)).kind in (
        "integer",
        "decimal",
        "approximate",
    ):
        return value
    text = codec_for(column).text(column, value)
    return value if text is None else text


def _declared(column: Column) -> SqlType:
    assert column.declared is not None
    return column.declared
