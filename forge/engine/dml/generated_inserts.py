"""INSERT of many generated rows: checked as a whole, and computed row by row when somebody asks for them.

It does what storing one row after the other does, without what only few statements need.  Whatever else comes up, an
error first of all, is left to that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy

from msgspec import Struct

from forge.engine.dictionary.columns import ColumnDefinition, largest_number
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import ColumnPlace
from forge.engine.requests.rows import Insert, Replace
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.generated_rows import ColumnCells, GeneratedRows, RowNumbers, column_cells, constant, entries_of
from forge.engine.rows.numbering import Numbering
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError
from forge.sql.write import insert_sql, qualified
from forge.values.base import Value
from forge.values.clipping import Clipped

#: Fewer rows are stored one by one: it takes them to be worth the effort.
FEWEST = 256


class GeneratedInsert(Struct, frozen=True):
    """What such a statement has stored."""

    rows: GeneratedRows
    numbering: Numbering
    #: The cells that the statement's text has, by column.
    declared: Mapping[int, ColumnCells]
    #: The literals of the first row, then literals of every form that some row has.
    examples: list[dict[int, Clipped]]

    def sql(self, state: TableState, columns: Sequence[int]) -> Callable[[], str]:
        """What writes the statement with all its rows; the state may be another one by then."""
        table = qualified(state.table.database, state.table.name)
        names = [state.columns[index].name for index in columns]
        literals = [cells.literal if (cells := self.declared.get(index)) is not None else None for index in columns]

        def write() -> str:
            rows = (
                ["DEFAULT" if literal is None else literal(number).sql for literal in literals]
                for number in self.rows.numbers
            )
            return insert_sql("INSERT", table, names, rows)

        return write


def is_suited(state: TableState, statement: Statement, insert: Insert | Replace, context: DmlContext) -> bool:
    """Whether a statement may store its rows so."""
    if not isinstance(insert, Insert) or insert.row is None or (insert.count or 0) < FEWEST:
        return False
    table, other_forms = state.table, (insert.ignore, insert.on_duplicate_key_update, insert.select)
    if any(other_forms) or insert.set_by_trigger or statement.further or not insert.column_list or context.is_text:
        return False
    if table.temporary or table.foreign_keys or context.references.triggers(table, "insert"):
        return False
    if context.time.offset and any(column.is_timestamp for column in state.columns):
        return False
    return state.takes_generated() and all(column.generated is None for column in state.columns)


def insert_generated(
    state: TableState,
    insert: Insert | Replace,
    omitted: Callable[[ColumnDefinition], Value | None],
    numbering: Numbering,
    context: DmlContext,
) -> GeneratedInsert | None:
    """Store the rows of a statement that :func:`is_suited`; None, and nothing is stored, if one of them is refused.

    ``omitted`` gives the value of a column that the statement leaves out, or raises ScenarioError.
    """
    numbers, numbering = RowNumbers(state.inserted, insert.count or 0), copy(numbering)
    try:
        declared = _declared(state, insert.row or {}, numbers, context)
        cells = [
            _numbered(column, declared.get(index), numbering, numbers)
            if column.column.auto_increment
            else declared[index]
            if index in declared
            else _omitted(column, omitted)
            for index, column in enumerate(state.columns)
        ]
        keys = [entries_of(state.table, key, cells, numbers) for key in state.unique]
        rows = GeneratedRows(numbers, cells)
        used = range(0) if state.auto_increment is None else cells[state.auto_increment].series or range(0)
        state.add_generated(rows, keys, max(used[0], used[-1]) if used else 0)
    except ScenarioError:
        return None
    numbering.first_stored = numbering.first
    return GeneratedInsert(rows, numbering, declared, _examples(numbers.first, declared))


def _omitted(column: ColumnDefinition, omitted: Callable[[ColumnDefinition], Value | None]) -> ColumnCells:
    value = omitted(column)
    if value is None and not column.column.nullable:
        raise ScenarioError(f"column {column.name!r} is NOT NULL", expected="a value")
    return constant(value)


def _numbered(
    column: ColumnDefinition, given: ColumnCells | None, numbering: Numbering, numbers: RowNumbers
) -> ColumnCells:
    """AUTO_INCREMENT values, which the rows bring or the server makes.

    Raises ScenarioError for values that do not go on evenly, that run out, or of which 0 is one: it asks for a new one.
    """
    made = _numbers(column, numbering, numbers) if given is None else given
    if made.series is None or 0 in made.series or max(made.series[0], made.series[-1]) > largest_number(column):
        raise ScenarioError(f"the numbers of column {column.name!r} have to be looked at")
    if given is not None:
        for value in made.series:
            numbering.given(value)
    return made


def _declared(
    state: TableState, row: Mapping[str, object], numbers: RowNumbers, context: DmlContext
) -> dict[int, ColumnCells]:
    """The cells by column.  Raises ScenarioError."""
    declared: dict[int, ColumnCells] = {}
    for name, cell in row.items():
        index = column_index(state, name)
        column = state.columns[index]
        if index in declared or (index == state.auto_increment and cell is None):
            raise ScenarioError(f"column {column.name!r} needs to be looked at row by row")
        declared[index] = column_cells(column, cell, ColumnPlace(state.name, column.name), numbers, context)
    return declared


def _numbers(column: ColumnDefinition, numbering: Numbering, numbers: RowNumbers) -> ColumnCells:
    first = numbering.generated()
    series = range(first, first + numbers.count * numbering.increment, numbering.increment)
    if any(numbering.generated() != value for value in series[1:]):
        raise ScenarioError(f"the numbers of column {column.name!r} do not go on evenly")
    return ColumnCells(lambda row: series[row - numbers.first], None, (), series)


def _examples(number: int, declared: Mapping[int, ColumnCells]) -> list[dict[int, Clipped]]:
    """The literals of the first row, then literals of every form that some row has."""
    first = {index: each.literal(number) for index, each in declared.items() if each.literal is not None}
    count = max((len(each.examples) for each in declared.values()), default=0)
    return [first] + [
        {index: each.examples[place % len(each.examples)] for index, each in declared.items()} for place in range(count)
    ]
