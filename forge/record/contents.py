"""What the tables of a recording hold at the end, as the server's SELECT tells it.

The server is asked in forms that lose nothing: text as the hex of its UTF-8, bytes as hex, BIT as a number, FLOAT as
the DOUBLE that it is (SELECT prints six digits).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from forge.charsets import collation
from forge.errors import FormatError
from forge.plan.plan import Plan
from forge.plan.tables import Table, TableColumn
from forge.sql.write import identifier, qualified
from forge.values.registry import facts_of
from forge.values.text.column_charset import BINARY_COLLATION

Form = Literal["text", "hex", "float"]
#: Hex in a column of the form ``hex``, else text; None is NULL.
Shown = str | None


#: Stands in a replayed row for a cell that no image ever told.
UNTOLD = "\N{REPLACEMENT CHARACTER} untold"
_SEPARATOR = "next table"
#: What is no character of ucs2: halves of surrogate pairs, and pairs.
_HALVES = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")


class TableContents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rows of one table, in the order of its primary key if it has one; ``forms`` has one entry a column."""

    columns: list[str]
    forms: list[Form]
    rows: list[list[str | None]]


Contents = dict[str, TableContents]


def questions(plan: Plan) -> str:
    """SELECT statements for the rows of every table that the plan leaves, to be run in a session of their own."""
    asked = ["SET NAMES utf8mb4;", "SET SESSION time_zone = '+00:00';"]
    for table in asked_tables(plan):
        asked.append(f"SELECT '{_SEPARATOR}';")
        asked.append(_select(table))
    return "\n".join(asked) + "\n"


def asked_tables(plan: Plan) -> list[Table]:
    """The tables that the plan leaves, but those that nobody has opened since the server was started: to open a MEMORY
    table for the first time would be logged.
    """
    left_out = plan.unopened | set(plan.session.replicate_ignore_table)
    return [table for name, table in plan.tables.items() if name not in left_out]


def answered(plan: Plan, answers: str) -> Contents:
    """The contents out of what the client printed for :func:`questions`.  Raises FormatError if it does not fit."""
    parts = _parts(answers.split("\n")[:-1])
    tables = asked_tables(plan)
    if len(parts) != len(tables):
        raise FormatError(
            f"{len(tables)} tables were asked for, but the server answered for {len(parts)}", phase="value"
        )
    contents: Contents = {}
    for table, lines in zip(tables, parts, strict=True):
        asked = [_question(column) for column in table.columns]
        rows = []
        for line in lines:
            fields = line.split("\t")
            if len(fields) != len(asked):
                raise FormatError(f"a row of {table.full_name} has {len(fields)} columns", phase="value")
            rows.append([_parsed(field, question) for field, question in zip(fields, asked, strict=True)])
        contents[table.full_name] = TableContents(
            [column.name for column in table.columns], [question.form for question in asked], rows
        )
    return contents


def _select(table: Table) -> str:
    asked = ", ".join(_question(column).sql for column in table.columns)
    order = ""
    if table.primary_key is not None:
        order = " ORDER BY " + ", ".join(
            identifier(table.columns[part.column].name) for part in table.primary_key.parts
        )
    # Rows of the past are in the log as well.
    times = "" if table.row_end is None else " FOR SYSTEM_TIME ALL"
    return f"SELECT {asked} FROM {qualified(table.database, table.name)}{times}{order};"


class _Question(NamedTuple):
    """The expression for a column, the form of its value, and of which text the answer is the hex, if of one."""

    sql: str
    form: Form
    hex_of: Literal["utf-8", "utf-16-be"] | None = None


def _question(column: TableColumn) -> _Question:
    name, facts = identifier(column.name), facts_of(column.type)
    if column.system == "hash":
        return _Question("NULL", "text")  # No SELECT has it.
    if facts.has_charset and collation(column.type.collation or BINARY_COLLATION).charset == "ucs2":
        # It holds halves of characters, which are none in other sets.
        return _Question(f"HEX({name})", "text", "utf-16-be")
    if facts.has_charset and column.type.collation != BINARY_COLLATION:
        return _Question(f"HEX(CONVERT({name} USING utf8mb4))", "text", "utf-8")
    if facts.has_members:
        return _Question(f"HEX({name})", "text", "utf-8")
    if facts.is_text or facts.is_binary or facts.is_geometry:
        return _Question(f"HEX({name})", "hex")
    if facts.is_json:
        return _Question(f"HEX(CONVERT(CAST({name} AS CHAR) USING utf8mb4))", "text", "utf-8")
    if facts.kind == "bit":
        return _Question(f"CAST({name} AS UNSIGNED)", "text")
    if column.type.name == "FLOAT":
        return _Question(f"{name} * 1e0", "float")
    if facts.is_approximate and (column.type.scale is not None or column.type.zerofill):
        return _Question(f"{name} * 1e0", "text")
    if column.type.zerofill:
        return _Question(f"{name} + 0", "text")
    return _Question(name, "text")


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """The lines behind each separator."""
    parts: list[list[str]] = []
    for is_separator, group in groupby(lines, lambda line: line == _SEPARATOR):
        if is_separator:
            parts.extend([] for _ in group)
        elif parts:
            parts[-1].extend(group)
    return parts


def _parsed(field: str, question: _Question) -> Shown:
    if field == "NULL":
        return None
    if question.hex_of == "utf-8":
        return bytes.fromhex(field).decode("utf-8", "surrogatepass")
    if question.hex_of is not None:
        text = bytes.fromhex(field).decode(question.hex_of, "surrogatepass")
        return field.lower() if _HALVES.search(text) else text
    return field.lower() if question.form == "hex" else field
