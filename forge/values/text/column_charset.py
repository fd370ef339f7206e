"""The character set that a column's collation stands for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from forge.charsets import Charset, charset, find_collation
from forge.errors import FormatError, ScenarioError
from forge.values.base import Column

#: The collation of BINARY, VARBINARY, BLOB, and of CHARACTER SET binary.
BINARY_COLLATION = 63


@lru_cache(maxsize=256)
def charset_of_collation(number: int) -> Charset | None:
    """The character set of a collation id; None for binary, and for ids and sets that are not known here."""
    collation = find_collation(number) if number else None
    if collation is None or collation.charset == "binary":
        return None
    try:
        return charset(collation.charset)
    except ScenarioError:
        return None


def charset_of(column: Column) -> Charset | None:
    """The character set of a column's text; None for binary columns and if it is not known."""
    return None if column.collation is None else charset_of_collation(column.collation)


def utf8(text: str) -> bytes:
    """The bytes that a client sends.  Raises ScenarioError for half a surrogate pair."""
    return charset("utf8mb4").encode(text)


def decoder(charset: Charset | None) -> Callable[[bytes], str | bytes]:
    """:func:`decoded` for a quick reader: UnicodeDecodeError, which is one of UNUSUAL, for what is not utf8mb4."""
    if charset is not None and charset.name == "utf8mb4":
        return partial(str, encoding="utf-8")
    return partial(decoded, charset)


def decoded(charset: Charset | None, data: bytes) -> str | bytes:
    """The text of ``data``; the bytes themselves without a character set or if they are not of it."""
    if charset is None:
        return data
    try:
        return charset.decode(data)
    except FormatError:
        return data
