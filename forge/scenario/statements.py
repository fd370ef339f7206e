"""INSERT, UPDATE and DELETE: what a declared statement does to a table's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from forge.compile.model import Origin, Row, RowChange, RowsStatement
from forge.errors import ScenarioError
from forge.scenario.catalog import Catalog
from forge.scenario.definition import ColumnDefinition
from forge.scenario.generators import CellPlace, Generated, generate, is_generator, literal_of
from forge.scenario.literals import taken, zero_value
from forge.scenario.model import Delete, Insert, Statement, Update
from forge.scenario.rows import StatementTime, omitted_value, with_generated
from forge.scenario.sqltext import assignment, case_assignment, delete_sql, insert_sql, update_sql
from forge.scenario.state import Numbering, TableState, largest_number, stored_bytes_of
from forge.scenario.where import Condition, column_index, matching, parse_where, where_sql
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.column_charset import charset_of

#: Names the entry of the scenario that the errors of a block belong to.
Place = Callable[..., AbstractContextManager[None]]
_NULL = Clipped(None, "NULL", is_read=False)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a statement runs in: ``place(*steps)`` adds the line of an entry inside the statement to errors."""

    catalog: Catalog
    current_database: str
    seed: int
    time: StatementTime
    place: Place
    line: int | None
    #: The session has no strict mode.
    clips: bool = False


def execute(statement: Statement, at: Circumstances) -> RowsStatement:
    """Run a statement; the rows that it changed, and its SQL.  Raises ScenarioError where a server would refuse it."""
    return replace(_executed(statement, at), time=(at.time.second, at.time.microsecond))


def _executed(statement: Statement, at: Circumstances) -> RowsStatement:
    if statement.insert is not None:
        with at.place("insert", "into"):
            state = at.catalog.table(statement.insert.into, at.current_database)
        return _Insert(state, statement, at).run(statement.insert)
    if statement.update is not None:
        with at.place("update", "table"):
            state = at.catalog.table(statement.update.table, at.current_database)
        return _update(state, statement, statement.update, at)
    assert statement.delete is not None  # the model has seen to it
    with at.place("delete", "from"):
        state = at.catalog.table(statement.delete.table, at.current_database)
    return _delete(state, statement, statement.delete, at)


class _Insert:
    def __init__(self, state: TableState, statement: Statement, at: Circumstances) -> None:
        self.state = state
        self.statement = statement
        self.at = at
        self.listed: set[int] = set()
        self.given: list[dict[int, Clipped]] = []
        self.changes: list[RowChange] = []

    def run(self, insert: Insert) -> RowsStatement:
        count = insert.count if insert.count is not None else len(insert.rows or ())
        numbering = Numbering(self.state.next_auto_increment, count)
        try:
            for steps, cells in _declared_rows(insert, self.at):
                with self.at.place("insert", *steps):
                    self._row(cells, steps, numbering)
        finally:
            self.state.next_auto_increment = numbering.following
        columns = sorted(self.listed)
        if not columns and count > 1:
            # INSERT () VALUES (), () is an error in MINIMAL images (1534): name a column.
            columns = [next(i for i, c in enumerate(self.state.columns) if c.generated is None)]
        first = self.given[0]
        return RowsStatement(
            kind="insert",
            table=self.state.table,
            changes=tuple(self.changes),
            sql=self.statement.query or insert_sql(self.state, columns, self.given),
            assigned=frozenset(columns),
            origins=tuple(_origin(index, first, columns) for index in range(len(self.state.columns))),
            line=self.at.line,
        )

    def _row(self, cells: Mapping[str, Any], steps: tuple[str | int, ...], numbering: Numbering) -> None:
        state = self.state
        given: dict[int, Clipped] = {}
        for name, cell in cells.items():
            with self.at.place("insert", *steps, name):
                index = column_index(state, name)
                if index in given:
                    raise ScenarioError(f"column {state.columns[index].name!r} is given twice")
                place = CellPlace(self.at.seed, state.name, state.columns[index].name, state.inserted)
                given[index] = _cell(state.columns[index], cell, place, self.at)
        self.given.append(given)
        self.listed |= given.keys()
        values: list[Value | None] = [
            given[index].value if index in given else self._omitted(column)
            for index, column in enumerate(state.columns)
        ]
        numbered = state.auto_increment
        if numbered is not None:
            values[numbered] = self._numbered(state.columns[numbered], values[numbered], numbering)
        for index, column in enumerate(state.columns):
            if column.generated is None:
                # Without strict mode several rows are spared what one row is not (ER_BAD_NULL_ERROR).
                values[index] = _not_null(column, values[index], state.name, clips=self.at.clips and numbering.rows > 1)
        row = with_generated(state.columns, values, clips=self.at.clips)
        state.add(row)
        self.changes.append(RowChange(None, row))

    def _omitted(self, column: ColumnDefinition) -> Value | None:
        if column.generated is not None or column.column.auto_increment:
            return None
        try:
            return omitted_value(column, self.at.time, clips=self.at.clips)
        except ScenarioError as error:
            error.problem = f"table {self.state.name}: {error.problem}"
            raise

    def _numbered(self, column: ColumnDefinition, value: Value | None, numbering: Numbering) -> int:
        """NULL, 0 and nothing at all mean the next number (sql_mode without NO_AUTO_VALUE_ON_ZERO)."""
        if value:
            numbering.given(value)
            return int(value)
        number = numbering.generated()
        if number > largest_number(column):
            raise ScenarioError(f"{self.state.name}.{column.name} has no number left after {number - 1}")
        return number


