"""The grammar of CREATE TABLE ... SELECT: columns of one table and literals, and WHERE that compares integers."""

from __future__ import annotations

from typing import Any, NoReturn

from forge.sql.ast.definitions import SelectDraft, SelectedColumn
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, walk
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.parse.expressions import expression
from forge.sql.parse.names import table_ref
from forge.sql.reserved import RESERVED

_OPERATORS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "<>": "ne"}
#: Digits of an integer literal that is INT on all servers, characters of a text that is VARCHAR.
_MOST_DIGITS, _MOST_CHARACTERS = 9, 255


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
    items: list[tuple[Node, str | None, int]] = []
    while not cursor.accept_mark("*"):
        start = cursor.token.start
        item = expression(cursor)
        items.append((item, _alias(cursor, "column", "FROM"), start))
        if not cursor.accept_mark(","):
            break
    if not cursor.accept("FROM"):
        _unsupported("of something other than columns of one table", offset)
    table = table_ref(cursor)
    alias = _alias(cursor, "table", "WHERE", "ORDER", "LIMIT") or table.name
    condition = expression(cursor) if cursor.accept("WHERE") else None
    order = _order(cursor)
    limit = _limit(cursor)
    if not cursor.at_end():
        _unsupported(f"with {cursor.token.text.upper()}", cursor.token.start)
    nodes = [item for item, _, _ in items] + [column for column, _ in order] + ([condition] if condition else [])
    for column in (part for node in nodes for part in walk(node) if isinstance(part, ColumnName)):
        if column.table not in (None, alias):
            raise SqlError(f"the SELECT reads only {alias!r}, not {column.table!r}", offset)
    return SelectDraft(
        tuple(_column(*item) for item in items),
        table,
        conditions(condition, offset),
        offset,
        tuple((_name(column, offset), descending) for column, descending in order),
        limit,
    )


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
    if isinstance(literal, str) and not 0 < len(literal) <= _MOST_CHARACTERS:
        _unsupported("of an empty or a long text", offset)
    if isinstance(literal, int) and len(str(abs(literal))) > _MOST_DIGITS:
        _unsupported("of numbers other than short integers", offset)
    if not isinstance(literal, (int, str)):
        _unsupported("of expressions", offset)
    return SelectedColumn("", alias, offset, literal)


def _constant(node: Node) -> Any:
    """The value of a literal, perhaps with a sign; None of other expressions."""
    if isinstance(node, Call) and node.name == "NEG":
        number = _constant(node.arguments[0])
        return -number if isinstance(number, int) else None
    return node.value if isinstance(node, Literal) and not isinstance(node.value, bool) else None


def _name(node: Node, offset: int) -> str:
    return node.name if isinstance(node, ColumnName) else _unsupported("with ORDER BY of more than columns", offset)


def conditions(node: Node | None, offset: int) -> dict[str, Any]:
    """A condition as a scenario says it: of a column with integers, joined by AND.  Raises SqlUnsupported."""
    where: dict[str, Any] = {}
    for call in _joined(node) if node is not None else ():
        if not isinstance(call, Call) or len(call.arguments) < 2 or not isinstance(call.arguments[0], ColumnName):
            _unsupported("with WHERE of more than comparisons of columns", offset)
        column, numbers = call.arguments[0].name, [_constant(part) for part in call.arguments[1:]]
        if not all(isinstance(number, int) for number in numbers):
            _unsupported("with WHERE that compares with more than an integer", offset)
        plain: dict[str, Any] = {"=": numbers[0], "IN": numbers, "BETWEEN": {"between": numbers}}
        operator, before = _OPERATORS.get(call.name), where.get(column, {})
        if call.name in plain and column not in where:
            where[column] = plain[call.name]
        elif operator and isinstance(before, dict) and not {"between", operator} & before.keys():
            where[column] = {**before, operator: numbers[0]}
        else:
            _unsupported(f"with WHERE ... {call.name}", offset)
    return where


def _joined(node: Node) -> list[Node]:
    """The conditions that AND joins."""
    if isinstance(node, Call) and node.name == "AND":
        return [part for side in node.arguments for part in _joined(side)]
    return [node]


def _order(cursor: Cursor) -> list[tuple[Node, bool]]:
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
