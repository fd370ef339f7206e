"""Every byte of a JSON document with what it means, in file order.

Bytes that nothing refers to, which an UPDATE in place leaves behind, are named as such.
"""

from __future__ import annotations

from typing import Final

from forge.values.base import Piece
from forge.values.json.binary import (
    DOUBLE,
    INT16,
    INT32,
    INT64,
    LARGE_ARRAY,
    LARGE_OBJECT,
    LITERAL,
    OPAQUE,
    SMALL_ARRAY,
    SMALL_OBJECT,
    STRING,
    UINT16,
    UINT32,
    UINT64,
    decode_document,
    is_inlined,
)
from forge.values.json.path import Member, format_path
from forge.values.json.text import format_json, quote

_NAMES: Final = {
    SMALL_OBJECT: "small object",
    LARGE_OBJECT: "large object",
    SMALL_ARRAY: "small array",
    LARGE_ARRAY: "large array",
    LITERAL: "literal",
    INT16: "int16",
    UINT16: "uint16",
    INT32: "int32",
    UINT32: "uint32",
    INT64: "int64",
    UINT64: "uint64",
    DOUBLE: "double",
    STRING: "string",
    OPAQUE: "opaque value",
}
_LONGEST: Final = 60


def explain_document(document: bytes, base: int = 0) -> list[Piece]:
    """The pieces of a document whose first byte is at ``base``.  Raises FormatError as decode_document does."""
    decode_document(document)
    if not document:
        return []
    pieces = [Piece(0, document[:1], f"document: {_NAMES[document[0]]}")]
    _value(document, document[0], 1, "$", pieces)
    pieces.sort()
    whole = []
    offset = 0
    for piece in [*pieces, Piece(len(document), b"", "")]:
        if piece.offset > offset:
            whole.append(Piece(base + offset, document[offset : piece.offset], "nothing refers to these bytes"))
        if piece.data:
            whole.append(piece._replace(offset=base + piece.offset))
        offset = piece.offset + len(piece.data)
    return whole


def _value(data: bytes, code: int, start: int, path: str, pieces: list[Piece]) -> None:
    """Adds the pieces of the value of type ``code`` at ``start``; the document is known to be sound."""
    if code <= LARGE_ARRAY:
        _container(data, code, start, path, pieces)
        return
    size = scalar_size(data, code, start)
    pieces.append(Piece(start, data[start : start + size], f"{path} = {_shown(data, code, start, size)}"))


def scalar_size(data: bytes | bytearray, code: int, start: int) -> int:
    """Bytes of a value that is no container and stands at ``start`` in a sound document."""
    if code in (STRING, OPAQUE):
        offset, length, shift = start + (code == OPAQUE), 0, 0
        while True:
            length |= (data[offset] & 0x7F) << shift
            shift += 7
            offset += 1
            if data[offset - 1] < 0x80:
                return offset + length - start
    return {LITERAL: 1, INT16: 2, UINT16: 2, INT32: 4, UINT32: 4}.get(code, 8)


def _shown(data: bytes, code: int, start: int, size: int) -> str:
    return _short(format_json(decode_document(bytes((code,)) + data[start : start + size])))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _container(data: bytes, code: int, base: int, path: str, pieces: list[Piece]) -> None:
    width = 4 if code in (LARGE_OBJECT, LARGE_ARRAY) else 2

    def number(offset: int) -> int:
        return int.from_bytes(data[offset : offset + width], "little")

    count, size = number(base), number(base + width)
    unit = "members" if code <= LARGE_OBJECT else "elements"
    pieces.append(Piece(base, data[base : base + width], f"{path}: {count} {unit}"))
    pieces.append(Piece(base + width, data[base + width : base + 2 * width], f"{path}: {size} bytes"))
    offset = base + 2 * width
    legs = [f"[{index}]" for index in range(count)]
    if code <= LARGE_OBJECT:
        for index in range(count):
            entry = offset + index * (width + 2)
            start, length = base + number(entry), int.from_bytes(data[entry + width : entry + width + 2], "little")
            name = data[start : start + length].decode()
            key, legs[index] = quote(name), format_path((Member(name),))[1:]
            pieces.append(Piece(entry, data[entry : entry + width], f"{path}: offset of key {_short(key)}"))
            pieces.append(Piece(entry + width, data[entry + width : entry + width + 2], f"its length {length}"))
            pieces.append(Piece(start, data[start : start + length], f"{path}: key {_short(key)}"))
        offset += count * (width + 2)
    for index in range(count):
        entry = offset + index * (1 + width)
        place = path + legs[index]
        pieces.append(Piece(entry, data[entry : entry + 1], f"{place}: {_NAMES[data[entry]]}"))
        field = data[entry + 1 : entry + 1 + width]
        if is_inlined(data[entry], width):
            shown = _shown(data, data[entry], entry + 1, scalar_size(data, data[entry], entry + 1))
            pieces.append(Piece(entry + 1, field, f"{place} = {shown}"))
        else:
            pieces.append(Piece(entry + 1, field, f"{place}: offset"))
            _value(data, data[entry], base + number(entry + 1), place, pieces)
