"""The grammar of CREATE TABLE ... SELECT: columns of one table and literals, and WHERE that compares integers."""

from __future__ import annotations

from typing import Any, NoReturn

from forge.sql.ast.definitions import SelectDraft, SelectedColumn
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.parse.names import table_ref
from forge.sql.reserved import RESERVED

_OPERATORS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "<>": "ne", "!=": "ne"}
#: Digits of an integer literal that is INT on all servers, characters of a text that is VARCHAR.
_MOST_DIGITS, _MOST_CHARACTERS = 9, 255
#: What follows a column or literal that is part of an expression.
_EXPRESSIONS = ("+", "-", "*", "/", "%", "||", "&", "|", "^", ".")
_ENDS = ("WHERE", "ORDER", "LIMIT")


def begins_select(cursor: Cursor) -> bool:
    """Whether a SELECT comes next, or what may stand before it."""
    begins = cursor.token.is_word("SELECT", "AS", "IGNORE", "REPLACE", "WITH") or cursor.token.is_mark("(")
    return begins and any(cursor.following(n).is_word("SELECT") for n in range(cursor.left))


def begins_definition(cursor: Cursor) -> bool:
    """Whether columns come next: a SELECT, or table options ahead of it, need none."""
    if cursor.token.is_mark("("):
        return not cursor.following().is_word("SELECT", "WITH")
    return not any(cursor.following(n).is_word("SELECT") for n in range(cursor.left))


def select(cursor: Cursor) -> SelectDraft:
    """``[AS] SELECT columns FROM table [WHERE ...] [ORDER BY ...] [LIMIT ...]``.  Raises SqlError, SqlUnsupported."""
    offset = cursor.token.start
    cursor.accept("AS")
    if not cursor.accept("SELECT"):
        _unsupported(cursor, f"with {cursor.token.text.upper()}", offset)
    columns: list[SelectedColumn] = []
    qualifiers: set[str] = set()
    while not cursor.accept_mark("*"):
        columns.append(_column(cursor, qualifiers))
        if not cursor.accept_mark(","):
            break
    if not cursor.token.is_word("FROM"):
        _unsupported(cursor, "of something other than columns of one table", offset)
    cursor.expect("FROM")
    table = table_ref(cursor)
    alias = table.name
    if cursor.accept("AS") or (cursor.token.kind in ("word", "name") and not cursor.token.is_word(*_ENDS, *RESERVED)):
        alias = cursor.name("table")
    where = conditions(cursor, offset, qualifiers)
    order = tuple(_order(cursor, offset, qualifiers))
    limit = _limit(cursor, offset)
    if not cursor.at_end():
        _unsupported(cursor, f"with {cursor.token.text.upper()}", cursor.token.start)
    if qualifiers - {alias}:
        raise SqlError(f"the SELECT reads only {alias!r}, not {min(qualifiers - {alias})!r}", offset)
    return SelectDraft(tuple(columns), table, where, offset, order, limit)


def conditions(cursor: Cursor, offset: int, qualifiers: set[str]) -> dict[str, Any]:
    """``WHERE ...`` as a scenario says it, if it comes next.  Raises SqlError and SqlUnsupported."""
    where: dict[str, Any] = {}
    if cursor.accept("WHERE"):
        while True:
            _condition(cursor, where, offset, qualifiers)
            if not cursor.accept("AND"):
                break
    return where


def _unsupported(cursor: Cursor, form: str, offset: int) -> NoReturn:
    raise SqlUnsupported(f"CREATE TABLE ... SELECT {form} is not supported yet", offset)


def _column(cursor: Cursor, qualifiers: set[str]) -> SelectedColumn:
    offset = cursor.token.start
    literal = _literal(cursor, offset)
    if literal is not None:
        if not cursor.accept("AS") and cursor.token.kind != "name":
            _unsupported(cursor, "of a literal without AS and a name", offset)
        return SelectedColumn("", cursor.name("column"), offset, literal)
    column = name = _name(cursor, offset, qualifiers)
    if cursor.accept("AS") or (cursor.token.kind in ("word", "name") and not cursor.token.is_word("FROM")):
        name = cursor.name("column")
    return SelectedColumn(column, name, offset)


