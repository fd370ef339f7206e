"""The SET clause of LOAD DATA: what it gives columns, of the fields that were read into variables and other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import literal_of
from forge.engine.requests.rows import LoadData
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import as_literal, check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.sql.expressions import Expression, Field, Operand, parse_expression
from forge.sql.write import identifier


@dataclass(frozen=True, slots=True)
class Assignment:
    """One column of the clause: ``sql`` as sent, and its value: a literal, an expression, or one for each line."""

    column: ColumnDefinition
    index: int
    sql: str
    literal: Any = None
    expression: Expression | None = None
    values: Sequence[Any] | None = None
    is_default: bool = False

    @property
    def text(self) -> str:
        return f"{identifier(self.column.name)}={self.sql}"


def assignments(state: TableState, load: LoadData, context: DmlContext) -> list[Assignment]:
    """The clause.  Raises ScenarioError for what a server would refuse."""
    assigned: list[Assignment] = []
    for name, cell in (load.set or {}).items():
        with context.place("load_data", "set", name):
            index = column_index(state, name)
            column = state.columns[index]
            if column.generated is not None:
                raise ScenarioError(f"column {column.name!r} is generated", expected="no value for it")
            if any(assignment.index == index for assignment in assigned):
                raise ScenarioError(f"column {column.name!r} is set twice")
            assigned.append(_assignment(column, index, cell, context))
    return assigned


def _assignment(column: ColumnDefinition, index: int, cell: Any, context: DmlContext) -> Assignment:
    if isinstance(cell, Mapping) and "sql" in cell:
        if set(cell) - {"sql", "values"} or not isinstance(cell["sql"], str) or not cell["sql"].strip():
            raise ScenarioError(f"{cell!r} is not an expression", expected="{sql: text}, perhaps with `values`")
        sql = cell["sql"].strip()
        if "values" in cell:
            if not isinstance(cell["values"], list):
                raise ScenarioError("`values` is not a list", expected="a cell for each line of the file")
            return Assignment(column, index, sql, values=cell["values"])
        if sql.upper() == "DEFAULT":
            return Assignment(column, index, sql, is_default=True)
        try:
            expression = parse_expression(sql, context.references.line.grammar, in_statement=True)
        except UnsupportedError as error:
            raise error.replace(expected="`values` beside it: a list of what it gives for each line") from None
        return Assignment(column, index, sql, expression=expression)
    literal = literal_of(cell)
    sql = (
        "NULL" if literal is None else taken(context.wire(column), literal, clips=context.clips or context.ignores).sql
    )
    return Assignment(column, index, sql, literal=literal)


def set_cells(
    clause: Sequence[Assignment], number: int, row: Mapping[str, str | None], state: TableState, context: DmlContext
) -> dict[str, Any]:
    """What the clause gives columns in line ``number`` (from 0), whose fields are ``row``: by column or variable."""
    cells: dict[str, Any] = {}
    for assignment in clause:
        if assignment.is_default:
            continue
        if assignment.values is not None:
            if number >= len(assignment.values):
                raise ScenarioError(f"`values` of {assignment.column.name!r} has no value for line {number + 1}")
            cells[assignment.column.name] = literal_of(assignment.values[number])
        elif assignment.expression is not None:
            value = assignment.expression.evaluate(_Operands(row, state, context))
            cells[assignment.column.name] = None if value is None else as_literal(assignment.column, value)
        else:
            cells[assignment.column.name] = assignment.literal
    return cells


class _Operands(dict[str, Operand]):
    """What an expression asks for: columns that the line gives, and variables."""

    def __init__(self, row: Mapping[str, str | None], state: TableState, context: DmlContext) -> None:
        super().__init__()
        self.row = {name.lower(): value for name, value in row.items()}
        self.state = state
        self.context = context

    def __missing__(self, name: str) -> Operand:
        if name == "@@now":
            return self.context.time.local
        if name not in self.row:
            subject = f"variable {name}" if name.startswith("@") else f"column {name!r}"
            raise UnsupportedError(
                f"{subject} is not among the fields of a line", expected="`values` beside the expression"
            )
        value = self.row[name]
        if value is None:
            return None
        if name.startswith("@"):
            return Field(value)
        column = self.state.columns[column_index(self.state, name)]
        check_reads([column], self.context.time.offset)
        return column.operand(
            taken(self.context.wire(column), value, clips=self.context.clips or self.context.ignores).value
        )
