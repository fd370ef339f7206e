"""Words of a statement's text that the log tells of: character sets, whose default collations are a session's choice
(MariaDB 11.2 on), and definitions of columns inside of statements on rows.

Found without taking the text apart: what is in quotes and comments is no keyword.
"""

from __future__ import annotations

import re

from forge.servers import ServerLine

#: Text and comments, in which words are not keywords.
_NOT_KEYWORDS = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`|/\*.*?\*/|(?:--\s|#)[^\n]*", re.DOTALL
)
_CHARSET_ALONE = re.compile(
    r"\b(?:(?:CHARACTER\s+SET|CHARSET)\s*=?\s*(?!DEFAULT\b)\w+|ASCII|UNICODE|NCHAR|NATIONAL)\b(?!\s*(?:COLLATE|BINARY)\b)",
    re.IGNORECASE,
)


_TIMESTAMP_OF_JSON_TABLE = re.compile(r"\bTIMESTAMP\s*(?:\(\s*\d\s*\)\s*)?(?:EXISTS\s+)?PATH\b", re.IGNORECASE)


def defines_timestamp(sql: str, line: ServerLine) -> bool:
    """Whether the text of a row statement has JSON_TABLE with a TIMESTAMP column, a definition to MySQL (recorded)."""
    return line.family == "mysql" and bool(_TIMESTAMP_OF_JSON_TABLE.search(_NOT_KEYWORDS.sub("''", sql)))


_CHARSET_OF_TEXT = re.compile(
    r"(?<![\w$@.])_\w+\s*(?:''|[xb]''|0x)|\bUSING\s+\w+\s*\)|\b(?:CHARACTER\s+SET|CHARSET)\s+\w+", re.IGNORECASE
)


def converts_text(sql: str) -> bool:
    """Whether a statement on rows names a character set: ``_latin1'a'``, CONVERT ... USING, CAST (recorded on 11.8)."""
    quoteless = _NOT_KEYWORDS.sub(lambda found: "''" if found[0][0] in "'\"" else " ", sql)
    return _CHARSET_OF_TEXT.search(quoteless) is not None


def names_charset_alone(sql: str) -> bool:
    """Whether the text names a character set without a collation.

    Such a set gets its default collation, which is a session's choice on MariaDB 11.2 and later, so the statement is
    logged with that choice (recorded on 11.8).
    """
    return _CHARSET_ALONE.search(_NOT_KEYWORDS.sub(" ", sql)) is not None
