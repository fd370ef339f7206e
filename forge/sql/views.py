"""Whether the SELECT of a view can be merged into the statements that read it."""

from __future__ import annotations

from collections.abc import Sequence

from forge.sql.lexer import Token, tokenize
from forge.sql.words import calls, inside, keywords, outside

_NOT_MERGED = (
    "UNION", "EXCEPT", "INTERSECT", "GROUP", "HAVING", "DISTINCT", "DISTINCTROW", "LIMIT", "FETCH", "OVER",
)  # fmt: skip
_AGGREGATES = (
    "COUNT", "SUM", "MIN", "MAX", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
    "VAR_POP", "VAR_SAMP", "VARIANCE", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "ST_COLLECT",
)  # fmt: skip


def is_mergeable(body: str) -> bool:
    """Whether a view's SELECT can be merged into the statements that read it: one without a table, with groups, a limit
    or UNION cannot, whatever its subqueries have (recorded on 9.7, 10.11 and 11.8).
    """
    tokens = tokenize(body)
    while tokens[0].is_mark("("):
        tokens = [*inside(tokens, 0), tokens[-1]]
    words = set(keywords(list(outside(tokens))))
    own = _outside_of_subqueries(tokens)
    return "FROM" in words and words.isdisjoint(_NOT_MERGED) and not calls(own, *_AGGREGATES)


def _outside_of_subqueries(tokens: Sequence[Token]) -> list[Token]:
    own: list[Token] = []
    index = 0
    while index < len(tokens):
        own.append(tokens[index])
        if tokens[index].is_mark("(") and tokens[index + 1].is_word("SELECT", "WITH"):
            index += len(list(inside(tokens, index)))
        index += 1
    return own
