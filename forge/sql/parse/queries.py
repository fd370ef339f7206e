"""Grammar of queries: SELECT of tables and joins, UNION, TABLE."""

from __future__ import annotations

from typing import Literal as Choice

from msgspec.structs import replace

from forge.servers.facts.grammar import Grammar
from forge.sql.ast.expressions import ColumnName, Node
from forge.sql.ast.query_trees import FromTable, Item, OrderTerm, Query, Select
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.lexer import NO_MODES, Modes
from forge.sql.parse.expressions import expression
from forge.sql.parse.names import table_ref
from forge.sql.reserved import RESERVED

_OPTIONS = ("ALL", "STRAIGHT_JOIN", "SQL_NO_CACHE", "SQL_CACHE", "SQL_SMALL_RESULT", "SQL_BIG_RESULT")
_ENDS = (
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "FOR", "LOCK", "ON", "USING", "JOIN", "INNER",
    "LEFT", "RIGHT", "CROSS", "NATURAL", "STRAIGHT_JOIN", "SET", "EXCEPT", "INTERSECT", "INTO", "WINDOW", "PARTITION",
    "USE", "FORCE", "IGNORE", "FETCH", "OFFSET", "RETURNING", "PROCEDURE", "TABLESAMPLE", "VALUES",
)  # fmt: skip
#: Levels of queries inside of each other.
_DEEPEST = 60


def parse_query(sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES) -> Query:
    """The query in a text, in parentheses or not.  Raises SqlError, SqlUnsupported."""
    cursor = Cursor(sql, grammar, modes)
    found = query(cursor)
    if not cursor.at_end():
        raise SqlUnsupported(f"{cursor.token.shown()} in a query is not supported yet", cursor.token.start)
    return found


def query(cursor: Cursor, depth: int = 0) -> Query:
    """Selects with UNION between them."""
    if depth > _DEEPEST:
        raise SqlUnsupported("queries so deep inside of each other are not supported", cursor.token.start)
    if cursor.token.is_word("WITH"):
        raise SqlUnsupported("WITH is not supported yet", cursor.token.start)
    first = _operand(cursor, depth)
    selects, kinds = [first], set()
    while cursor.accept("UNION"):
        kinds.add(cursor.accept_any("ALL", "DISTINCT") == "ALL")
        selects.append(_operand(cursor, depth))
    if cursor.token.is_word("EXCEPT", "INTERSECT") or len(kinds) > 1:
        raise SqlUnsupported("this combination of queries is not supported yet", cursor.token.start)
    order, limit = _order(cursor), _limit(cursor)
    _locking(cursor)
    if len(selects) == 1 and len(first.selects) == 1 and not (first.order or first.limit):
        select = first.selects[0]
        if not (select.order and order) and not (select.limit and limit):
            return Query((replace(select, order=select.order or order, limit=select.limit or limit),))
    if len(selects) == 1:
        return replace(first, order=order or first.order, limit=limit or first.limit)
    if any(len(one.selects) > 1 or one.order or one.limit for one in selects):
        raise SqlUnsupported("UNION inside of UNION is not supported yet", cursor.token.start)
    return Query(tuple(one.selects[0] for one in selects), kinds == {True}, order, limit)


def _operand(cursor: Cursor, depth: int) -> Query:
    if cursor.accept_mark("("):
        inner = query(cursor, depth + 1)
        cursor.expect_mark(")")
        return inner
    if cursor.accept("TABLE"):
        table = table_ref(cursor)
        return Query((Select((Item(None),), (FromTable(table, table.name),)),))
    cursor.expect("SELECT")
    return Query((_select(cursor, depth),))


def _select(cursor: Cursor, depth: int) -> Select:
    distinct = False
    while word := cursor.accept_any("DISTINCT", "DISTINCTROW", *_OPTIONS):
        distinct = distinct or word.startswith("DISTINCT")
    items = [_item(cursor)]
    while cursor.accept_mark(","):
        items.append(_item(cursor))
    sources: tuple[FromTable, ...] = ()
    if cursor.accept("FROM") and not cursor.accept("DUAL"):
        sources = table_references(cursor, depth)
    where = expression(cursor) if cursor.accept("WHERE") else None
    group: list[Node] = []
    while cursor.accept("GROUP", "BY") or (group and cursor.accept_mark(",")):
        group.append(expression(cursor))
        cursor.accept_any("ASC", "DESC")
    if cursor.accept("WITH", "ROLLUP"):
        raise SqlUnsupported("WITH ROLLUP is not supported yet", cursor.previous_start)
    having = expression(cursor) if cursor.accept("HAVING") else None
    return Select(tuple(items), sources, where, tuple(group), having, distinct, _order(cursor), _limit(cursor))


