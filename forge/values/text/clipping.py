"""Text and bytes as a server without strict mode stores them (recorded on MySQL 9.7, MariaDB 10.11 and 11.8).

``limit`` is the longest value in bytes, ``length`` in characters, None where only bytes count.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from forge.charsets import Charset
from forge.errors import ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.base import Column
from forge.values.literals import hex_mapping
from forge.values.text.column_charset import charset_of, decoded


def member_text(column: Column, declared: Any) -> str | None:
    """The text of a declared member in the column's character set; None for other things."""
    if isinstance(declared, str):
        return declared
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is None:
        return None
    charset = charset_of(column)
    if charset is None:
        return bytes(data).decode("utf-8", "replace")
    text = decoded(charset, whole_units(charset, bytes(data)))
    return text if isinstance(text, str) else "\0"  # which no member is called


def whole_units(charset: Charset | None, data: bytes) -> bytes:
    """Bytes with zeros in front until they are whole units of ucs2, utf16, utf32, as servers add them in every mode."""
    unit = 1 if charset is None else charset.min_length
    return data.rjust(-(-len(data) // unit) * unit, b"\0")


def clipped_text(charset: Charset, text: str, limit: int, length: int | None) -> str:
    """As much of a text as fits; ``?`` for the characters that the set lacks."""
    shown = "".join(character if _is_held(charset, character) else "?" for character in text)
    if length is not None:
        shown = shown[:length]
    encoded = charset.encode(shown)
    while len(encoded) > limit:
        # No character is longer than max_length, so this many have to go at least.
        shown = shown[: len(shown) - -(-(len(encoded) - limit) // charset.max_length)]
        encoded = charset.encode(shown)
    return shown


def clipped_bytes(charset: Charset, data: bytes, limit: int, length: int | None, dialect: Dialect) -> bytes:
    """As much as fits of bytes that become text."""
    data = _mended(charset, data, dialect)
    kept = data[:limit]
    if length is not None or len(data) > limit:
        kept = b"".join(islice(charset.characters(kept, dialect.well_formed), length))
    return kept


def _mended(charset: Charset, data: bytes, dialect: Dialect) -> bytes:
    """Bytes that are not of the set: MySQL stores what is before them, MariaDB ``?`` for each."""
    if not dialect.marks_malformed_text:
        return data[: charset.well_formed_length(data)]
    if charset.max_length == 1:
        return data
    shown, mark = b"", charset.encode("?")
    while data:
        end = charset.well_formed_length(data, dialect.well_formed)
        shown, data = shown + data[:end], data[end:]
        if data:
            shown, data = shown + mark, data[1:]
    return shown


def _is_held(charset: Charset, character: str) -> bool:
    try:
        charset.encode(character)
    except ScenarioError:
        return False
    return True
