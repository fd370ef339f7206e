"""Which tables the text of a statement names, and whether it is one of several tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from forge.sql.lexer import Token
from forge.sql.outline import outline
from forge.sql.words import outside, readable_tokens

#: Words behind which a table is named, and those that end a list of tables.
_BEFORE_TABLE = ("FROM", "JOIN", "STRAIGHT_JOIN", "INTO", "USING")
_AFTER_TABLES = (
    "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "SET", "SELECT", "VALUES", "UNION", "ON", "FOR", "WINDOW",
)  # fmt: skip
_MODIFIERS = ("LOW_PRIORITY", "IGNORE", "QUICK", "TABLE")
_AFTER_REFERENCES = ("SET", "WHERE", "ORDER", "LIMIT")


def named_tables(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """(database or "", name) of each table that the tokens name."""
    #: For each open parenthesis, whether a list of tables is being read.
    lists = [tokens[0].is_word("UPDATE")]
    expected = tokens[0].is_word("UPDATE", "INSERT", "REPLACE", "DELETE")
    of_queries = frozenset(words_of_queries(tokens))
    index = min(1, len(tokens) - 1)
    while tokens[index].kind != "end":
        token, start = tokens[index], index
        index += 1
        if token.is_mark("("):
            lists.append(lists[-1] and expected)
        elif token.is_mark(")"):
            lists = lists[:-1] or [False]
        elif token.is_mark(","):
            expected = lists[-1]
        elif token.is_word(*_BEFORE_TABLE):
            if start in of_queries and not (token.is_word("USING") and tokens[index].is_mark("(")):
                lists[-1] = expected = True
        elif token.is_word(*_AFTER_TABLES):
            lists[-1] = expected = False
        elif expected and token.is_name and not token.is_word(*_MODIFIERS):
            expected = False
            if tokens[index].is_mark(".") and tokens[index + 1].is_name:
                index += 2
                yield tokens[start].text, tokens[index - 1].text
            else:
                yield "", token.text


def tables_of(sql: str) -> frozenset[tuple[str, str]]:
    """What :func:`named_tables` gives of a statement."""
    return _tables_of(outline(sql))


@lru_cache(maxsize=256)
def _tables_of(sql: str) -> frozenset[tuple[str, str]]:
    return frozenset(named_tables(readable_tokens(sql)))


def words_of_queries(tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes of the words that are no arguments of functions, as FROM and USING may be: TRIM('a' FROM b)."""
    queries = [True]
    for index, token in enumerate(tokens):
        if token.is_mark("("):
            called = index > 0 and tokens[index - 1].kind == "word" and not tokens[index + 1].is_word("SELECT", "WITH")
            queries.append(
                not called or tokens[index - 1].is_word(*_BEFORE_TABLE, "AS", "IN", "EXISTS", "UNION", "ALL")
            )
        elif token.is_mark(")"):
            queries = queries[:-1] or [True]
        elif token.kind == "word" and queries[-1]:
            yield index


def table_references(sql: str) -> list[str]:
    """Names of the tables that an UPDATE or DELETE reads, in order; a derived table has an empty one."""
    tokens = list(outside(readable_tokens(sql)))
    start = _references_start(tokens)
    if start is None:
        return []
    names: list[str] = []
    expected = True
    for index in range(start, len(tokens) - 1):
        token = tokens[index]
        if token.is_word(*_AFTER_REFERENCES):
            break
        if token.is_mark(",") or token.is_word("JOIN", "STRAIGHT_JOIN"):
            expected = True
        elif expected:
            expected = False
            behind_point = tokens[index + 1].is_mark(".") and tokens[index + 2].is_name
            names.append("" if token.is_mark("(") else tokens[index + 2].text if behind_point else token.text)
    return names


def _references_start(tokens: Sequence[Token]) -> int | None:
    """The index of the first table reference of an UPDATE or DELETE."""
    if tokens[0].is_word("UPDATE"):
        start = 1
        while tokens[start].is_word("LOW_PRIORITY", "IGNORE"):
            start += 1
        return start
    if not tokens[0].is_word("DELETE"):
        return None
    indexes = [index for index, token in enumerate(tokens) if token.is_word("FROM")]
    using = [
        index for index, token in enumerate(tokens) if token.is_word("USING") and not tokens[index + 1].is_mark("(")
    ]
    return next((index + 1 for index in (*using, *indexes)), None)


def is_of_several_tables(sql: str, joins_subqueries: Literal["", "in", "all"]) -> bool:
    """Whether an UPDATE or DELETE has the form for several tables, or is made into it (recorded).

    ``joins_subqueries``: the subqueries that the server makes joins of.
    """
    tokens = readable_tokens(sql)
    if tokens[0].is_word("UPDATE"):
        return len(table_references(sql)) > 1 or (joins_subqueries == "in" and _is_joined(tokens, joins_subqueries))
    if not tokens[0].is_word("DELETE"):
        return False
    index = 1
    while tokens[index].is_word("LOW_PRIORITY", "QUICK", "IGNORE"):
        index += 1
    if not tokens[index].is_word("FROM") or _has(outside(tokens), "USING"):
        return True
    return _is_joined(tokens, joins_subqueries)


def _is_joined(tokens: Sequence[Token], joins_subqueries: str) -> bool:
    """Whether a subquery of the statement may become a join: one of IN, on MySQL of EXISTS too."""
    every = joins_subqueries == "all"
    if not joins_subqueries or (every and _has(outside(tokens), "ORDER", "LIMIT")):
        return False
    return any(
        token.is_word(*(("IN", "EXISTS") if every else ("IN",)))
        and tokens[index + 1].is_mark("(")
        and tokens[index + 2].is_word("SELECT")
        and (every or not tokens[index - 1].is_word("NOT"))
        for index, token in enumerate(tokens[:-2])
    )


def _has(tokens: Iterator[Token], *words: str) -> bool:
    return any(token.is_word(*words) for token in tokens)
