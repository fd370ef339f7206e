"""Grammar of default values."""

from __future__ import annotations

from msgspec.structs import replace

from forge.errors import ScenarioError
from forge.servers.facts.grammar import Grammar
from forge.sql.ast.definitions import Default, ExpressionDefault, LiteralDefault, NowDefault
from forge.sql.cursor import Cursor
from forge.sql.parse.expressions import WITHOUT_PARENTHESES
from forge.sql.parse.names import table_ref
from forge.sql.parse.sql_literals import literal

NOW = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
CLOCKS = ("CURRENT_DATE", "CURDATE", "CURRENT_TIME", "CURTIME")


def default_clause(cursor: Cursor) -> Default:
    """What follows DEFAULT.  Raises SqlError."""
    offset = cursor.token.start
    if cursor.token.is_mark("("):
        sql = cursor.balanced()
        if cursor.grammar.opens_literal_defaults:
            return _opened(sql, cursor.grammar, offset) or ExpressionDefault(sql, offset)
        return ExpressionDefault(sql, offset)
    if cursor.token.is_word(*NOW):
        is_local = cursor.grammar.local_time_default and cursor.token.is_word("LOCALTIME", "LOCALTIMESTAMP")
        return NowDefault(now(cursor), offset, is_local)
    if cursor.grammar.loose_clock_defaults and cursor.token.is_word(*CLOCKS):
        start = offset
        end = cursor.advance().end
        if cursor.token.is_mark("("):
            end = cursor.balanced_end()
        return ExpressionDefault(f"({cursor.sql[start:end]})", offset)
    if cursor.grammar.opens_literal_defaults and _begins_call(cursor):
        end = cursor.advance().end
        if cursor.token.is_mark("("):
            end = cursor.balanced_end()
        elif cursor.accept("VALUE", "FOR"):
            table_ref(cursor)
            end = cursor.previous_end
        return ExpressionDefault(f"({cursor.sql[offset:end]})", offset)
    return LiteralDefault(literal(cursor), offset)


def _begins_call(cursor: Cursor) -> bool:
    """Whether a function comes next, which MariaDB takes without parentheses around it."""
    is_bare = cursor.token.is_word(*WITHOUT_PARENTHESES) or cursor.takes("NEXT", "VALUE", "FOR")
    return cursor.token.kind == "word" and (is_bare or cursor.following().is_mark("("))


def set_default(cursor: Cursor) -> Default:
    """What follows SET DEFAULT: a literal in parentheses is one (recorded on MySQL 9.7).  Raises SqlError.

    MySQL wants CURRENT_TIMESTAMP in parentheses here (recorded on 9.7).
    """
    if cursor.token.is_word(*NOW) and not cursor.grammar.opens_literal_defaults:
        cursor.wrong("a literal, or an expression in parentheses")
    default = default_clause(cursor)
    if isinstance(default, ExpressionDefault) and not default.sql.strip("( ").startswith(("+", "-")):
        default = _opened(default.sql, cursor.grammar, default.offset) or default
    return default if isinstance(default, ExpressionDefault) else replace(default, is_set=True)


def _opened(sql: str, grammar: Grammar, offset: int) -> LiteralDefault | NowDefault | None:
    """The literal, or MariaDB's CURRENT_TIMESTAMP, that stands alone in parentheses; None if something else does."""
    inner = Cursor(sql, grammar)
    try:
        opened = default_clause(inner)
    except ScenarioError:
        return None
    if not inner.at_end() or isinstance(opened, ExpressionDefault):
        return None
    if isinstance(opened, NowDefault) and not grammar.loose_clock_defaults:
        return None
    return replace(opened, offset=offset)


def is_default_expression(text: str) -> bool:
    """Whether a default is SQL by its form: an expression in parentheses, or CURRENT_TIMESTAMP."""
    try:
        cursor = Cursor(text)
        clause = default_clause(cursor)
    except ScenarioError:
        return False
    return cursor.at_end() and not isinstance(clause, LiteralDefault)


def now(cursor: Cursor) -> int:
    """CURRENT_TIMESTAMP or a synonym, with its fractional digits.  Raises SqlError."""
    if not cursor.accept_any(*NOW):
        cursor.wrong("CURRENT_TIMESTAMP", NOW)
    fsp = 0
    if cursor.accept_mark("(") and not cursor.accept_mark(")"):
        fsp = cursor.integer("fractional digits")
        cursor.expect_mark(")")
    return fsp
