"""Text and bytes as a server without strict mode stores them (recorded on MySQL 9.7, MariaDB 10.11 and 11.8)."""

from __future__ import annotations

from itertools import islice
from typing import Any

from forge.charsets import Charset
from forge.errors import ScenarioError
from forge.values.base import Column, Value
from forge.values.literals import hex_mapping, literal_sql
from forge.values.registry import codec_for
from forge.values.text.column_charset import charset_of, decoded, utf8
from forge.values.text.strings import TextCodec


def clip_text(column: Column, declared: Any) -> Value | None:
    """What a text or binary column stores of a declared literal; None for what is not known here."""
    if isinstance(declared, float):
        # The server rounds its digits to the column's width.
        return None
    known = charset_of(column)
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is None:
        text = declared if isinstance(declared, str) else literal_sql(declared).strip("'")
        if known is not None:
            return _clip_characters(column, known, text)
        data = utf8(text)
    if known is None:
        codec = _codec(column)
        return codec.accept(column, bytes(data)[: codec.limit(column)])
    return _clip_bytes(column, known, whole_units(column, bytes(data)))


def text_of(column: Column, declared: Any) -> str | None:
    """The text of a declared member in the column's character set; None for other things."""
    if isinstance(declared, str):
        return declared
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is None:
        return None
    if charset_of(column) is None:
        return bytes(data).decode("utf-8", "replace")
    text = decoded(charset_of(column), whole_units(column, bytes(data)))
    return text if isinstance(text, str) else "\0"  # which no member is called


def whole_units(column: Column, data: bytes) -> bytes:
    """Bytes with zeros in front until they are whole units of ucs2, utf16, utf32, as servers add them in every mode."""
    known = charset_of(column)
    unit = 1 if known is None else known.min_length
    return data.rjust(-(-len(data) // unit) * unit, b"\0")


def _clip_characters(column: Column, known: Charset, text: str) -> Value:
    codec = _codec(column)
    limit, length = codec.limit(column), codec.characters(column)
    shown = "".join(character if _is_held(known, character) else "?" for character in text)
    if length is not None:
        shown = shown[:length]
    encoded = known.encode(shown)
    while len(encoded) > limit:
        # No character is longer than max_length, so this many have to go at least.
        shown = shown[: len(shown) - -(-(len(encoded) - limit) // known.max_length)]
        encoded = known.encode(shown)
    return codec.accept(column, shown)


def _clip_bytes(column: Column, known: Charset, data: bytes) -> Value:
    codec = _codec(column)
    limit, length = codec.limit(column), codec.characters(column)
    data = _mended(column, known, data)
    kept = data[:limit]
    if length is not None or len(data) > limit:
        characters = islice(known.characters(kept, "mariadb" if column.dialect.is_mariadb else "mysql"), length)
        kept = b"".join(characters)
    return codec.accept(column, kept)


def _mended(column: Column, known: Charset, data: bytes) -> bytes:
    """Bytes that are not of the column's set: MySQL stores what is before them, MariaDB ``?`` for each."""
    if not column.dialect.is_mariadb:
        return data[: known.well_formed_length(data)]
    if known.max_length == 1:
        return data
    shown, mark = b"", known.encode("?")
    while data:
        end = known.well_formed_length(data, "mariadb")
        shown, data = shown + data[:end], data[end:]
        if data:
            shown, data = shown + mark, data[1:]
    return shown


def _codec(column: Column) -> TextCodec:
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    return codec


def _is_held(known: Charset, character: str) -> bool:
    try:
        known.encode(character)
    except ScenarioError:
        return False
    return True