def _origin(index: int, given: Mapping[int, Clipped], columns: list[int]) -> Origin:
    if index in given:
        return "literal" if given[index].is_read else "unread"
    return "default" if index in columns else "omitted"


def _declared_rows(insert: Insert, at: Circumstances) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """(steps to the row's entry, its cells by column) for every row."""
    if insert.row is not None:
        for _ in range(insert.count or 0):
            yield ("row",), insert.row
    for number, row in enumerate(insert.rows or ()):
        steps = ("rows", number)
        if isinstance(row, list):
            with at.place("insert", *steps):
                if insert.columns is None:
                    raise ScenarioError("a row is a list, but no columns are named", expected="`columns` beside `rows`")
                if len(row) != len(insert.columns):
                    expected = f"{len(insert.columns)}, as many as columns"
                    raise ScenarioError(f"the row has {len(row)} cells", expected=expected)
            yield steps, dict(zip(insert.columns or (), row, strict=True))
        else:
            yield steps, row


def _cell(column: ColumnDefinition, cell: Any, place: CellPlace, at: Circumstances) -> Clipped:
    """The value of a declared cell (None for NULL), and its literal in SQL.

    Raises ScenarioError for what the column cannot hold.
    """
    try:
        if column.generated is not None:
            raise ScenarioError("a generated column takes no value", expected="nothing for it")
        if not is_generator(cell, json=column.holds_json):
            literal = literal_of(cell)
            return _NULL if literal is None else taken(column.wire, literal, clips=at.clips)
        made = generate(cell, place)
        if made.value is None:
            return _NULL
        literal = _cut_to_fit(column, made) if made.fits else made.value
        return taken(column.wire, literal, clips=at.clips)
    except ScenarioError as error:
        error.problem = f"{place.table}.{column.name}: {error.problem}"
        raise


def _not_null(column: ColumnDefinition, value: Value | None, table: str, *, clips: bool) -> Value | None:
    """The value that a NOT NULL column gets for NULL.  Raises ScenarioError where that is an error."""
    if value is not None or column.column.nullable:
        return value
    zero = zero_value(column.wire) if clips else None
    if zero is None:
        raise ScenarioError(f"{table}.{column.name} is NOT NULL", expected="a value")
    return zero


def _cut_to_fit(column: ColumnDefinition, made: Generated) -> Any:
    """Generated text as much of it as the column holds; characters that its set lacks become ``?``."""
    known = charset_of(column.wire)
    if not isinstance(made.value, str) or known is None or column.type.name in ("ENUM", "SET"):
        return made.value
    text = "".join(character if _is_held(column, character) else "?" for character in made.value)
    if column.type.length is not None:
        return text[: column.type.length]
    limit = (1 << 8 * column.wire.metadata[0]) - 1
    while len(stored_bytes_of(column, text)) > limit:
        text = text[:-1]
    return text


def _is_held(column: ColumnDefinition, character: str) -> bool:
    try:
        stored_bytes_of(column, character)
    except ScenarioError:
        return False
    return True


