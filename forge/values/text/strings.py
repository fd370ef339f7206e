"""CHAR, BINARY, VARCHAR, VARBINARY and the BLOB and TEXT families: a little-endian length, then the bytes.

=============  =====================================  ==============================================================
wire type      metadata                               length prefix
=============  =====================================  ==============================================================
STRING 254     fe xor (L & 300 hex) >> 4, L & ff;     1 byte if L <= 255, else 2; trailing pad characters are not
               L = bytes of the longest value         stored: spaces of CHAR, 00 of BINARY
VARCHAR 15     longest value in bytes, 2 bytes        1 byte if that is <= 255, else 2
BLOB 252       1, 2, 3 or 4                           that many bytes: TINY, plain, MEDIUM, LONG
=============  =====================================  ==============================================================

VAR_STRING 253 is VARCHAR in tables from before 5.0.  Source: Field_string, Field_varstring and Field_blob of
sql/field.cc; corpora/recordings/values (chars, lobs, binaries).

Values: text collation -> str, or bytes if the bytes are not of its character set; collation 63 (binary) or none
known -> bytes.  BINARY(n) is padded to n bytes when decoded.  MySQL 8 logs a collation for every column of these
types; without it CHAR and BINARY are not distinguishable, and values stay as stored.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from forge.charsets import Charset, charset, collation
from forge.errors import ScenarioError
from forge.values.base import Codec, Column, Piece
from forge.values.cells import bad_metadata, length_prefix, prefixed_width, split_prefix
from forge.values.clipping import Clipped
from forge.values.literals import hex_mapping, hexadecimal, literal_sql, number, quoted, refuse, shortened
from forge.values.numeric.floats import exponent_text, float_text
from forge.values.quick import CellReader, CellWriter, UnusualError, no_writer
from forge.values.text.clipping import clipped_bytes, clipped_text, whole_units
from forge.values.text.column_charset import BINARY_COLLATION, charset_of, decoded, decoder, utf8
from forge.values.wire_types import WireType

Text = str | bytes

_BLOB_NAMES = {1: "TINY", 2: "", 3: "MEDIUM", 4: "LONG"}
#: ucs2 holds them as characters; a literal with one is written in hex.
_SURROGATE = re.compile("[\ud800-\udfff]")


def folded_metadata(length: int) -> bytes:
    """STRING metadata of a CHAR or BINARY of at most ``length`` bytes (0 ... 1020)."""
    return bytes([WireType.STRING ^ (length & 0x300) >> 4, length & 0xFF])


def unfolded_length(metadata: bytes) -> int:
    """The longest value in bytes.  Raises FormatError if the metadata is not that of a CHAR or BINARY."""
    if len(metadata) != 2 or metadata[0] | 0x30 != WireType.STRING:
        raise bad_metadata(f"STRING metadata {metadata.hex(' ')} is not of CHAR, BINARY, ENUM or SET")
    return metadata[1] | ((metadata[0] & 0x30) ^ 0x30) << 4


def without_pad(data: bytes, pad: bytes) -> bytes:
    """``data`` without the pad characters at its end."""
    end = len(data)
    while end and data.endswith(pad, 0, end):
        end -= len(pad)
    return data[:end]


def scalar_text(name: str, declared: Any) -> str:
    """A declared scalar as the text that a server makes of it.  Raises ScenarioError."""
    if isinstance(declared, str):
        return declared
    if isinstance(declared, (int, Decimal)):
        return f"{number(name, declared):f}"
    if isinstance(declared, datetime):
        return declared.replace(tzinfo=None).isoformat(" ")
    if isinstance(declared, date):
        return declared.isoformat()
    text = float_text(declared) if isinstance(declared, float) else None
    if text is None:
        raise refuse(name, declared, "cannot hold this value", "text, or {hex: '00ff'}")
    return text


class TextCodec(Codec):
    """A length, then bytes which are text in the column's character set."""

    metadata_space = "character"

    @abstractmethod
    def limit(self, column: Column) -> int:
        """Bytes of the longest value.  Raises FormatError (phase "metadata") for impossible metadata."""

    def prefix(self, column: Column) -> int:
        """Bytes of the length prefix."""
        return 1 if self.limit(column) <= 255 else 2

    def characters(self, column: Column) -> int | None:
        """The most characters that a declaration allows; None if it counts bytes."""
        character_set = charset_of(column)
        return None if character_set is None else self.limit(column) // character_set.max_length

    def alters(self, column: Column) -> bool:
        """Whether :meth:`restored` gives other bytes than those that are stored."""
        return False

    def stored(self, column: Column, data: bytes) -> bytes:
        """What is stored of the value's bytes."""
        return data

    def restored(self, column: Column, data: bytes) -> bytes:
        """The value's bytes, of what is stored."""
        return data

    def width(self, column: Column, data: bytes | memoryview, offset: int) -> int:
        return prefixed_width(self.type_name(column), self.prefix(column), data, offset)

    def decode(self, column: Column, raw: bytes) -> Text:
        data = split_prefix(self.type_name(column), self.prefix(column), raw)
        return decoded(charset_of(column), self.restored(column, data))

    def encode(self, column: Column, value: Text) -> bytes:
        name = self.type_name(column)
        data = self.stored(column, _bytes_of(column, value))
        prefix = self.prefix(column)
        # Foreign files hold values longer than the column: only what the prefix cannot say is refused.
        if len(data) >= 1 << 8 * prefix:
            raise refuse(name, value, f"cannot hold {len(data)} bytes")
        return bytes(length_prefix(prefix).build(len(data))) + data

    def reader(self, column: Column) -> CellReader:
        character_set, prefix = charset_of(column), self.prefix(column)

        def text(data: bytes) -> Text:
            return decoded(character_set, self.restored(column, data))

        return CellReader(text if self.alters(column) else decoder(character_set), prefix=prefix)

    def writer(self, column: Column) -> CellWriter:
        character_set, prefix, limit = charset_of(column), self.prefix(column), self.limit(column)
        characters = self.characters(column)  # None: bytes are counted; 0: there is no room for one
        most = limit if characters is None else characters
        if self.declared_as is not None or (not _is_binary(column) and _is_intricate(character_set)):
            return no_writer

        kind: type[Any] = bytes if character_set is None else str

        def cell(value: Any) -> bytes:
            if value.__class__ is not kind or len(value) > most:
                raise UnusualError
            data: bytes = value if character_set is None else character_set.encode(value)
            if len(data) > limit:
                raise UnusualError
            stored = self.stored(column, data)
            return len(stored).to_bytes(prefix, "little") + stored

        return cell

    def accept(self, column: Column, declared: Any) -> Text:
        name = self.type_name(column)
        data = bytes(declared) if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        if data is None:
            text = self._narrowed(column, scalar_text(name, declared), declared)
            value: Text = utf8(text) if _is_binary(column) else text
        else:
            value = self._without_white(column, data)
        return self._fitting(column, value)

    def text(self, column: Column, value: Text) -> str | None:
        return value if isinstance(value, str) else None

    def sql(self, column: Column, value: Text) -> str:
        if isinstance(value, bytes):
            return hexadecimal(value)
        character_set = charset_of(column)
        if character_set is not None and _SURROGATE.search(value):
            return f"_{character_set.name} {hexadecimal(character_set.encode(value))}"
        return quoted(value)

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        value = self.decode(column, raw)
        prefix = self.prefix(column)
        shown = shortened(repr(value[:100]))
        pieces = [Piece(0, raw[:prefix], f"{self.type_name(column)}: length {len(raw) - prefix}")]
        return [*pieces, Piece(prefix, raw[prefix:], shown)] if len(raw) > prefix else pieces

    def longest_value(self, column: Column) -> int | None:
        return self.limit(column)

    def clip(self, column: Column, declared: Any) -> Clipped:
        try:
            value = self.accept(column, declared)
        except ScenarioError:
            return super().clip(column, declared)
        if isinstance(value, bytes) and charset_of(column) is not None:
            # Bytes that are not text of the set, which ``accept`` keeps.
            return Clipped(self.nearest(column, declared), hexadecimal(value))
        return Clipped(value, self.sql(column, value))

    def nearest(self, column: Column, declared: Any) -> Text | None:
        if isinstance(declared, float):
            # The server rounds its digits to the column's width.
            return None
        charset, limit = charset_of(column), self.limit(column)
        data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        text = declared if isinstance(declared, str) else literal_sql(declared).strip("'")
        if charset is None:
            return self.accept(column, (utf8(text) if data is None else bytes(data))[:limit])
        length = self.characters(column)
        if data is None:
            return self.accept(column, clipped_text(charset, text, limit, length))
        units = whole_units(charset, bytes(data))
        return self.accept(column, clipped_bytes(charset, units, limit, length, column.dialect))

    def _narrowed(self, column: Column, text: str, declared: Any) -> str:
        """The text of a number, in the other form of a float if only that one fits."""
        width = self.characters(column) or self.limit(column)
        if isinstance(declared, float) and len(text) > width and len(short := exponent_text(declared)) <= width:
            return short
        return text

    def _without_white(self, column: Column, data: bytes) -> Text:
        """The value of bytes, without the white space of the column's own set beyond its length (recorded on all)."""
        character_set, most = charset_of(column), self.characters(column)
        if character_set is None or most is None:
            return _told(column, data)
        if character_set.max_length == 1:
            white = _WHITE.encode() + _NO_BREAK_SPACES.get(character_set.name, b"")
            return _told(column, data if data[most:].strip(white) else data[:most])
        value = _told(column, data)
        if character_set.min_length > 1 and isinstance(value, str) and not value[most:].strip(" "):
            return value[:most]
        return value

    def _fitting(self, column: Column, value: Text) -> Text:
        """``value`` if the column can hold it; white space beyond the length is cut, as by servers in every mode.

        Of ucs2, utf16 and utf32 servers refuse the value then (recorded), unless its bytes are spaces of the set.
        """
        name, limit = self.type_name(column), self.limit(column)
        character_set = charset_of(column)
        most = self.characters(column)
        forgives = character_set is not None and character_set.min_length == 1
        if isinstance(value, str) and most is not None and len(value) > most:
            if not _is_cut(value[most:], character_set):
                raise refuse(name, value, f"cannot hold {len(value)} characters")
            value = value[:most]
        data = _bytes_of(column, value)
        if len(data) > limit:
            if data[limit:].strip(_WHITE.encode()) or not forgives:
                raise refuse(name, value, f"cannot hold {len(data)} bytes")
            data = data[:limit]
        return _told(column, self.restored(column, self.stored(column, data)))


