"""Grammar of INSERT, REPLACE, UPDATE, DELETE and SET."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from forge.servers.facts.grammar import Grammar
from forge.sql.ast.changes import (
    Assignment,
    ChangedTable,
    DeleteRows,
    InsertRows,
    RowChoice,
    RowsChange,
    Setting,
    Term,
    UpdateRows,
)
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.expressions import Call, ColumnName
from forge.sql.ast.expressions import Literal as SqlLiteral
from forge.sql.ast.query_trees import FromTable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import NO_MODES, Modes
from forge.sql.parse.expressions import expression
from forge.sql.parse.names import table_ref
from forge.sql.parse.queries import alias_of, table_references

_PRIORITIES = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK")
_QUERY = ("SELECT", "WITH", "TABLE")
_SCOPES = {"GLOBAL": "global", "SESSION": "session", "LOCAL": "session", "PERSIST": "global", "PERSIST_ONLY": "global"}


def parse_rows_change(sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES) -> RowsChange:
    """What an INSERT, REPLACE, UPDATE or DELETE says.

    Raises SqlError (a place in the text) for text that no server accepts, SqlUnsupported for forms that are not read.
    """
    cursor = Cursor(sql, grammar, modes)
    verb = cursor.expect_any(*_CHANGES)
    change = _CHANGES[verb](cursor, verb)
    if cursor.accept("RETURNING"):
        cursor.rest()
    if not cursor.at_end():
        cursor.wrong("the end of the statement")
    return change


def parse_target(
    sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES
) -> tuple[str, TableRef, tuple[str, ...] | None]:
    """The verb of a statement that changes rows, the table that it changes (the first), and an INSERT's columns.

    Raises SqlError.
    """
    cursor = Cursor(sql, grammar, modes)
    verb = cursor.expect_any(*_CHANGES)
    while cursor.accept_any(*_PRIORITIES, "IGNORE", "INTO", "FROM"):
        pass
    table = table_ref(cursor)
    columns = _columns(cursor) if verb in ("INSERT", "REPLACE") else None
    return verb, table, None if columns is None else tuple(column.name for column in columns)


def parse_settings(sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES) -> list[Setting]:
    """What SET assigns, one after the other.  Raises SqlError."""
    cursor = Cursor(sql, grammar, modes)
    cursor.expect("SET")
    settings = [_setting(cursor)]
    while cursor.accept_mark(","):
        settings.append(_setting(cursor))
    if not cursor.at_end():
        cursor.wrong("',' or the end of the statement")
    return settings


def _setting(cursor: Cursor) -> Setting:
    start, scope = cursor.token.start, "session"
    if cursor.accept("NAMES") or cursor.accept("CHARACTER", "SET") or cursor.accept("CHARSET"):
        return _names(cursor, start)
    if cursor.accept_mark("@"):
        scope, name = "@", cursor.advance().text.lower()
    else:
        if cursor.accept_mark("@@"):
            word = cursor.accept_any(*_SCOPES)
            if word is not None:
                cursor.expect_mark(".")
        else:
            word = cursor.accept_any(*_SCOPES)
        scope = _SCOPES[word] if word is not None else "session"
        name = cursor.name("variable").lower()
        while cursor.accept_mark("."):
            name += "." + cursor.name("variable").lower()
    if not cursor.accept_mark("="):
        cursor.expect_mark(":=")
    value = None if cursor.accept("DEFAULT") else _value_of_setting(cursor)
    return Setting(name, cast("Literal['session', 'global', '@']", scope), value, start)


def _names(cursor: Cursor, start: int) -> Setting:
    """``SET NAMES charset [COLLATE collation]``: the value is the collation, or else the character set."""
    name = "names" if cursor.sql[start : start + 5].upper() == "NAMES" else "character set"
    if cursor.accept("DEFAULT"):
        return Setting(name, "session", None, start)
    place = cursor.token.start
    chosen = cursor.advance().text
    if cursor.accept("COLLATE"):
        chosen = cursor.advance().text
    return Setting(name, "session", Term(SqlLiteral(chosen), cursor.sql[place : cursor.previous_end], place), start)


def _value_of_setting(cursor: Cursor) -> Term:
    """An expression; ON, BINARY and names that stand for themselves are texts."""
    token, behind = cursor.token, cursor.following()
    alone = behind.kind == "end" or behind.is_mark(",")
    if token.kind in ("word", "name") and alone and not token.is_word("NULL", "TRUE", "FALSE", "DEFAULT"):
        cursor.advance()
        return Term(SqlLiteral(token.text), token.text, token.start)
    return term(cursor)


def term(cursor: Cursor) -> Term:
    """An expression with its text.  Raises SqlError."""
    start = cursor.token.start
    tree = expression(cursor)
    return Term(tree, cursor.sql[start : cursor.previous_end], start)


def _value(cursor: Cursor) -> Term | None:
    """The cell of a row, or what SET gives: None for DEFAULT."""
    written = term(cursor)
    return None if written.tree == Call("DEFAULT") else written


def _insert(cursor: Cursor, verb: str) -> InsertRows:
    cursor.accept_any(*_PRIORITIES)
    ignore = cursor.accept("IGNORE")
    cursor.accept("INTO")
    table = table_ref(cursor)
    _partitions(cursor)
    kind: Literal["insert", "replace"] = "replace" if verb == "REPLACE" else "insert"
    if cursor.accept("SET"):
        given = _assignments(cursor)
        columns: tuple[ColumnName, ...] | None = tuple(one.column for one in given)
        rows: tuple[tuple[Term | None, ...], ...] = (tuple(one.value for one in given),)
        query = None
    else:
        columns = _columns(cursor)
        query, rows = _query(cursor), ()
        if query is None:
            cursor.expect_any("VALUES", "VALUE")
            rows = tuple(_rows(cursor))
    alias = _new_row(cursor)
    updates: tuple[Assignment, ...] = ()
    if cursor.accept("ON"):
        for word in ("DUPLICATE", "KEY", "UPDATE"):
            cursor.expect(word)
        updates = _assignments(cursor)
    return InsertRows(kind, table, columns, rows, query, alias, updates, ignore)


def _columns(cursor: Cursor) -> tuple[ColumnName, ...] | None:
    """The list of columns; None if there is none, or a query in parentheses."""
    if not cursor.token.is_mark("(") or cursor.following().is_word(*_QUERY) or cursor.following().is_mark("("):
        return None
    cursor.advance()
    names: list[ColumnName] = []
    while not cursor.accept_mark(")"):
        names.append(_column(cursor))
        if not cursor.token.is_mark(")"):
            cursor.expect_mark(",")
    return tuple(names)


def _column(cursor: Cursor) -> ColumnName:
    start = cursor.token.start
    names = [cursor.name("column")]
    while cursor.accept_mark("."):
        names.append(cursor.name("column"))
    name, table, database = (*reversed(names), None, None)[:3]
    return ColumnName(name or "", table, database, start)


def _query(cursor: Cursor) -> str | None:
    """The text of a query up to ON DUPLICATE KEY UPDATE or RETURNING; None if none comes next."""
    first = cursor.token
    if not first.is_word(*_QUERY) and not first.is_mark("("):
        return None
    while not cursor.at_end() and not cursor.takes("ON", "DUPLICATE") and not cursor.token.is_word("RETURNING"):
        if cursor.token.is_mark("("):
            cursor.balanced_end()
        else:
            cursor.advance()
    return cursor.sql[first.start : cursor.previous_end]


def _rows(cursor: Cursor) -> list[tuple[Term | None, ...]]:
    rows: list[tuple[Term | None, ...]] = []
    while not rows or cursor.accept_mark(","):
        cursor.accept("ROW")
        cursor.expect_mark("(")
        cells: list[Term | None] = []
        while not cursor.accept_mark(")"):
            cells.append(_value(cursor))
            if not cursor.token.is_mark(")"):
                cursor.expect_mark(",")
        rows.append(tuple(cells))
    return rows


def _new_row(cursor: Cursor) -> str | None:
    """``AS new(a, b)`` behind the rows."""
    if not cursor.accept("AS"):
        return None
    start = cursor.token.start
    cursor.name("row")
    if cursor.accept_mark("("):
        cursor.names("column")
        cursor.expect_mark(")")
    return cursor.sql[start : cursor.previous_end]


def _assignments(cursor: Cursor) -> tuple[Assignment, ...]:
    found: list[Assignment] = []
    while not found or cursor.accept_mark(","):
        column = _column(cursor)
        if not cursor.accept_mark("="):
            cursor.expect_mark(":=")
        found.append(Assignment(column, _value(cursor)))
    return tuple(found)


def _update(cursor: Cursor, verb: str) -> UpdateRows:
    cursor.accept_any(*_PRIORITIES)
    ignore = cursor.accept("IGNORE")
    table = _tables(cursor)
    cursor.expect("SET")
    return UpdateRows(table, _assignments(cursor), _choice(cursor), ignore)


def _delete(cursor: Cursor, verb: str) -> DeleteRows:
    ignore = False
    while cursor.accept_any(*_PRIORITIES) or cursor.token.is_word("IGNORE"):
        ignore = cursor.accept("IGNORE") or ignore
    if not cursor.accept("FROM"):
        targets = _targets(cursor)
        cursor.expect("FROM")
        return DeleteRows(_references(cursor)[1], _choice(cursor), ignore, targets)
    behind = 0
    while cursor.following(behind).is_name or cursor.following(behind).text in (".", "*", ","):
        if cursor.following(behind).is_word("USING", "WHERE", "ORDER", "LIMIT", "JOIN"):
            break
        behind += 1
    if cursor.following(behind).is_word("USING"):
        targets = _targets(cursor)
        cursor.expect("USING")
        return DeleteRows(_references(cursor)[1], _choice(cursor), ignore, targets)
    return DeleteRows(_tables(cursor), _choice(cursor), ignore)


def _targets(cursor: Cursor) -> tuple[str, ...]:
    """The tables that rows are deleted from: ``a, b.*``."""
    names: list[str] = []
    while not names or cursor.accept_mark(","):
        start = cursor.token.start
        table_ref(cursor)
        name = cursor.sql[start : cursor.previous_end]
        if cursor.accept_mark("."):
            cursor.expect_mark("*")
        names.append(name)
    return tuple(names)


def _tables(cursor: Cursor) -> ChangedTable | str:
    """One table, or the text of a join."""
    if any(cursor.following(n).is_word("PORTION") for n in range(6)):
        table = table_ref(cursor)
        portion = _portion(cursor)
        return ChangedTable(table, alias_of(cursor, "table"), (), portion)
    references, text = _references(cursor)
    only = references[0]
    if len(references) > 1 or not isinstance(only.table, TableRef):
        return text
    alias = None if only.alias == only.table.name else only.alias
    return ChangedTable(only.table, alias, only.partitions)


def _references(cursor: Cursor) -> tuple[tuple[FromTable, ...], str]:
    start = cursor.token.start
    return table_references(cursor), cursor.sql[start : cursor.previous_end]


def _partitions(cursor: Cursor) -> tuple[str, ...]:
    """``PARTITION (p0, p1)`` behind a table."""
    if not (cursor.token.is_word("PARTITION") and cursor.following().is_mark("(")):
        return ()
    cursor.accept("PARTITION")
    cursor.expect_mark("(")
    names = cursor.names("partition")
    cursor.expect_mark(")")
    return tuple(names)


def _portion(cursor: Cursor) -> tuple[str, Term, Term] | None:
    """``FOR PORTION OF period FROM begin TO end``."""
    if not cursor.accept("FOR", "PORTION", "OF"):
        return None
    name = cursor.name("period")
    cursor.expect("FROM")
    begin = term(cursor)
    cursor.expect("TO")
    return name, begin, term(cursor)


def _choice(cursor: Cursor) -> RowChoice:
    where = term(cursor) if cursor.accept("WHERE") else None
    order = ""
    if cursor.accept("ORDER", "BY"):
        start = cursor.token.start
        while not order or cursor.accept_mark(","):
            expression(cursor)
            cursor.accept_any("ASC", "DESC")
            order = cursor.sql[start : cursor.previous_end]
    limit = cursor.integer("a number of rows") if cursor.accept("LIMIT") else None
    return RowChoice(where, order or None, limit)


_CHANGES: dict[str, Callable[[Cursor, str], RowsChange]] = {
    "INSERT": _insert,
    "REPLACE": _insert,
    "UPDATE": _update,
    "DELETE": _delete,
}

__all__ = ["SqlError", "parse_rows_change", "parse_settings", "term"]
