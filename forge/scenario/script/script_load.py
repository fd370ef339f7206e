"""LOAD DATA in a script, whose file stands in the script's folder; and what ``source`` names there."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from forge.binlog.window import refuse_device
from forge.engine.requests.sql_rows import RowsOfScript, table_name
from forge.errors import ScenarioError
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.parse.changes import term
from forge.sql.parse.names import table_ref

#: Larger files are not loaded.
_MOST_BYTES = 64 << 20


def path_inside(name: str, script: str | None) -> FilePath:
    """The path of a file that a script names.  Raises ScenarioError for one that is not in the script's folder."""
    if script is None or not FilePath(script).is_file():
        raise ScenarioError(f"{name!r} stands in no folder", expected="a script that is a file, with it beside")
    folder = FilePath(script).resolve().parent
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise ScenarioError(f"{name!r} is outside of the script's folder", expected="a file beside the script")
    if not path.is_file():
        raise ScenarioError(f"{name!r} is not there", expected="a file beside the script")
    return path


def _content(name: str, script: str | None) -> dict[str, str]:
    """What a file holds: its text, or its bytes."""
    with path_inside(name, script).open("rb") as file:
        refuse_device(file, name)
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ScenarioError(f"{name!r} has more than {_MOST_BYTES} bytes")
    try:
        return {"text": data.decode()} if data else {"hex": ""}
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def load_request(cursor: Cursor, script: str | None, rows: RowsOfScript) -> dict[str, Any]:
    """What LOAD DATA says.  Raises SqlError, ScenarioError for a file from elsewhere."""
    cursor.expect("LOAD")
    cursor.expect("DATA")
    cursor.accept_any("LOW_PRIORITY", "CONCURRENT")
    request: dict[str, Any] = {"into": ""}
    if cursor.accept("LOCAL"):
        request["local"] = True
    cursor.expect("INFILE")
    start = cursor.token.start
    name = cursor.string("a file")
    try:
        content = _content(name, script)
    except ScenarioError as error:
        raise SqlError(error.problem, start, expected=error.expected) from None
    duplicates = cursor.accept_any("REPLACE", "IGNORE")
    if duplicates is not None:
        request["duplicates"] = duplicates.lower()
    cursor.expect("INTO", "TABLE")
    request["into"] = table_name(table_ref(cursor))
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET"):
        request["character_set"] = cursor.advance().text.lower()
    _form(cursor, request)
    if cursor.accept("IGNORE"):
        request["ignore_lines"] = cursor.integer("a number of lines")
        cursor.expect_any("LINES", "ROWS")
    if cursor.accept_mark("("):
        request["columns"] = [_field(cursor)]
        while cursor.accept_mark(","):
            request["columns"].append(_field(cursor))
        cursor.expect_mark(")")
    if cursor.accept("SET"):
        request["set"] = {}
        while not request["set"] or cursor.accept_mark(","):
            column = cursor.name("column")
            cursor.expect_mark("=")
            request["set"][column] = {"sql": term(cursor).sql}
    if not cursor.at_end():
        cursor.wrong("the end of the statement")
    return {"load_data": {**request, "file": name, **content}}


def _form(cursor: Cursor, request: dict[str, Any]) -> None:
    """FIELDS and LINES."""
    if cursor.accept_any("FIELDS", "COLUMNS"):
        while word := cursor.accept_any("TERMINATED", "OPTIONALLY", "ENCLOSED", "ESCAPED"):
            if word == "OPTIONALLY":
                request["optionally_enclosed"] = True
                word = cursor.expect_any("ENCLOSED")
            cursor.expect("BY")
            field = "fields_terminated_by" if word == "TERMINATED" else f"{word.lower()}_by"
            request[field] = cursor.string("characters")
    if cursor.accept("LINES"):
        while word := cursor.accept_any("STARTING", "TERMINATED"):
            cursor.expect("BY")
            request[f"lines_{word.lower()}_by"] = cursor.string("characters")


def _field(cursor: Cursor) -> str:
    return "@" + cursor.advance().text if cursor.accept_mark("@") else cursor.name("column")
