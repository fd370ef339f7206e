"""Cells of UPDATE that change a JSON column by its functions: ``{json_set: {"$.a": 1}, json_remove: ["$.b"]}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario.cells import Circumstances
from forge.scenario.definition import ColumnDefinition
from forge.scenario.sqltext import identifier
from forge.scenario.statement_model import Update
from forge.servers import server_line
from forge.values.base import Value
from forge.values.clipping import Clipped
from forge.values.json_codec import as_json
from forge.values.json_diff import build_diffs
from forge.values.json_update import FUNCTIONS, JsonFunction, update_document


def is_json_update(column: ColumnDefinition, cell: Any) -> bool:
    """Whether a cell of UPDATE is a mapping of JSON functions, which no document can be by accident of its keys."""
    return column.holds_json and isinstance(cell, Mapping) and bool(cell) and set(cell) <= set(FUNCTIONS)


def json_update(
    column: ColumnDefinition, cell: Mapping[str, Any], before: Sequence[Value | None], update: Update, at: Circumstances
) -> tuple[list[Value | None], list[bytes | None], Clipped]:
    """The column's values after the functions, the diffs that the server notes (both one a row), and the SQL.

    Raises ScenarioError for arguments that the functions do not take, UnsupportedError where a server works otherwise.
    """
    if column.generated is not None:
        raise ScenarioError("a generated column takes no value", expected="nothing for it")
    if column.wire.dialect.is_mariadb:
        raise UnsupportedError("JSON functions on MariaDB, whose documents are text that they format anew")
    if update.set_by_trigger:
        raise UnsupportedError("JSON functions in an UPDATE with a BEFORE trigger")
    functions = [_function(name, arguments) for name, arguments in cell.items()]
    sql = identifier(column.name)
    for function in functions:
        sql = function.sql(sql)
    in_place = server_line(at.catalog.server).knows("partial_json")
    values: list[Value | None] = []
    diffs: list[bytes | None] = []
    for document in before:
        if document is None:
            values.append(None)
            diffs.append(None)
            continue
        after, noted = update_document(document, functions, in_place=in_place)
        values.append(after)
        diffs.append(None if noted is None else build_diffs(noted))
    return values or [None], diffs, Clipped(None, sql)


def _function(name: str, arguments: Any) -> JsonFunction:
    if name == "json_remove":
        if not isinstance(arguments, list) or not arguments or not all(isinstance(path, str) for path in arguments):
            raise ScenarioError("json_remove has no paths", expected='a list of them: ["$.a", "$.b[0]"]')
        return JsonFunction("json_remove", tuple((path, None) for path in arguments))
    if not isinstance(arguments, Mapping) or not arguments or not all(isinstance(path, str) for path in arguments):
        raise ScenarioError(f"{name} has no paths", expected='a mapping of path to value: {"$.a": 1}')
    changes = tuple((path, as_json(value)) for path, value in arguments.items())
    return JsonFunction("json_set" if name == "json_set" else "json_replace", changes)
