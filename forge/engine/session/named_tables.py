"""Which tables the text of a statement names, and whether it is one of several tables.

Found by tokens, without understanding the statement; text that cannot be taken apart names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.engine.dictionary.catalog import Catalog
from forge.errors import ScenarioError
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.sql.lexer import Token, tokenize
from forge.sql.reads.reads import reads_of

#: What keeps a subquery from becoming a join (recorded on 9.7 of ORDER BY; the others by convert_subquery_to_semijoin).
_NOT_JOINED = ("ORDER", "LIMIT")
_NOT_JOINED_INSIDE = ("UNION", "GROUP", "HAVING", "LIMIT", "MAX", "MIN", "SUM", "COUNT", "AVG")

_NOISE = re.compile(r"/\*.*?\*/|--\s[^\n]*|#[^\n]*|'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_CLAUSE = re.compile(
    r"\s*(?:UPDATE\s+(?:LOW_PRIORITY\s+|IGNORE\s+)*(?P<update>.*?)\sSET\s"
    r"|DELETE\b.*?\b(?P<from>FROM|USING)\s(?P<delete>.*?)(?:\sWHERE\s|\sORDER\s|\sLIMIT\s|$))",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"\s*(?:(?:`(?:[^`]|``)+`|[\w$]+)\s*\.\s*)?(?P<name>`(?:[^`]|``)+`|[\w$]+)")


def table_references(sql: str) -> list[str]:
    """Names of the tables that an UPDATE or DELETE reads, in order; a derived table has an empty one."""
    match = _CLAUSE.match(_NOISE.sub(" ", sql))
    if match is None:
        return []
    text = match["update"] or match["delete"] or ""
    while "(" in text:
        shorter = re.sub(r"\([^()]*\)", " ", text)
        if shorter == text:
            break
        text = shorter
    names = []
    for piece in re.split(r",|\b(?:STRAIGHT_)?JOIN\b", text, flags=re.IGNORECASE):
        found = _NAME.match(piece)
        names.append("" if found is None else found["name"].strip("`").replace("``", "`"))
    return names


def named_tables(sql: str, catalog: Catalog, current_database: str) -> list[Table]:
    """The tables of the catalog that the text names."""
    try:
        names = reads_of(sql).tables
    except ScenarioError:
        return []
    found = (catalog.tables.get((database or current_database, name)) for database, name in sorted(names))
    return [state.table for state in found if state is not None]


def is_of_several_tables(sql: str, line: ServerLine) -> bool:
    """Whether an UPDATE or DELETE has the form for several tables, or is made into it (recorded)."""
    tokens = _tokens(sql)
    if tokens[0].is_word("UPDATE"):
        return len(table_references(sql)) > 1 or (line.texts.joins_subqueries == "in" and _is_joined(tokens, line))
    if not tokens[0].is_word("DELETE"):
        return False
    at = 1
    while tokens[at].is_word("LOW_PRIORITY", "QUICK", "IGNORE"):
        at += 1
    if not tokens[at].is_word("FROM") or any(token.is_word("USING") for token in _outside(tokens)):
        return True
    return _is_joined(tokens, line)


def _is_joined(tokens: list[Token], line: ServerLine) -> bool:
    """Whether a subquery of the statement becomes a join: MySQL's of DELETE without ORDER BY and LIMIT."""
    if not line.texts.joins_subqueries or (
        line.texts.joins_subqueries == "all" and _has(_outside(tokens), *_NOT_JOINED)
    ):
        return False
    if _has(_outside(tokens), "OR", "LIMIT"):
        return False
    return any(_joined_at(tokens, index, line) for index in range(2, len(tokens) - 1))


def _joined_at(tokens: list[Token], index: int, line: ServerLine) -> bool:
    """Whether a subquery that can become a join begins at a token."""
    if not (tokens[index].is_mark("(") and tokens[index + 1].is_word("SELECT")):
        return False
    kind, before = tokens[index - 1], tokens[index - 2]
    if line.texts.joins_subqueries == "in" and (not kind.is_word("IN") or before.is_word("NOT")):
        return False
    return kind.is_word("IN", "EXISTS") and not _has(_inside(tokens, index), *_NOT_JOINED_INSIDE)


def _has(tokens: Iterator[Token], *words: str) -> bool:
    return any(token.is_word(*words) for token in tokens)


def _outside(tokens: list[Token]) -> Iterator[Token]:
    """The tokens that stand in no parentheses."""
    depth = 0
    for token in tokens:
        depth -= token.is_mark(")")
        if depth == 0:
            yield token
        depth += token.is_mark("(")


def _inside(tokens: list[Token], start: int) -> Iterator[Token]:
    """The tokens between the parenthesis at ``start`` and its end."""
    depth = 0
    for token in tokens[start:]:
        depth += token.is_mark("(") - token.is_mark(")")
        if depth == 0:
            return
        yield token


def _tokens(sql: str) -> list[Token]:
    try:
        found = tokenize(sql)
    except ScenarioError:
        found = [Token("end", "", 0, 0)]
    return [token for token in found if not (token.kind == "mark" and token.text.startswith("/*+"))]