def _name(cursor: Cursor, offset: int, qualifiers: set[str]) -> str:
    """A column, perhaps behind the table and a point."""
    reserved = cursor.token.kind == "word" and cursor.token.text.upper() in RESERVED
    if reserved or cursor.token.kind not in ("word", "name") or cursor.following().is_mark("("):
        _unsupported(cursor, "of something other than columns of one table", offset)
    name = cursor.name("column")
    if cursor.accept_mark("."):
        qualifiers.add(name)
        name = cursor.name("column")
    if cursor.token.text in _EXPRESSIONS:
        _unsupported(cursor, "of expressions", offset)
    return name


def _literal(cursor: Cursor, offset: int) -> int | str | None:
    if cursor.token.kind == "string":
        text = cursor.string("a literal")
        if not 0 < len(text) <= _MOST_CHARACTERS:
            _unsupported(cursor, "of an empty or a long text", offset)
        return text
    if cursor.token.kind != "number" and not cursor.token.is_mark("-"):
        return None
    number = cursor.number()
    if not isinstance(number, int) or len(str(abs(number))) > _MOST_DIGITS or cursor.token.text in _EXPRESSIONS:
        _unsupported(cursor, "of numbers other than short integers", offset)
    return number


def _condition(cursor: Cursor, where: dict[str, Any], offset: int, qualifiers: set[str]) -> None:
    column = _name(cursor, offset, qualifiers)
    conditions = where.setdefault(column, {})
    if cursor.token.is_mark("=") or cursor.token.is_word("IN", "BETWEEN"):
        if conditions:
            _unsupported(cursor, "with several conditions on a column", offset)
        if cursor.accept_mark("="):
            where[column] = _integer(cursor, offset)
        elif cursor.accept("BETWEEN"):
            lower = _integer(cursor, offset)
            cursor.expect("AND")
            where[column] = {"between": [lower, _integer(cursor, offset)]}
        else:
            cursor.expect("IN")
            where[column] = _list(cursor, offset)
        return
    mark = cursor.advance().text
    if mark not in _OPERATORS or not isinstance(conditions, dict) or conditions.keys() & {_OPERATORS[mark], "between"}:
        _unsupported(cursor, f"with WHERE ... {mark.upper()}", offset)
    conditions[_OPERATORS[mark]] = _integer(cursor, offset)


def _list(cursor: Cursor, offset: int) -> list[int]:
    cursor.expect_mark("(")
    numbers = [_integer(cursor, offset)]
    while cursor.accept_mark(","):
        numbers.append(_integer(cursor, offset))
    cursor.expect_mark(")")
    return numbers


def _order(cursor: Cursor, offset: int, qualifiers: set[str]) -> list[tuple[str, bool]]:
    columns: list[tuple[str, bool]] = []
    if not cursor.accept("ORDER", "BY"):
        return columns
    while True:
        name = _name(cursor, offset, qualifiers)
        columns.append((name, cursor.accept_any("ASC", "DESC") == "DESC"))
        if not cursor.accept_mark(","):
            return columns


def _limit(cursor: Cursor, offset: int) -> tuple[int, int] | None:
    if not cursor.accept("LIMIT"):
        return None
    count, skipped = _integer(cursor, offset), 0
    if cursor.accept_mark(","):
        count, skipped = _integer(cursor, offset), count
    elif cursor.accept("OFFSET"):
        skipped = _integer(cursor, offset)
    return count, skipped


def _integer(cursor: Cursor, offset: int) -> int:
    if cursor.token.kind != "number" and not cursor.token.is_mark("-"):
        _unsupported(cursor, "with WHERE that compares with more than an integer", offset)
    number = cursor.number()
    if not isinstance(number, int):
        _unsupported(cursor, "with WHERE that compares with more than an integer", offset)
    return number