#: What a server cuts from the end of a text that is too long.
_WHITE = " \t\n\v\f\r"
#: What is white space too in some sets, where it is given as bytes.
_NO_BREAK_SPACES = dict.fromkeys(
    ("latin1", "latin2", "cp1250", "greek", "hebrew", "latin5", "latin7", "dec8", "armscii8", "geostd8"), b"\xa0"
) | dict.fromkeys(("cp852", "cp866", "keybcs2"), b"\xff")


def _is_cut(rest: str, character_set: Charset | None) -> bool:
    """Whether a server cuts this from the end of a text.

    It looks at the client's bytes as if they were of the column's set: a NUL and a space are one of utf16 (recorded).
    """
    if character_set is None or character_set.min_length == 1:
        return character_set is not None and not rest.strip(_WHITE)
    return not utf8(rest).replace(character_set.encode(" "), b"")


def _is_intricate(character_set: Charset | None) -> bool:
    """Whether different bytes of a set may be the same text, as far as is known."""
    return character_set is None or character_set.name not in ("utf8mb4", "utf8mb3", "latin1", "ascii")


def _told(column: Column, data: bytes) -> Text:
    """The value of these bytes: their text, or they themselves if that text would be other bytes.

    cp932, eucjpms, sjis and ujis have characters of more than one sequence, which servers keep apart.
    """
    value = decoded(charset_of(column), data)
    return data if isinstance(value, str) and _bytes_of(column, value) != data else value


