"""Cells of UPDATE that are SQL expressions of the row's columns: ``{sql: "CONCAT(v, '!')"}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.engine.dictionary.json_cells import cells_for
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.cells import check_takes_value, not_null, value_of_literal
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import as_literal
from forge.engine.rows.time_zones import check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.sql.expressions import Document, parse_expression
from forge.values.base import Value
from forge.values.clipping import Clipped


def is_computed(cell: Any) -> bool:
    """Whether a cell of UPDATE is an expression."""
    return isinstance(cell, Mapping) and set(cell) == {"sql"}


class ComputedValue:
    """An expression that gives a column of a table its value in each row; ``reads`` are the columns in it.

    Raises ScenarioError for what is no expression, UnsupportedError for functions that are not computed exactly as
    servers compute them, and for columns whose values a server would convert with the session's time zone.
    """

    def __init__(self, state: TableState, index: int, cell: Mapping[str, Any], context: DmlContext) -> None:
        column = state.columns[index]
        check_takes_value(column, cell, context)
        if not isinstance(cell["sql"], str) or not cell["sql"].strip():
            raise ScenarioError(f"{cell!r} is not an expression", expected="{sql: text}")
        self.sql = cell["sql"].strip()
        facts = column.type_facts
        if column.holds_json or facts.has_date or facts.is_moment:
            raise UnsupportedError(
                f"SQL for {column.name!r}, a {column.type.name}, is not computed here", expected="a literal, or `query`"
            )
        try:
            self._expression = parse_expression(self.sql, context.references.line.grammar)
        except UnsupportedError as error:
            raise error.replace(expected="a literal for one row, or `logged` with the statement's text") from None
        self._state, self._column, self._context = state, column, context
        self._names = frozenset(name.lower() for name in self._expression.columns())
        self.reads = frozenset(column_index(state, name) for name in self._names)
        check_reads([state.columns[index] for index in self.reads], context.time.offset)

    @property
    def literal(self) -> Clipped:
        """Its text in the place of a literal."""
        return Clipped(None, self.sql)

    def of(self, row: Row) -> Value | None:
        """What it gives in a row.  Raises ScenarioError for what the column cannot hold."""
        value = self._expression.evaluate(cells_for(self._state.columns, row, self._names))
        if isinstance(value, Document):
            raise UnsupportedError(f"a JSON document for {self._column.name!r} is not computed here")
        literal = None if value is None else as_literal(self._column, value)
        stored = value_of_literal(self._column, literal, self._context).value
        return not_null(self._column, stored, self._state.name, clips=self._context.clips)
