"""The grammar of CREATE TABLE ... SELECT: columns of one table, and WHERE that compares integers."""

from __future__ import annotations

from typing import Any, NoReturn

from forge.scenario.ddl_foreign_keys import table_ref
from forge.scenario.reserved import RESERVED
from forge.scenario.syntax import SelectDraft, SelectedColumn
from forge.scenario.tokens import Cursor, SqlUnsupported

_OPERATORS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "<>": "ne", "!=": "ne"}


def begins_select(cursor: Cursor) -> bool:
    """Whether a SELECT comes next, or what may stand before it."""
    return cursor.token.is_word("SELECT", "AS", "IGNORE", "REPLACE", "WITH") or cursor.token.is_mark("(")


def begins_definition(cursor: Cursor) -> bool:
    """Whether columns come next: a SELECT, or table options ahead of it, need none."""
    if cursor.token.is_mark("("):
        return not cursor.following().is_word("SELECT", "WITH")
    return not any(cursor.following(n).is_word("SELECT") for n in range(cursor.left))


def select(cursor: Cursor) -> SelectDraft:
    """``[AS] SELECT columns FROM table [WHERE ...]``.  Raises SqlError, SqlUnsupported for all else."""
    offset = cursor.token.start
    cursor.accept("AS")
    if not cursor.accept("SELECT"):
        _unsupported(cursor, f"with {cursor.token.text.upper()}", offset)
    columns: list[SelectedColumn] = []
    while not cursor.accept_mark("*"):
        columns.append(_column(cursor))
        if not cursor.accept_mark(","):
            break
    if not cursor.token.is_word("FROM"):
        _unsupported(cursor, "of something other than columns of one table", offset)
    cursor.expect("FROM")
    table = table_ref(cursor)
    where: dict[str, Any] = {}
    if cursor.accept("WHERE"):
        while True:
            _condition(cursor, where, offset)
            if not cursor.accept("AND"):
                break
    if not cursor.at("end"):
        _unsupported(cursor, f"with {cursor.token.text.upper()}", cursor.token.start)
    return SelectDraft(tuple(columns), table, where, offset)


def _unsupported(cursor: Cursor, what: str, offset: int) -> NoReturn:
    raise SqlUnsupported(f"CREATE TABLE ... SELECT {what} is not supported yet", offset)


def _column(cursor: Cursor) -> SelectedColumn:
    offset = cursor.token.start
    reserved = cursor.token.kind == "word" and cursor.token.text.upper() in RESERVED
    if (
        reserved
        or cursor.token.kind not in ("word", "name")
        or cursor.following().is_mark("(")
        or cursor.following().is_mark(".")
    ):
        _unsupported(cursor, "of something other than columns of one table", offset)
    column = name = cursor.name("column")
    if cursor.accept("AS") or (cursor.token.kind in ("word", "name") and not cursor.token.is_word("FROM")):
        name = cursor.name("column")
    return SelectedColumn(column, name, offset)


def _condition(cursor: Cursor, where: dict[str, Any], offset: int) -> None:
    column = cursor.name("column")
    known = where.setdefault(column, {})
    if cursor.accept_mark("="):
        if known:
            _unsupported(cursor, "with several conditions on a column", offset)
        where[column] = _integer(cursor, offset)
        return
    mark = cursor.advance().text
    if mark not in _OPERATORS or not isinstance(known, dict) or _OPERATORS[mark] in known:
        _unsupported(cursor, f"with WHERE ... {mark.upper()}", offset)
    known[_OPERATORS[mark]] = _integer(cursor, offset)


def _integer(cursor: Cursor, offset: int) -> int:
    if cursor.token.kind != "number" and not cursor.token.is_mark("-"):
        _unsupported(cursor, "with WHERE that compares with more than an integer", offset)
    number = cursor.number()
    if not isinstance(number, int):
        _unsupported(cursor, "with WHERE that compares with more than an integer", offset)
    return number
