"""What SET of UPDATE, and ON DUPLICATE KEY UPDATE, give columns where that is no literal.

A cell of UPDATE is ``{sql: "CONCAT(v, '!')"}``, an expression of the row's columns, or JSON functions on a JSON column:
``{json_set: {"$.a": 1}, json_remove: ["$.b"]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.json_cells import cells_for, document_of_cell, stored_times, with_types
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.cells import ColumnPlace
from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.cells import cell_value, check_takes_value, not_null, value_of_literal
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import as_literal, check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.expressions import Document, parse_expression
from forge.sql.write import identifier
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json.binary import Json
from forge.values.json.codec import as_json
from forge.values.json.diff import build_diffs
from forge.values.json.sql import SqlExpression
from forge.values.json.update import FUNCTIONS, JsonFunction, update_document


class Applied(NamedTuple):
    """The value that a column gets in a row, and the diffs of a document that the server notes (None: it has none)."""

    value: Value | None
    diffs: bytes | None


def is_json_update(column: ColumnDefinition, cell: Any) -> bool:
    """Whether a cell is a mapping of JSON functions, which no document can be by accident of its keys."""
    return column.holds_json and isinstance(cell, Mapping) and bool(cell) and set(cell) <= set(FUNCTIONS)


def computed(state: TableState, index: int, cell: Any, context: DmlContext) -> ComputedValue | JsonUpdate | None:
    """What computes the values of a cell of UPDATE; None for a literal or a generator.  Raises ScenarioError."""
    if isinstance(cell, Mapping) and set(cell) == {"sql"}:
        return ComputedValue(state, index, cell, context)
    return JsonUpdate(state, index, cell, context) if is_json_update(state.columns[index], cell) else None


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

    def of(self, row: Row, *, patches: bool = True) -> Applied:
        """What it gives in a row.  Raises ScenarioError for what the column cannot hold."""
        value = self._expression.evaluate(cells_for(self._state.columns, row, self._names))
        if isinstance(value, Document):
            raise UnsupportedError(f"a JSON document for {self._column.name!r} is not computed here")
        literal = None if value is None else as_literal(self._column, value)
        stored = value_of_literal(self._column, literal, self._context).value
        return Applied(not_null(self._column, stored, self._state.name, clips=self._context.clips), None)


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


#: What a column of ON DUPLICATE KEY UPDATE gets: a literal, the value of a column of the new row, or JSON functions.
Source = Clipped | int | JsonUpdate


def declared_updates(
    state: TableState, insert: Insert | Replace, kind: str, context: DmlContext
) -> Iterator[tuple[int, Source]]:
    """What ON DUPLICATE KEY UPDATE sets, by column: a literal, the column of the new row, or JSON functions."""
    declared = insert.on_duplicate_key_update if isinstance(insert, Insert) else None
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
            yield index, cell_value(column, cell, ColumnPlace(state.name, column.name), state.inserted, context)


def updated_cells(
    state: TableState, updates: Mapping[int, Source], before: Row, new: Row, context: DmlContext, *, rows: int
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
