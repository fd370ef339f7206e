"""Cells of UPDATE that change a JSON column by its functions: ``{json_set: {"$.a": 1}, json_remove: ["$.b"]}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.json_cells import document_of_cell, stored_times, with_types
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.cells import check_takes_value
from forge.engine.rows.context import DmlContext
from forge.engine.rows.time_zones import check_reads
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, UnsupportedError
from forge.servers import server_line
from forge.sql.write import identifier
from forge.values.base import Value
from forge.values.json.binary import Json
from forge.values.json.codec import as_json
from forge.values.json.diff import build_diffs
from forge.values.json.sql import SqlExpression
from forge.values.json.update import FUNCTIONS, JsonFunction, update_document


def is_json_update(column: ColumnDefinition, cell: Any) -> bool:
    """Whether a cell of UPDATE is a mapping of JSON functions, which no document can be by accident of its keys."""
    return column.holds_json and isinstance(cell, Mapping) and bool(cell) and set(cell) <= set(FUNCTIONS)


class Applied(NamedTuple):
    """The document after the functions, and the diffs that the server notes (None if it has none)."""

    document: Value | None
    diffs: bytes | None


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
        self._state = state
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

    def apply(self, document: Value | None, row: Sequence[Value | None], *, patches: bool = True) -> Applied:
        """The functions on a row's document.

        ``row`` are the cells that the statement sees; ``patches``: it changes stored documents in place.
        """
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

    def _cell_of(self, name: str, row: Sequence[Value | None]) -> Json:
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
