"""UPDATE and DELETE of several tables: which rows of each table a join finds, in the order of the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import ColumnPlace, is_expression
from forge.engine.requests.rows import Delete, Update
from forge.engine.requests.statements import Further, Statement
from forge.engine.rows.cells import cell_value, stored_value
from forge.engine.rows.context import DmlContext
from forge.engine.rows.joins import Joined, conjuncts
from forge.engine.rows.scope import Scope, ScopeCells
from forge.engine.rows.selects import read_query, relation_of
from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, ColumnName, Node, walk
from forge.sql.ast.expressions import Literal as SqlLiteral
from forge.sql.ast.query_trees import FromTable
from forge.sql.cursor import Cursor
from forge.sql.expressions import parse_expression
from forge.sql.expressions.evaluation import evaluate
from forge.sql.parse.queries import table_references
from forge.sql.write import identifier
from forge.values.base import Value


class RowsFound(Struct, frozen=True):
    """In place of a WHERE: the numbers of the rows that change, in order, and the columns (in lower case) that WHERE
    compares with a literal for equality.
    """

    numbers: list[int]
    equal: frozenset[str] = frozenset()


class OwnValues(Struct, frozen=True):
    """In place of a cell of SET: a value for each row."""

    values: list[Value | None]


def split_by_table(declared: Statement, context: DmlContext) -> Statement:
    """The statement as changes of rows of one table after the other, with its text; others stay as they are."""
    change = declared.change
    if not isinstance(change, Update | Delete) or change.tables is None:
        return declared
    if change.limit is not None or change.order_by is not None:
        raise UnsupportedError("ORDER BY and LIMIT of several tables are not supported yet")
    kind: Literal["update", "delete"] = "update" if isinstance(change, Update) else "delete"
    with context.place(kind):
        changes = _Join(change, change.tables, kind, context).changes()
    query = declared.query or _text(change, change.tables)
    first, *others = changes
    further = [*declared.further, *(_further(other) for other in others)]
    return structs.replace(declared, **{kind: first}, query=query, further=further)


def _further(change: Update | Delete) -> Further:
    if isinstance(change, Update):
        return Further(joined=True, update=change)
    return Further(joined=True, delete=change)


def _text(change: Update | Delete, tables: str) -> str:
    where = "" if change.where is None else f" WHERE {change.where}"
    ignore = "IGNORE " if change.ignore else ""
    if isinstance(change, Delete):
        return f"DELETE {ignore}{', '.join(change.rows_of or ())} FROM {tables}{where}"
    cells = ", ".join(f"{name} = {_cell_sql(cell)}" for name, cell in (change.set or {}).items())
    return f"UPDATE {ignore}{tables} SET {cells}{where}"


def _cell_sql(cell: Any) -> str:
    if is_expression(cell):
        return str(cell["sql"])
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return "'" + cell.replace("\\", "\\\\").replace("'", "''") + "'"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return str(cell)
    raise UnsupportedError(f"the cell {cell!r} in a statement of several tables", expected="{sql: ...}, or a `query`")


class _Join:
    """The tables of the statement, and what it does to their rows."""

    def __init__(self, change: Update | Delete, tables: str, kind: str, context: DmlContext) -> None:
        self.change, self.context = change, context
        with context.place(kind, "tables"):
            cursor = Cursor(tables, context.references.line.grammar)
            texts = table_references(cursor)
            if not cursor.at_end():
                cursor.wrong("',' or JOIN")
            relations = [relation_of(one, context, None) for one in texts]
        self.texts: Sequence[FromTable] = texts
        self.states = [relation.state for relation in relations]
        self.scope = Scope([relation.source for relation in relations], context, read_query)
        with context.place(kind, "where"):
            if isinstance(change.where, Mapping):
                raise UnsupportedError("`where` by columns, of several tables, is not supported", expected="SQL text")
            where = change.where
            tree = None if where is None else _tree(where, context)
            self.joined = Joined(relations, texts, tree, self.scope)

    def changes(self) -> list[Update] | list[Delete]:
        """What happens in each table: first in that which is read first, then in the others as they are named."""
        found = self._orders()
        order = self.joined.first_order()
        if isinstance(self.change, Delete):
            targets = self._targets(self.change.rows_of or ())
            return [self._deleted(self.change, index, found) for index in self._in_order(targets, order[0])]
        assigned = self._assigned(self.change)
        waits = self.context.references.line.rows.joined_reads_wait
        first = -1 if waits and not self.scope.reads(order[0]).isdisjoint(assigned.get(order[0], ())) else order[0]
        return [
            self._updated(self.change, index, assigned[index], found) for index in self._in_order(list(assigned), first)
        ]

    def _in_order(self, targets: list[int], first: int) -> list[int]:
        return sorted(set(targets), key=lambda index: (index != first, index))

    def _orders(self) -> list[ScopeCells]:
        """What the join finds.  Raises UnsupportedError where several orders are possible, and give other changes."""
        return self.joined.rows(None)

    def _numbers(self, index: int, found: Sequence[ScopeCells]) -> dict[int, ScopeCells]:
        """The rows of a table in the order in which the join first comes to them, with what they are joined to."""
        state = self.states[index]
        if state is None:
            raise ScenarioError("a query in FROM has no rows that can change (error 1288)", expected="a table")
        places = {id(row): number for number, row in state.rows.items()}
        numbers: dict[int, ScopeCells] = {}
        for cells in found:
            row = cells.row(index)
            if row is not None:
                numbers.setdefault(places[id(row)], cells)
        return numbers

    def _check_order(self, index: int, numbers: Sequence[int]) -> None:
        if len(numbers) < 2:
            return
        for other in self.joined.other_orders(None):
            if list(self._numbers(index, other)) != list(numbers):
                raise UnsupportedError(
                    "the order in which the rows of several tables change depends on how a server reads them",
                    expected="one table, or `further` with `joined: true`",
                )

    def _equal(self, index: int) -> frozenset[str]:
        where = self.change.where
        columns = (
            side
            for part in (conjuncts(_tree(where, self.context)) if isinstance(where, str) else [])
            if isinstance(part, Call)
            and part.name == "="
            and any(isinstance(one, SqlLiteral) for one in part.arguments)
            for side in part.arguments
            if isinstance(side, ColumnName)
        )
        return frozenset(
            side.name.lower() for side in columns if (place := self.scope.find(side)) and place[0] == index
        )

    def _targets(self, names: Sequence[str]) -> list[int]:
        found: list[int] = []
        for name in names:
            wanted = name.strip().removesuffix(".*").replace("`", "").rpartition(".")[2].lower()
            place = next((i for i, text in enumerate(self.texts) if text.alias.lower() == wanted), None)
            if place is None:
                raise ScenarioError(f"there is no table {name!r} in the join (error 1109)", expected="one of it")
            found.append(place)
        return found

    def _deleted(self, change: Delete, index: int, found: list[ScopeCells]) -> Delete:
        state = self.states[index]
        numbers = list(self._numbers(index, found))
        assert state is not None
        if index == self.joined.first_order()[0]:
            self._check_order(index, numbers)
        else:
            # The server keeps the places of the rows, and sorts them.
            numbers = state.ordered(numbers)
        return Delete(table=_qualified(state), where=RowsFound(numbers, self._equal(index)), ignore=change.ignore)  # type: ignore[arg-type]

    def _assigned(self, change: Update) -> dict[int, dict[int, Any]]:
        """What SET gives columns, by the place of the table and the column."""
        assigned: dict[int, dict[int, Any]] = {}
        for name, cell in (change.set or {}).items():
            with self.context.place("update", "set", name):
                tree = parse_expression(name).tree
                if not isinstance(tree, ColumnName) or (place := self.scope.find(tree)) is None:
                    raise ScenarioError(
                        f"there is no column {name!r} in the join (error 1054)", expected="table.column"
                    )
                of_table = assigned.setdefault(place[0], {})
                of_table[place[1]] = self._source(cell, of_table, place[0])
        return assigned

    def _source(self, cell: Any, before: Mapping[int, Any], index: int) -> Any:
        if not is_expression(cell):
            return cell
        node = self.scope.bound(_tree(cell["sql"], self.context))
        for part in walk(node):
            place = self.scope.places.get(part.name) if isinstance(part, ColumnName) else None
            if place is not None and place[0] == index and place[1] in before:
                problem = "a column that the same UPDATE of several tables sets before"
                raise UnsupportedError(f"{problem} is not supported in an expression", expected="one table")
        return node

    def _updated(self, change: Update, index: int, cells: Mapping[int, Any], found: list[ScopeCells]) -> Update:
        state = self.states[index]
        numbers = self._numbers(index, found)
        self._check_order(index, list(numbers))
        assert state is not None
        new: dict[str, Any] = {}
        for place, source in cells.items():
            column = state.columns[place]
            values: list[Value | None] = []
            for number, joined in numbers.items():
                if isinstance(source, Node):
                    values.append(stored_value(column, evaluate(source, joined), self.context))
                else:
                    named = ColumnPlace(state.name, column.name)
                    values.append(cell_value(column, source, named, number, self.context).value)
            new[column.name] = OwnValues(values)
        where = RowsFound(list(numbers))
        return Update(table=_qualified(state), set=new, where=where, ignore=change.ignore)  # type: ignore[arg-type]


def _qualified(state: TableState) -> str:
    return f"{identifier(state.table.database)}.{identifier(state.table.name)}"


def _tree(sql: str, context: DmlContext) -> Node:
    return parse_expression(sql, context.references.line.grammar, in_statement=True).tree
