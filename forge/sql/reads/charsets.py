"""Whether the text of a statement names a character set, which MariaDB 11.8 tells with the session's collations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge.sql.lexer import Token
from forge.sql.words import readable_tokens

#: What stands in every text that names a character set, and in few others: to take a long one apart costs.
_MAY_NAME_CHARSET = re.compile(r"""_\w+\s*['"xbn0/#-]|using|char|ascii|unicode|national|byte""", re.IGNORECASE)
_SETS_OF_TYPES = ("ASCII", "UNICODE", "NCHAR", "NVARCHAR", "NATIONAL", "BYTE")
#: What stands between the set of a column and its COLLATE.
_TYPE_WORDS = ("CHAR", "CHARACTER", "VARCHAR", "VARCHARACTER", "VARYING")


def names_charset(sql: str, *, in_types: bool = False) -> bool:
    """Whether a text names a character set without a collation: ``_latin1'a'``, CONVERT ... USING, CHARACTER SET.

    Such a set gets its default collation, which is a session's choice on MariaDB 11.2 and later (recorded on 11.8).
    ``in_types``: it is a definition, whose types may name one too: NCHAR, ASCII.
    """
    if not _MAY_NAME_CHARSET.search(sql):
        return False
    tokens = readable_tokens(sql)
    options = _options_at(tokens)
    # Of the options of a table, COLLATE may stand anywhere.
    collated = in_types and any(token.is_word("COLLATE") for token in tokens[options:])
    words = (
        index for index, token in enumerate(tokens) if token.kind == "word" and not (collated and index >= options)
    )
    return any(_is_read_in_charset(tokens, index) or _is_set_alone(tokens, index, in_types=in_types) for index in words)


def _is_read_in_charset(tokens: Sequence[Token], index: int) -> bool:
    """The introducer of a literal, or USING and a character set."""
    token, behind = tokens[index], tokens[index + 1]
    if token.is_word("USING"):
        return behind.is_name and not behind.is_word("BTREE", "HASH", "RTREE") and tokens[index + 2].is_mark(")")
    column = index > 0 and (tokens[index - 1].is_mark(".") or tokens[index - 1].is_mark("@"))
    return token.text.startswith("_") and behind.kind in ("string", "hex", "bit") and not column


def _is_set_alone(tokens: Sequence[Token], index: int, *, in_types: bool) -> bool:
    """A character set at a token, behind which no COLLATE stands; that of NCHAR is of the column."""
    own: tuple[str, ...] = ("COLLATE", "BINARY")
    if tokens[index].is_word("CHARACTER", "CHAR") and tokens[index + 1].is_word("SET"):
        index += 2
    elif tokens[index].is_word("CHARSET"):
        index += 1
    elif in_types and tokens[index].is_word(*_SETS_OF_TYPES) and not tokens[index - 1].is_mark("."):
        own = ("BINARY",) if tokens[index].is_word("NCHAR", "NVARCHAR", "NATIONAL") else own
    else:
        return False
    index += tokens[index].is_mark("=")
    is_name = tokens[index].is_name or tokens[index].kind == "string"
    return (
        is_name and not tokens[index].is_word("DEFAULT") and not tokens[_behind_type(tokens, index + 1)].is_word(*own)
    )


def _options_at(tokens: Sequence[Token]) -> int:
    """The index behind the columns of CREATE TABLE; the end of other statements."""
    closed = [index for index, token in enumerate(tokens) if token.is_mark(")")]
    creates = tokens[0].is_word("CREATE") and any(token.is_word("TABLE") for token in tokens[1:4])
    return closed[-1] if creates and closed else len(tokens)


def _behind_type(tokens: Sequence[Token], index: int) -> int:
    """The index behind the rest of a type's name, and its length."""
    while tokens[index].is_word(*_TYPE_WORDS):
        index += 1
    return index + 3 if tokens[index].is_mark("(") and tokens[index + 2].is_mark(")") else index