def _update(state: TableState, statement: Statement, update: Update, at: Circumstances) -> RowsStatement:
    conditions = _where(state, "update", update.where, at)
    chosen = matching(conditions, state)
    where = where_sql(conditions, state)
    state.updates += 1
    before = [state.rows[number] for number in chosen]
    values: dict[int, list[Value | None]] = {}
    literals: dict[int, Clipped] = {}
    for name, cell in update.set.items():
        with at.place("update", "set", name):
            index = column_index(state, name)
            if index in values:
                raise ScenarioError(f"column {state.columns[index].name!r} is set twice")
            values[index], literals[index] = _new_values(state, index, cell, chosen, at)
    assignments = [_assigned(state, index, before, values[index], literals[index].sql) for index in values]
    changes = []
    with at.place("update"):
        for position, number in enumerate(chosen):
            after = _updated(state, number, {index: values[index][position] for index in values}, at)
            if after != state.rows[number]:
                changes.append(RowChange(state.rows[number], after))
                state.change(number, after)
    return RowsStatement(
        kind="update",
        table=state.table,
        changes=tuple(changes),
        sql=statement.query or update_sql(state, assignments, where, len(chosen)),
        assigned=frozenset(values),
        origins=tuple(_origin(index, literals, []) for index in range(len(state.columns))),
        compared=_compared(conditions),
        line=at.line,
    )


def _new_values(
    state: TableState, index: int, cell: Any, chosen: list[int], at: Circumstances
) -> tuple[list[Value | None], Clipped]:
    """The values that SET gives a column, one for each chosen row, and the first one's literal."""
    column = state.columns[index]
    generated = is_generator(cell, json=column.holds_json)
    if generated and len(chosen) > 1:
        if state.clustering is None:
            raise ScenarioError(
                f"{state.name} has no primary key, so SQL cannot give {len(chosen)} rows different values",
                expected="a literal, or a table with a primary key",
            )
        if any(part.column == index for part in state.clustering.parts):
            raise ScenarioError(f"{state.name}.{column.name}: several keys change at once", expected="a literal")
    rows = chosen if generated else chosen[:1] or [0]
    cells = [_cell(column, cell, CellPlace(at.seed, state.name, column.name, row, state.updates), at) for row in rows]
    values = [_not_null(column, value, state.name, clips=at.clips) for value, *_ in cells]
    return (values if generated else values * len(chosen) or values), cells[0] if cells else _NULL


def _assigned(state: TableState, index: int, before: list[Row], values: list[Value | None], literal: str) -> str:
    column = state.columns[index]
    if len({repr(value) for value in values}) <= 1:
        return assignment(column, literal)
    return case_assignment(state, index, before, values)


def _updated(
    state: TableState, number: int, values: Mapping[int, Value | None], at: Circumstances
) -> tuple[Value | None, ...]:
    """The row after an UPDATE; ON UPDATE CURRENT_TIMESTAMP applies if anything else changes."""
    before = state.rows[number]
    values_after = [values.get(index, value) for index, value in enumerate(before)]
    row = with_generated(state.columns, values_after, clips=at.clips)
    if row == before:
        return before
    stamped = [
        at.time.text(column.type.fsp) if column.column.on_update_now and index not in values else value
        for index, (column, value) in enumerate(zip(state.columns, row, strict=True))
    ]
    return with_generated(state.columns, stamped, clips=at.clips)


def _delete(state: TableState, statement: Statement, delete: Delete, at: Circumstances) -> RowsStatement:
    conditions = _where(state, "delete", delete.where, at)
    chosen = matching(conditions, state)
    sql = statement.query or delete_sql(state, where_sql(conditions, state), len(chosen))
    changes = tuple(RowChange(state.rows[number], None) for number in chosen)
    for number in chosen:
        state.remove(number)
    return RowsStatement(
        kind="delete", table=state.table, changes=changes, sql=sql, compared=_compared(conditions), line=at.line
    )


def _where(state: TableState, kind: str, where: Mapping[str, Any] | None, at: Circumstances) -> list[Condition]:
    conditions: list[Condition] = []
    for name, declared in (where or {}).items():
        with at.place(kind, "where", name):
            conditions += parse_where({name: declared}, state)
    return conditions


def _compared(conditions: list[Condition]) -> frozenset[int]:
    return frozenset(condition.index for condition in conditions if condition.has_literal)
