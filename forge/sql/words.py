"""Which keywords and functions a text has, by its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from forge.sql.errors import SqlError
from forge.sql.lexer import Token, tokenize
from forge.sql.outline import outline


def keywords(tokens: Sequence[Token]) -> Iterator[str]:
    """The words, in upper case, that neither follow a point nor an AS: those name columns."""
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.kind == "word" and (before is None or not (before.is_mark(".") or before.is_word("AS"))):
            yield token.text.upper()


def calls(tokens: Sequence[Token], *names: str) -> bool:
    """Whether a function of one of these names (upper case) is called."""
    return any(token.is_word(*names) and behind.is_mark("(") for token, behind in pairwise(tokens))


def outside(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that stand in no parentheses; the parentheses themselves are among them."""
    depth = 0
    for token in tokens:
        depth -= token.is_mark(")")
        if depth == 0:
            yield token
        depth += token.is_mark("(")


def inside(tokens: Sequence[Token], start: int) -> Iterator[Token]:
    """The tokens between the parenthesis at index ``start`` and its end."""
    depth = 0
    for token in tokens[start + 1 :]:
        depth += token.is_mark("(") - token.is_mark(")")
        if depth < 0 or token.kind == "end":
            return
        yield token


def readable_tokens(sql: str) -> list[Token]:
    """The tokens of a statement, of a plain INSERT with one literal; only the end if the text is no SQL."""
    return _readable(outline(sql))


@lru_cache(maxsize=256)
def _readable(sql: str) -> list[Token]:
    try:
        return tokenize(sql, several=True)
    except SqlError:
        return [Token("end", "", 0, 0)]