def _item(cursor: Cursor) -> Item:
    if cursor.accept_mark("*"):
        return Item(None)
    if cursor.token.is_name and cursor.following().is_mark("."):
        table, distance = cursor.token.text, 2
        if cursor.following(3).is_mark("."):
            table, distance = cursor.following(2).text, 4
        if cursor.following(distance).is_mark("*"):
            for _ in range(distance + 1):
                cursor.advance()
            return Item(None, table=table)
    start = cursor.token.start
    tree = expression(cursor)
    text = cursor.sql[start : cursor.previous_end]
    name = tree.name if isinstance(tree, ColumnName) else text
    return Item(tree, alias_of(cursor, "column", strings=True) or name)


def alias_of(cursor: Cursor, role: str, *, strings: bool = False) -> str | None:
    """A name behind AS, or alone."""
    alone = cursor.token.is_name and not (cursor.token.is_word(*_ENDS) or cursor.token.text.upper() in RESERVED)
    if cursor.accept("AS") or alone or (strings and cursor.token.kind == "string"):
        return cursor.string(role) if strings and cursor.token.kind == "string" else cursor.name(role)
    return None


def table_references(cursor: Cursor, depth: int = 0) -> tuple[FromTable, ...]:
    """What FROM and UPDATE name: tables with commas or joins between them.  Raises SqlError, SqlUnsupported."""
    found = [_table(cursor, depth)]
    while True:
        if cursor.accept_mark(",") or cursor.accept("STRAIGHT_JOIN"):
            found.append(_table(cursor, depth))
            if cursor.accept("ON"):
                found[-1] = replace(found[-1], on=expression(cursor))
            continue
        natural = cursor.accept("NATURAL")
        word = cursor.accept_any("INNER", "CROSS", "LEFT", "RIGHT")
        if word in ("LEFT", "RIGHT"):
            cursor.accept("OUTER")
        if not (natural or word) and not cursor.token.is_word("JOIN"):
            return tuple(found)
        cursor.expect("JOIN")
        joined = _table(cursor, depth)
        kinds: dict[str, Choice["left", "right"]] = {"LEFT": "left", "RIGHT": "right"}
        joined = replace(joined, join=kinds.get(word or "", "inner"), using=() if natural else None)
        if cursor.token.is_word("JOIN", "INNER", "LEFT", "RIGHT") and not natural and word != "CROSS":
            raise SqlUnsupported("joins inside of joins are not supported yet", cursor.token.start)
        if cursor.accept("ON"):
            joined = replace(joined, on=expression(cursor))
        elif cursor.accept("USING"):
            cursor.expect_mark("(")
            joined = replace(joined, using=tuple(cursor.names("column")))
            cursor.expect_mark(")")
        found.append(joined)


def _table(cursor: Cursor, depth: int) -> FromTable:
    start = cursor.token.start
    if cursor.accept_mark("("):
        if not cursor.token.is_word("SELECT", "WITH", "TABLE") and not cursor.token.is_mark("("):
            raise SqlUnsupported("joins in parentheses are not supported yet", start)
        inner = query(cursor, depth + 1)
        cursor.expect_mark(")")
        alias = alias_of(cursor, "table")
        if alias is None or cursor.token.is_mark("("):
            raise SqlUnsupported("a query in FROM needs a name, and its columns theirs", start)
        return FromTable(inner, alias)
    table = table_ref(cursor)
    partitions: tuple[str, ...] = ()
    if cursor.token.is_word("PARTITION") and cursor.following().is_mark("("):
        cursor.accept("PARTITION")
        cursor.expect_mark("(")
        partitions = tuple(cursor.names("partition"))
        cursor.expect_mark(")")
    if cursor.token.is_word("FOR") and cursor.following().is_word("SYSTEM_TIME", "PORTION"):
        raise SqlUnsupported("FOR SYSTEM_TIME is not supported yet", cursor.token.start)
    alias = alias_of(cursor, "table")
    while cursor.token.is_word("USE", "FORCE", "IGNORE") and cursor.following().is_word("INDEX", "KEY"):
        raise SqlUnsupported("index hints are not supported yet", cursor.token.start)
    return FromTable(table, alias or table.name, partitions=partitions)


def _order(cursor: Cursor) -> tuple[OrderTerm, ...]:
    terms: list[OrderTerm] = []
    if cursor.accept("ORDER", "BY"):
        while not terms or cursor.accept_mark(","):
            terms.append((expression(cursor), cursor.accept_any("ASC", "DESC") == "DESC"))
    return tuple(terms)


def _limit(cursor: Cursor) -> tuple[int, int] | None:
    if not cursor.accept("LIMIT"):
        return None
    count = cursor.integer("a number of rows")
    if cursor.accept_mark(","):
        return cursor.integer("a number of rows"), count
    return count, cursor.integer("a number of rows") if cursor.accept("OFFSET") else 0


def _locking(cursor: Cursor) -> None:
    """FOR UPDATE and the like, which change no rows."""
    if cursor.accept("FOR", "UPDATE") or cursor.accept("FOR", "SHARE"):
        cursor.accept_any("NOWAIT")
        cursor.accept("SKIP", "LOCKED")
    else:
        cursor.accept("LOCK", "IN", "SHARE", "MODE")
