"""Character sets and definitions of columns that the text of a statement names, which the log tells of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge.sql.lexer import Token
from forge.sql.words import readable_tokens

#: What stands in every text that names a character set, and in few others: to take a long one apart costs.
_MAY_NAME_CHARSET = re.compile(r"""_\w+\s*['"xbn0/#-]|using|char""", re.IGNORECASE)
_SETS_OF_TYPES = ("ASCII", "UNICODE", "NCHAR", "NVARCHAR", "NATIONAL", "BYTE")
#: What stands between NCHAR, NATIONAL and the like and the BINARY of their column.
_TYPE_WORDS = ("CHAR", "CHARACTER", "VARCHAR", "VARCHARACTER", "VARYING")


def defines_timestamp(sql: str) -> bool:
    """Whether the text of a statement on rows has JSON_TABLE with a TIMESTAMP column."""
    # Texts can be long, and hardly one has the word.
    if "json_table" not in sql.lower():
        return False
    tokens = readable_tokens(sql)
    if not any(token.is_word("JSON_TABLE") for token in tokens):
        return False
    return any(_is_timestamp_column(tokens, index) for index in range(len(tokens)))


def _is_timestamp_column(tokens: Sequence[Token], index: int) -> bool:
    """``TIMESTAMP[(digits)] [EXISTS] PATH``."""
    if not tokens[index].is_word("TIMESTAMP"):
        return False
    index += 1
    if tokens[index].is_mark("(") and tokens[index + 1].kind == "number" and tokens[index + 2].is_mark(")"):
        index += 3
    if tokens[index].is_word("EXISTS"):
        index += 1
    return tokens[index].is_word("PATH")


def names_charset(sql: str) -> bool:
    """Whether a statement on rows names a character set: ``_latin1'a'``, CONVERT ... USING, CAST (recorded on 11.8)."""
    if not _MAY_NAME_CHARSET.search(sql):
        return False
    tokens = readable_tokens(sql)
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        if _is_read_in_charset(tokens, index):
            return True
        if _charset_at(tokens, index) is not None:
            return True
    return False


def _is_read_in_charset(tokens: Sequence[Token], index: int) -> bool:
    """The introducer of a literal, or USING and a character set."""
    token, behind = tokens[index], tokens[index + 1]
    if token.is_word("USING"):
        return behind.is_name and not behind.is_word("BTREE", "HASH", "RTREE") and tokens[index + 2].is_mark(")")
    column = index > 0 and (tokens[index - 1].is_mark(".") or tokens[index - 1].is_mark("@"))
    return token.text.startswith("_") and behind.kind in ("string", "hex", "bit") and not column


def names_charset_alone(sql: str) -> bool:
    """Whether the text of a definition names a character set without a collation.

    Such a set gets its default collation, which is a session's choice on MariaDB 11.2 and later, so the statement is
    logged with that choice (recorded on 11.8).
    """
    tokens = readable_tokens(sql)
    options = _options_at(tokens)
    # Of the options of a table, COLLATE may stand anywhere.
    collated = any(token.is_word("COLLATE") for token in tokens[options:])
    for index, token in enumerate(tokens):
        if collated and index >= options:
            break
        if token.kind == "word" and _is_read_in_charset(tokens, index):
            return True
        named = _charset_at(tokens, index)
        if named is None and token.is_word(*_SETS_OF_TYPES) and not _is_column(tokens, index):
            named = index
        if named is None or tokens[named].is_word("DEFAULT"):
            continue
        # COLLATE of NCHAR and the like is of the column, and does not belong to their set.
        own = ("BINARY",) if tokens[named].is_word("NCHAR", "NVARCHAR", "NATIONAL") else ("COLLATE", "BINARY")
        if not tokens[_behind_type(tokens, named + 1)].is_word(*own):
            return True
    return False


def _options_at(tokens: Sequence[Token]) -> int:
    """The index behind the columns of CREATE TABLE; the end of other statements."""
    closed = [index for index, token in enumerate(tokens) if token.is_mark(")")]
    creates = tokens[0].is_word("CREATE") and any(token.is_word("TABLE") for token in tokens[1:4])
    return closed[-1] if creates and closed else len(tokens)


def _behind_type(tokens: Sequence[Token], index: int) -> int:
    """The index behind the rest of a type's name, and its length."""
    while tokens[index].is_word(*_TYPE_WORDS):
        index += 1
    if tokens[index].is_mark("(") and tokens[index + 2].is_mark(")"):
        index += 3
    return index


def _charset_at(tokens: Sequence[Token], index: int) -> int | None:
    """The index of the name behind CHARACTER SET or CHARSET at a token."""
    if tokens[index].is_word("CHARACTER", "CHAR") and tokens[index + 1].is_word("SET"):
        index += 2
    elif tokens[index].is_word("CHARSET"):
        index += 1
    else:
        return None
    index += tokens[index].is_mark("=")
    return index if tokens[index].kind in ("word", "name", "string") else None


def _is_column(tokens: Sequence[Token], index: int) -> bool:
    """Whether the word is called as a function, or is a column behind its table."""
    called = tokens[index + 1].is_mark("(") and not tokens[index].is_word("NCHAR", "NVARCHAR")
    return called or (index > 0 and tokens[index - 1].is_mark("."))
