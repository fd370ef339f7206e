"""The grammar of CREATE TABLE ... SELECT: columns of one table, and literals."""

from __future__ import annotations

from typing import Any, NoReturn

from forge.sql.ast.definitions import SelectDraft, SelectedColumn
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, walk
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.parse.expressions import expression
from forge.sql.parse.names import table_ref
from forge.sql.reserved import RESERVED

#: An integer literal that is INT on all servers, and characters of a text that is VARCHAR.
_LARGEST_INT, _MOST_CHARACTERS = 999_999_999, 255


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
    if not cursor.accept("SELECT") or cursor.token.is_word("ALL", "DISTINCT", "DISTINCTROW"):
        _unsupported(f"with {cursor.token.text.upper()}", offset)
    columns: list[SelectedColumn] = []
    names: list[ColumnName] = []
    while not cursor.accept_mark("*"):
        start = cursor.token.start
        item = expression(cursor)
        columns.append(_column(item, _alias(cursor, "column", "FROM"), start))
        names += _names(item)
        if not cursor.accept_mark(","):
            break
    if not cursor.accept("FROM"):
        _unsupported("of something other than columns of one table", offset)
    table = table_ref(cursor)
    alias = _alias(cursor, "table", "WHERE", "ORDER", "LIMIT") or table.name
    where = ""
    if cursor.accept("WHERE"):
        start = cursor.token.start
        names += _names(expression(cursor))
        where = cursor.sql[start : cursor.previous_end]
    order: list[tuple[str, bool]] = []
    for term, descending in order_terms(cursor):
        if not isinstance(term, ColumnName):
            _unsupported("with ORDER BY of more than columns", offset)
        names.append(term)
        order.append((term.name, descending))
    limit = _limit(cursor)
    if not cursor.at_end():
        _unsupported(f"with {cursor.token.text.upper()}", cursor.token.start)
    for name in names:
        if name.table not in (None, alias):
            raise SqlError(f"the SELECT reads only {alias!r}, not {name.table!r}", offset)
    return SelectDraft(tuple(columns), table, where, offset, tuple(order), limit)


def _names(node: Node) -> list[ColumnName]:
    return [part for part in walk(node) if isinstance(part, ColumnName)]


def _alias(cursor: Cursor, role: str, *ends: str) -> str | None:
    """A name behind AS, or alone."""
    alone = cursor.token.is_name and not (cursor.token.is_word(*ends) or cursor.token.text.upper() in RESERVED)
    return cursor.name(role) if cursor.accept("AS") or alone else None


def _unsupported(form: str, offset: int) -> NoReturn:
    raise SqlUnsupported(f"CREATE TABLE ... SELECT {form} is not supported yet", offset)


def _column(item: Node, alias: str | None, offset: int) -> SelectedColumn:
    if isinstance(item, ColumnName):
        return SelectedColumn(item.name, alias or item.name, offset)
    literal = _constant(item)
    if alias is None:
        _unsupported("of a literal without AS and a name", offset)
    if isinstance(literal, str) and 0 < len(literal) <= _MOST_CHARACTERS:
        return SelectedColumn("", alias, offset, literal)
    if isinstance(literal, int) and abs(literal) <= _LARGEST_INT:
        return SelectedColumn("", alias, offset, literal)
    _unsupported("of expressions other than short texts and integers", offset)


def _constant(node: Node) -> Any:
    """The value of a literal, perhaps with a sign; None of other expressions."""
    if isinstance(node, Call) and node.name == "NEG":
        number = _constant(node.arguments[0])
        return -number if isinstance(number, int) else None
    return node.value if isinstance(node, Literal) and not isinstance(node.value, bool) else None


def order_terms(cursor: Cursor) -> list[tuple[Node, bool]]:
    """The terms of ORDER BY, and whether each is DESC."""
    terms: list[tuple[Node, bool]] = []
    if cursor.accept("ORDER", "BY"):
        while not terms or cursor.accept_mark(","):
            terms.append((expression(cursor), cursor.accept_any("ASC", "DESC") == "DESC"))
    return terms


def _limit(cursor: Cursor) -> tuple[int, int] | None:
    if not cursor.accept("LIMIT"):
        return None
    count = cursor.integer("a number of rows")
    if cursor.accept_mark(","):
        return cursor.integer("a number of rows"), count
    return count, cursor.integer("a number of rows") if cursor.accept("OFFSET") else 0
