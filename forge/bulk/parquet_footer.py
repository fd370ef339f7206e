"""The end of a Parquet file (its *footer*), joined from the footers of files that each hold a row group of it.

PyArrow encodes a file on one thread.  So each row group is made as a file of its own, on any thread, and their bodies
are put one behind another.  The footer says where each part of a body stands now: it is a struct ``FileMetaData`` of
parquet-format (``parquet.thrift``) in Thrift's compact protocol (``thrift-compact-protocol.md``).  All that is no place
is copied as it is, and what is read here was just written by PyArrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

#: What a Parquet file begins and ends with.
MAGIC: Final = b"PAR1"

#: Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(1, 14)
_FIXED: Final = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}

#: Fields by their numbers in parquet.thrift: of FileMetaData, of RowGroup, of ColumnChunk, of ColumnMetaData.
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _ORDINAL = 1, 7
_META_DATA = 3
_PLACES_OF_GROUP: Final = frozenset({5})
_PLACES_OF_CHUNK: Final = frozenset({2, 4, 6})
_PLACES_OF_COLUMN: Final = frozenset({9, 10, 11, 14})
#: ``ordinal`` is an i16, and may be left out.
_MOST_ORDINALS: Final = 1 << 15

#: Number, type and bytes of a field's value.
_Field = tuple[int, int, bytes]


@dataclass(slots=True)
class Footer:
    """Grows by one file at a time; ``_fields`` are those of the first one."""

    _fields: list[_Field] = field(default_factory=list)
    _groups: list[bytes] = field(default_factory=list)
    _rows: int = 0

    def add(self, part: memoryview, position: int) -> memoryview:
        """Take the row groups of the Parquet file ``part``; its body is returned, which goes to ``position``."""
        end = len(part) - 8 - int.from_bytes(part[-8:-4], "little")
        fields = _fields(bytes(part[end:-8]))
        moved = position - len(MAGIC)
        for number, _, value in fields:
            if number == _NUM_ROWS:
                self._rows += _unzigzag(_uvarint(value, 0)[0])
            elif number == _ROW_GROUPS:
                self._groups += [_moved_group(group, moved, len(self._groups)) for group in _elements(value)]
        self._fields = self._fields or fields
        return part[len(MAGIC) : end]

    def to_bytes(self) -> bytes:
        """What follows the bodies: footer, its size, and the mark of the end."""
        rows, groups = _svarint(self._rows), _list_of_structs(self._groups)
        replaced = {_NUM_ROWS: rows, _ROW_GROUPS: groups}
        footer = _struct((number, kind, replaced.get(number, value)) for number, kind, value in self._fields)
        return footer + len(footer).to_bytes(4, "little") + MAGIC


def _moved_group(group: bytes, moved: int, ordinal: int) -> bytes:
    def column(value: bytes) -> bytes:
        return _moved(value, moved, _PLACES_OF_COLUMN, {})

    def chunks(value: bytes) -> bytes:
        inner = {_META_DATA: column}
        return _list_of_structs([_moved(chunk, moved, _PLACES_OF_CHUNK, inner) for chunk in _elements(value)])

    changed = _moved(group, moved, _PLACES_OF_GROUP, {_COLUMNS: chunks, _ORDINAL: lambda _: _svarint(ordinal)})
    if ordinal < _MOST_ORDINALS:
        return changed
    return _struct(each for each in _fields(changed) if each[0] != _ORDINAL)


def _moved(data: bytes, moved: int, places: frozenset[int], inner: Mapping[int, Callable[[bytes], bytes]]) -> bytes:
    """A struct whose ``places`` are so many bytes further on; a place of 0 is none (``ColumnChunk.file_offset``)."""
    fields = []
    for number, kind, value in _fields(data):
        if number in places:
            place = _unzigzag(_uvarint(value, 0)[0])
            fields.append((number, kind, _svarint(place + moved if place else 0)))
        else:
            fields.append((number, kind, inner[number](value) if number in inner else value))
    return _struct(fields)


# Thrift's compact protocol.


def _fields(data: bytes) -> list[_Field]:
    """The fields of the struct that ``data`` begins with."""
    return [(number, kind, data[at:end]) for number, kind, at, end in _spans(data, 0)]


def _spans(data: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            short, at = _uvarint(data, at)
            number = _unzigzag(short)
        end = _end(data, at, head & 15)
        yield number, head & 15, at, end
        at = end


def _end(data: bytes, at: int, kind: int) -> int:
    """Where a value ends that begins at ``at``."""
    if kind in _FIXED:
        return at + _FIXED[kind]
    if kind == _STRUCT:
        return max((end for *_, end in _spans(data, at)), default=at) + 1
    if kind in {_LIST, _SET}:
        count, element, at = _list_head(data, at)
        for _ in range(count):
            at = _end_of_element(data, at, element)
        return at
    if kind == _MAP:
        return _end_of_map(data, at)
    value, at = _uvarint(data, at)
    return at + value if kind == _BINARY else at


def _end_of_element(data: bytes, at: int, kind: int) -> int:
    """As a value of a field, but that a bool has a byte."""
    return at + 1 if kind in {_TRUE, _FALSE} else _end(data, at, kind)


def _end_of_map(data: bytes, at: int) -> int:
    count, at = _uvarint(data, at)
    if not count:
        return at
    kinds = data[at] >> 4, data[at] & 15
    at += 1
    for _ in range(count):
        for kind in kinds:
            at = _end_of_element(data, at, kind)
    return at


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """How many elements, of which type, and where the first one begins."""
    head = data[at]
    count, at = (head >> 4, at + 1) if head >> 4 < 15 else _uvarint(data, at + 1)
    return count, head & 15, at


def _elements(data: bytes) -> Iterator[bytes]:
    count, kind, at = _list_head(data, 0)
    for _ in range(count):
        end = _end_of_element(data, at, kind)
        yield data[at:end]
        at = end


def _struct(fields: Iterator[_Field] | list[_Field]) -> bytes:
    out, before = bytearray(), 0
    for number, kind, value in fields:
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            out += _svarint(number)
        out += value
        before = number
    out.append(0)
    return bytes(out)


def _list_of_structs(elements: list[bytes]) -> bytes:
    count = len(elements)
    head = bytes([count << 4 | _STRUCT]) if count < 15 else bytes([0xF0 | _STRUCT]) + _to_uvarint(count)
    return head + b"".join(elements)


def _uvarint(data: bytes, at: int) -> tuple[int, int]:
    """(value, where it ends): seven bits a byte, the least first."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _to_uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _unzigzag(value: int) -> int:
    return value >> 1 ^ -(value & 1)


def _svarint(value: int) -> bytes:
    return _to_uvarint(value << 1 if value >= 0 else ~value << 1 | 1)
