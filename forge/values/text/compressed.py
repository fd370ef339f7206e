"""MariaDB's COMPRESSED columns: VARCHAR and VARBINARY (141), the BLOB and TEXT families (140).

The value has a length prefix as its plain type has, then a header byte and the data:

- ``00``: the data as it is.  An empty value has no header at all.
- ``8h``: h % 8 bytes of the original length, big-endian, then the data deflated; bit 8 of h says raw deflate,
  without it there is a zlib wrapper (column_compression_zlib_wrap=ON).

A server deflates values of at least column_compression_threshold = 100 bytes with level 6, and keeps the result if
header and deflated data together are shorter than the value (corpora/recordings/values/compressed has both sides
of the limit).
Metadata of 141 is the longest value plus 1 for the header byte; that of 140 the size of the length prefix.
How well zlib compresses depends on its version: such a cell may decode and not encode to the same bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from forge.unpacking import LARGEST_UNPACKED, too_large
from forge.values.base import Column
from forge.values.cells import bad_metadata, bad_value
from forge.values.text.column_charset import charset_of, utf8
from forge.values.text.strings import BlobCodec, Text, VarcharCodec, scalar_text
from forge.values.wire_types import WireType

THRESHOLD = 100
LEVEL = 6
_DEFLATED, _RAW, _LENGTH_BYTES = 0x80, 0x08, 0x07
_METHOD = 0x70


def compress(data: bytes) -> bytes:
    """The header and data that a server with default settings stores for ``data``."""
    if not data:
        return b""
    if len(data) >= THRESHOLD:
        size = (len(data).bit_length() + 7) // 8
        deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        deflated = deflate.compress(data) + deflate.flush()
        if 1 + size + len(deflated) < len(data):
            return bytes([_DEFLATED | _RAW | size]) + len(data).to_bytes(size, "big") + deflated
    return b"\0" + data


def decompress(stored: bytes) -> bytes:
    """The value of header and data.  Raises FormatError; never makes more than the header says."""
    if not stored:
        return b""
    header = stored[0]
    if not header:
        return stored[1:]
    size = header & _LENGTH_BYTES
    if not header & _DEFLATED or header & _METHOD or not 1 <= size <= 4 or len(stored) <= 1 + size:
        raise bad_value(f"a compressed value cannot start with {stored[: 1 + size].hex(' ')}")
    length = int.from_bytes(stored[1 : 1 + size], "big")
    if length > LARGEST_UNPACKED:
        raise too_large("a compressed value", length, phase="value", offset=1)
    inflate = zlib.decompressobj(-zlib.MAX_WBITS if header & _RAW else zlib.MAX_WBITS)
    try:
        data = inflate.decompress(stored[1 + size :], length + 1)
    except zlib.error as error:
        raise bad_value(f"a compressed value does not inflate: {error}", 1 + size) from None
    if len(data) != length or not inflate.eof or inflate.unused_data:
        raise bad_value(f"a compressed value of {length} bytes does not inflate to that length", 1)
    return data


class CompressedVarcharCodec(VarcharCodec):
    type_codes = (WireType.VARCHAR_COMPRESSED,)
    reader_feature = "mariadb_compressed_columns"

    def limit(self, column: Column) -> int:
        longest = super().limit(column)
        if not longest:
            raise bad_metadata("a COMPRESSED column has room for the header byte: its metadata cannot be 0")
        return longest - 1

    def prefix(self, column: Column) -> int:
        return 1 if self.limit(column) < 255 else 2

    def alters(self, column: Column) -> bool:
        return True

    def stored(self, column: Column, data: bytes) -> bytes:
        return compress(data)

    def restored(self, column: Column, data: bytes) -> bytes:
        return decompress(data)

    def accept(self, column: Column, declared: Any) -> Text:
        character_set = charset_of(column)
        if (
            character_set is not None
            and character_set.name == "utf8mb4"
            and not isinstance(declared, (bytes, bytearray, Mapping))
        ):
            # What the client sends needs no conversion: only its bytes count then, not its characters.
            text = scalar_text(self.type_name(column), declared)
            if len(utf8(text)) <= self.limit(column):
                return text
        return super().accept(column, declared)

    def type_name(self, column: Column) -> str:
        return super().type_name(column) + " COMPRESSED"


class CompressedBlobCodec(BlobCodec):
    type_codes = (WireType.BLOB_COMPRESSED,)
    reader_feature = "mariadb_compressed_columns"

    def alters(self, column: Column) -> bool:
        return True

    def stored(self, column: Column, data: bytes) -> bytes:
        return compress(data)

    def restored(self, column: Column, data: bytes) -> bytes:
        return decompress(data)

    def type_name(self, column: Column) -> str:
        return super().type_name(column) + " COMPRESSED"


CODECS = (CompressedVarcharCodec(), CompressedBlobCodec())
