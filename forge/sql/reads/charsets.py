"""Whether the text of a statement names a character set, which MariaDB 11.8 tells with the session's collations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge.sql.lexer import Token
from forge.sql.words import readable_tokens

#: What stands in every text that names a character set, and in few others: to take a long one apart costs.
_MAY_NAME_CHARSET = re.compile(r"""_\w+\s*['"xbn0/#-]|using|char|national""", re.IGNORECASE)


def names_charset(sql: str) -> bool:
    """Whether a text names a character set without a collation: ``_latin1'a'``, CONVERT ... USING, CHARACTER SET.

    Such a set gets its default collation, which is a session's choice on MariaDB 11.2 and later (recorded on 11.8).
    """
    if not _MAY_NAME_CHARSET.search(sql):
        return False
    tokens = readable_tokens(sql)
    return any(_names_charset_at(tokens, index) for index in range(len(tokens) - 2))


def _names_charset_at(tokens: Sequence[Token], index: int) -> bool:
    token, behind = tokens[index], tokens[index + 1]
    if token.kind != "word":
        return False
    if token.text.startswith("_"):
        return behind.kind in ("string", "hex", "bit") and not (index and tokens[index - 1].is_mark("."))
    if token.is_word("NCHAR", "NVARCHAR", "NATIONAL"):
        return True
    if token.is_word("USING"):
        return behind.is_name and not behind.is_word("BTREE", "HASH") and tokens[index + 2].is_mark(")")
    is_set = token.is_word("SET") and index > 0 and tokens[index - 1].is_word("CHARACTER", "CHAR")
    named = index + 1 + behind.is_mark("=")
    if not (is_set or token.is_word("CHARSET")) or tokens[named].is_word("DEFAULT"):
        return False
    return not tokens[named + 1].is_word("COLLATE", "BINARY")
