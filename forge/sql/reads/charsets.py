"""Character sets and definitions of columns that the text of a statement names, which the log tells of.

Found without taking the text apart: what is in quotes and comments is no keyword.
"""

from __future__ import annotations

import re

#: Text and comments, in which words are not keywords.
_NOT_KEYWORDS = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`|/\*.*?\*/|(?:--\s|#)[^\n]*", re.DOTALL
)
_CHARSET_ALONE = re.compile(
    r"\b(?:(?:CHARACTER\s+SET|CHARSET)\s*=?\s*(?!DEFAULT\b)\w+|ASCII|UNICODE|NCHAR|NATIONAL)\b(?!\s*(?:COLLATE|BINARY)\b)",
    re.IGNORECASE,
)
_JSON_TABLE = re.compile(r"\bJSON_TABLE\b", re.IGNORECASE)
_TIMESTAMP_OF_JSON_TABLE = re.compile(r"\bTIMESTAMP\s*(?:\(\s*\d\s*\)\s*)?(?:EXISTS\s+)?PATH\b", re.IGNORECASE)
_CHARSET_OF_TEXT = re.compile(
    r"(?<![\w$@.])_\w+\s*(?:''|[xb]''|0x)|\bUSING\s+\w+\s*\)|\b(?:CHARACTER\s+SET|CHARSET)\s+\w+", re.IGNORECASE
)


def defines_timestamp(sql: str) -> bool:
    """Whether the text of a statement on rows has JSON_TABLE with a TIMESTAMP column."""
    if _JSON_TABLE.search(sql) is None:
        return False
    return _TIMESTAMP_OF_JSON_TABLE.search(_NOT_KEYWORDS.sub("''", sql)) is not None


def names_charset(sql: str) -> bool:
    """Whether a statement on rows names a character set: ``_latin1'a'``, CONVERT ... USING, CAST (recorded on 11.8)."""
    quoteless = _NOT_KEYWORDS.sub(lambda match: "''" if match[0][0] in "'\"" else " ", sql)
    return _CHARSET_OF_TEXT.search(quoteless) is not None


def names_charset_alone(sql: str) -> bool:
    """Whether the text of a definition names a character set without a collation.

    Such a set gets its default collation, which is a session's choice on MariaDB 11.2 and later, so the statement is
    logged with that choice (recorded on 11.8).
    """
    return _CHARSET_ALONE.search(_NOT_KEYWORDS.sub(" ", sql)) is not None
