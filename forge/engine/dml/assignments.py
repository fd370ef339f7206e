"""What SET of UPDATE, and ON DUPLICATE KEY UPDATE, give columns where that is no literal.

A cell of UPDATE is ``{sql: "CONCAT(v, '!')"}``, an expression of the row's columns, or JSON functions on a JSON column:
``{json_set: {"$.a": 1}, json_remove: ["$.b"]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.json_cells import document_of_cell, stored_times, with_types
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import ColumnPlace, is_expression
from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.cells import cell_value, check_takes_value, not_null, stored_value
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import check_reads, omitted_value
from forge.engine.rows.scope import Scope, ScopeCells, Source
from forge.engine.rows.selects import read_query
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.ast.expressions import Call, ColumnName, Literal
from forge.sql.cursor import Cursor
from forge.sql.expressions import parse_expression
from forge.sql.expressions.documents import element
from forge.sql.expressions.evaluation import evaluate
from forge.sql.write import identifier
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json.binary import Json
from forge.values.json.codec import as_json
from forge.values.json.diff import build_diffs
from forge.values.json.sql import SqlExpression
from forge.values.json.update import FUNCTIONS, FunctionName, JsonFunction, update_document


class Applied(NamedTuple):
    """The value that a column gets in a row, and the diffs of a document that the server notes (None: it has none)."""

    value: Value | None
    diffs: bytes | None


def is_json_update(column: ColumnDefinition, cell: Any) -> bool:
    """Whether a cell is a mapping of JSON functions, which no document can be by accident of its keys."""
    return column.holds_json and isinstance(cell, Mapping) and bool(cell) and set(cell) <= set(FUNCTIONS)


def computed(
    state: TableState, index: int, cell: Any, context: DmlContext, scope: Scope
) -> ComputedValue | ChangedDocument | JsonUpdate | None:
    """What computes the values of a cell of UPDATE; None for a literal or a generator.  Raises ScenarioError."""
    if isinstance(cell, Mapping) and set(cell) == {"sql"}:
        value = ComputedValue(state, index, cell, context, scope)
        return ChangedDocument(value) if value.changes_document else value
    return JsonUpdate(state, index, cell, context) if is_json_update(state.columns[index], cell) else None


class ComputedValue:
    """An expression that gives a column of a table its value in each row; ``reads`` are the columns in it.

    Raises ScenarioError for what is no expression, UnsupportedError for functions that are not computed exactly as
    servers compute them, and for columns whose values a server would convert with the session's time zone.
    """

    def __init__(
        self, state: TableState, index: int, cell: Mapping[str, Any], context: DmlContext, scope: Scope
    ) -> None:
        column = state.columns[index]
        check_takes_value(column, cell, context)
        if not isinstance(cell["sql"], str) or not cell["sql"].strip():
            raise ScenarioError(f"{cell!r} is not an expression", expected="{sql: text}")
        self.sql = cell["sql"].strip()
        self._is_default = self.sql.upper() == "DEFAULT"
        try:
            grammar = context.references.line.grammar
            tree = Literal(None) if self._is_default else parse_expression(self.sql, grammar, in_statement=True).tree
            self.node = scope.bound(tree)
        except UnsupportedError as error:
            raise error.replace(expected="a literal for one row, or `logged` with the statement's text") from None
        self.state, self.index, self._column, self._context, self.scope = state, index, column, context, scope
        self.reads = scope.reads()

    def of(self, *rows: Row | None, patches: bool = True) -> Applied:
        """What it gives for a row of each source.  Raises ScenarioError for what the column cannot hold."""
        context = self._context
        if self._is_default:
            stored = omitted_value(self._column, context.time, clips=context.clips)
        else:
            stored = stored_value(self._column, evaluate(self.node, self.scope.cells(rows)), context)
        return Applied(not_null(self._column, stored, self.state.name, clips=context.clips or context.ignores), None)

    @property
    def changes_document(self) -> bool:
        """Whether it is JSON functions around the column itself, whose stored document they change in place."""
        node = self.node
        while isinstance(node, Call) and node.name in _IN_PLACE:
            node = node.arguments[0]
        own = isinstance(node, ColumnName) and self.scope.places.get(node.name) == (0, self.index)
        return own and node is not self.node and self._column.type_facts.is_json


#: JSON functions that change a stored document in place, by their names in SQL.
_IN_PLACE: dict[str, FunctionName] = {
    "JSON_SET": "json_set",
    "JSON_REPLACE": "json_replace",
    "JSON_REMOVE": "json_remove",
}


class ChangedDocument:
    """JSON functions around a column in SQL: ``JSON_SET(j, '$.a', n + 1)``."""

    def __init__(self, value: ComputedValue) -> None:
        self._value, self.sql, self.reads = value, value.sql, value.reads
        column = value.state.columns[value.index]
        self._dialect = column.wire.dialect
        self._patches = server_line(value.state.definition.server).knows("partial_json")

    def of(self, row: Row, *, patches: bool = True) -> Applied:
        """The document of a row after the functions."""
        document = row[self._value.index]
        functions: list[JsonFunction] = []
        node, cells = self._value.node, self._value.scope.cells([row])
        while document is not None and isinstance(node, Call):
            changes = self._changes(node, cells)
            if changes is None:
                document = None
                break
            functions.insert(0, JsonFunction(_IN_PLACE[node.name], changes))
            node = node.arguments[0]
        if document is None:
            column = self._value.state.columns[self._value.index]
            return Applied(not_null(column, None, self._value.state.name, clips=False), None)
        after, noted = update_document(document, functions, in_place=patches and self._patches)
        return Applied(after, build_diffs(noted) if noted is not None and patches else None)

    def _changes(self, node: Call, cells: ScopeCells) -> tuple[tuple[str, Json], ...] | None:
        """Paths and values of a function; None where a path is NULL."""
        if node.name == "JSON_REMOVE":
            pairs = [(evaluate(path, cells), None) for path in node.arguments[1:]]
        else:
            paths, values = node.arguments[1::2], node.arguments[2::2]
            pairs = [
                (evaluate(path, cells), stored_times(element(value, cells), self._dialect))
                for path, value in zip(paths, values, strict=True)
            ]
        return None if any(path is None for path, _ in pairs) else tuple((str(path), value) for path, value in pairs)


class JsonUpdate:
    """JSON functions that change a column of a table, innermost first; ``sql`` is their call.

    Raises ScenarioError for arguments that the functions do not take, UnsupportedError where a server works otherwise.
    """

    def __init__(self, state: TableState, index: int, cell: Mapping[str, Any], context: DmlContext) -> None:
        column = state.columns[index]
        check_takes_value(column, cell, context)
        if column.wire.dialect.json_is_text:
            raise UnsupportedError(
                "JSON functions on MariaDB, where they reformat the document's text, are not supported"
            )
        self._state, self._index = state, index
        self._cell = cell
        self._patches = server_line(context.catalog.server).knows("partial_json")
        self._named: set[int] = set()
        functions = self._functions(self._reference)
        self._dialect = column.wire.dialect
        self._constant = None if self._named else [self._stored(function) for function in functions]
        #: The columns that the functions read, the changed one among them.
        self.reads = frozenset(self._named | {index})
        check_reads([state.columns[index] for index in self.reads], context.time.offset)
        sql = identifier(column.name)
        for function in functions:
            sql = function.sql(sql)
        self.sql = sql

    def of(self, row: Row, *, patches: bool = True) -> Applied:
        """The document of a row after the functions; ``patches``: the statement changes stored documents in place."""
        document = row[self._index]
        if document is None:
            # The server looks at no argument.
            return Applied(None, None)
        functions = self._constant or [
            self._stored(function) for function in self._functions(lambda name: self._cell_of(name, row))
        ]
        after, noted = update_document(document, functions, in_place=patches and self._patches)
        return Applied(after, build_diffs(noted) if noted is not None and patches else None)

    def _reference(self, name: str) -> SqlExpression:
        index = column_index(self._state, name)
        self._named.add(index)
        return SqlExpression(identifier(self._state.columns[index].name))

    def _cell_of(self, name: str, row: Row) -> Json:
        index = column_index(self._state, name)
        return document_of_cell(self._state.columns[index], row[index])

    def _stored(self, function: JsonFunction) -> JsonFunction:
        changes = tuple((path, stored_times(value, self._dialect)) for path, value in function.changes)
        return JsonFunction(function.name, changes)

    def _functions(self, column: Any) -> list[JsonFunction]:
        return [_function(name, arguments, column) for name, arguments in self._cell.items()]


def _function(name: str, arguments: Any, column: Any) -> JsonFunction:
    if name == "json_remove":
        if not isinstance(arguments, list) or not arguments or not all(isinstance(path, str) for path in arguments):
            raise ScenarioError("json_remove has no paths", expected='a list of them: ["$.a", "$.b[0]"]')
        return JsonFunction("json_remove", tuple((path, None) for path in arguments))
    if not isinstance(arguments, Mapping) or not arguments or not all(isinstance(path, str) for path in arguments):
        raise ScenarioError(f"{name} has no paths", expected='a mapping of path to value: {"$.a": 1}')
    changes = tuple((path, as_json(with_types(value, column))) for path, value in arguments.items())
    return JsonFunction("json_set" if name == "json_set" else "json_replace", changes)


#: What a column of ON DUPLICATE KEY UPDATE gets: a literal, the value of a column of the new row, JSON functions, or an
#: expression.
Given = Clipped | int | JsonUpdate | ComputedValue


def declared_updates(
    state: TableState, insert: Insert | Replace, kind: str, context: DmlContext
) -> Iterator[tuple[int, Given]]:
    """What ON DUPLICATE KEY UPDATE sets, by column: a literal, the column of the new row, or JSON functions."""
    declared = insert.on_duplicate_key_update if isinstance(insert, Insert) else None
    scope = None
    if isinstance(insert, Insert) and any(is_expression(cell) for cell in (declared or {}).values()):
        with context.place(kind, "row_alias"):
            scope = scope_of_new_row(state, insert, context)
    seen: set[int] = set()
    for name, cell in (declared or {}).items():
        with context.place(kind, "on_duplicate_key_update", name):
            index = column_index(state, name)
            column = state.columns[index]
            if index in seen:
                raise ScenarioError(f"column {column.name!r} is set twice")
            seen.add(index)
            if isinstance(cell, Mapping) and set(cell) == {"values"}:
                yield index, column_index(state, str(cell["values"]))
                continue
            if is_json_update(column, cell):
                yield index, JsonUpdate(state, index, cell, context)
                continue
            if scope is not None and is_expression(cell):
                yield index, ComputedValue(state, index, cell, context, scope)
                continue
            yield index, cell_value(column, cell, ColumnPlace(state.name, column.name), state.inserted, context)


def scope_of_new_row(state: TableState, insert: Insert, context: DmlContext) -> Scope:
    """The row that is there and the new one, which ``row_alias`` may name, and its columns too: ``new(a, b)``."""
    alias, names = "values()", None
    if insert.row_alias is not None:
        cursor = Cursor(insert.row_alias)
        alias = cursor.name("row")
        if cursor.accept_mark("("):
            given = cursor.names("column")
            cursor.expect_mark(")")
            places = [column_index(state, name) for name in insert.columns or ()] or range(len(given))
            named = dict(zip(places, given, strict=False))
            names = [named.get(place, column.name) for place, column in enumerate(state.columns)]
    new = Source.of(alias, state.columns, names=names, hidden=True)
    return Scope([Source.of(state.table.name, state.columns, state.table.database), new], context, read_query)


def updated_cells(
    state: TableState, updates: Mapping[int, Given], before: Row, new: Row, context: DmlContext, *, rows: int
) -> dict[int, Value | None]:
    """The values that the columns in ``updates`` get in the row ``before``.

    ``new`` is the row that could not be added, of ``rows``.  Raises ScenarioError and UnsupportedError.
    """
    # Without strict mode several rows are spared what one row is not (ER_BAD_NULL_ERROR).
    spares = context.ignores or (context.clips and rows > 1)
    values: dict[int, Value | None] = {}
    for index, source in updates.items():
        if isinstance(source, int):
            column = state.columns[index]
            value = _as_of(column, state.columns[source], new[source], context)
            values[index] = not_null(column, value, state.name, clips=spares)
        elif isinstance(source, JsonUpdate):
            # Here the server does not patch the stored document.
            row = tuple(values.get(place, value) for place, value in enumerate(before))
            values[index] = source.of(row, patches=False).value
        elif isinstance(source, ComputedValue):
            row = tuple(values.get(place, value) for place, value in enumerate(before))
            values[index] = source.of(row, new).value
        else:
            # NULL is refused only where a row gets it.
            values[index] = not_null(state.columns[index], source.value, state.name, clips=spares)
    return values


def _as_of(
    column: ColumnDefinition, source: ColumnDefinition, value: Value | None, context: DmlContext
) -> Value | None:
    """A value of one column in another."""
    if value is None or column.type == source.type:
        return value
    check_reads([column, source], context.time.offset)
    if (column.type_facts.is_moment and source.type_facts.is_moment) or column.type.name == source.type.name:
        return taken(context.wire(column), value, clips=context.clips or context.ignores).value
    raise UnsupportedError(
        f"VALUES({source.name}) of type {source.type.name} for {column.type.name} column {column.name!r}"
        " is not supported"
    )