def _is_binary(column: Column) -> bool:
    return column.collation is None or column.collation == BINARY_COLLATION


def _bytes_of(column: Column, value: Text) -> bytes:
    """Raises ScenarioError if the column's character set cannot hold the text."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if _is_binary(column):
        return utf8(value)
    assert column.collation is not None
    return charset(collation(column.collation).charset).encode(value)


class CharCodec(TextCodec):
    """CHAR and BINARY; ENUM and SET, which share the wire type, are in forge.values.text.enums."""

    type_codes = (WireType.STRING,)
    metadata_size = 2

    def limit(self, column: Column) -> int:
        return unfolded_length(column.metadata)

    def alters(self, column: Column) -> bool:
        return column.collation == BINARY_COLLATION

    def stored(self, column: Column, data: bytes) -> bytes:
        if column.collation == BINARY_COLLATION:
            return data.rstrip(b"\0")
        character_set = charset_of(column)
        return data if character_set is None else without_pad(data, character_set.encode(" "))

    def restored(self, column: Column, data: bytes) -> bytes:
        return data.ljust(self.limit(column), b"\0") if column.collation == BINARY_COLLATION else data

    def type_name(self, column: Column) -> str:
        return _sized_name(column, "CHAR", "BINARY", self.limit(column))


class VarcharCodec(TextCodec):
    """VARCHAR and VARBINARY."""

    type_codes: ClassVar[tuple[int, ...]] = (WireType.VARCHAR, WireType.VAR_STRING)
    metadata_size = 2

    def limit(self, column: Column) -> int:
        if len(column.metadata) != 2:
            raise bad_metadata(f"VARCHAR has two metadata bytes, not {len(column.metadata)}")
        return int.from_bytes(column.metadata, "little")

    def type_name(self, column: Column) -> str:
        return _sized_name(column, "VARCHAR", "VARBINARY", self.limit(column))


class BlobCodec(TextCodec):
    """The four BLOB and the four TEXT types."""

    type_codes: ClassVar[tuple[int, ...]] = (WireType.BLOB,)
    metadata_size = 1

    def prefix(self, column: Column) -> int:
        if len(column.metadata) != 1 or column.metadata[0] not in _BLOB_NAMES:
            raise bad_metadata(f"BLOB has one metadata byte from 1 to 4, not {column.metadata.hex(' ')!r}")
        return column.metadata[0]

    def limit(self, column: Column) -> int:
        return (1 << 8 * self.prefix(column)) - 1

    def characters(self, column: Column) -> int | None:
        return None

    def type_name(self, column: Column) -> str:
        return _BLOB_NAMES[self.prefix(column)] + ("BLOB" if _is_binary(column) else "TEXT")


def _sized_name(column: Column, text_name: str, binary_name: str, limit: int) -> str:
    if column.collation == BINARY_COLLATION:
        return f"{binary_name}({limit})"
    character_set: Charset | None = charset_of(column)
    return f"{text_name}({limit // character_set.max_length})" if character_set else f"{text_name}({limit} bytes)"


CODECS = (CharCodec(), VarcharCodec(), BlobCodec())
