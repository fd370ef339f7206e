"""MySQL's binary JSON: the document of a JSON cell, a partial-update diff or a typed array <-> Python values.

A document is a type byte and a value.  Containers are

======================  =====================================================================
count, size             O bytes each; O = 2 in a small container, 4 in a large one
key entries             objects: count x { key offset O, key length 2 }
value entries           count x { type 1, offset or inlined value O }
keys, then values       where the offsets (counted from ``count``) say
======================  =====================================================================

Source: ``sql-common/json_binary.cc``; every rule below is recorded on MySQL 9.7.

=====================  =======================================================================
Python                 binary form
=====================  =======================================================================
None, True, False      literal
int                    as the server stores a number of JSON *text*: int16, int32 or int64,
                       the smallest that fits; from 2**32 on uint64 (its parser reports those
                       as unsigned even when they fit int64)
SqlInteger             the same number from an SQL expression: SIGNED or UNSIGNED, smallest class
float                  double
str                    utf8mb4 string
list, dict             array, object (keys are str)
Opaque                 a value of another column type
=====================  =======================================================================

Documents which an UPDATE patched in place hold stale bytes; decoding follows the offsets and forgets them, so a
cell's bytes, and not this model, are the lossless form of a JSON value.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from forge.errors import FormatError, ScenarioError
from forge.values.literals import shown
from forge.values.numeric.decimals import MAX_PRECISION, MAX_SCALE, packed_size

#: A Python value of the table above; recursive types are left to the docstring.
Json = Any

SMALL_OBJECT, LARGE_OBJECT, SMALL_ARRAY, LARGE_ARRAY = 0x00, 0x01, 0x02, 0x03
LITERAL, INT16, UINT16, INT32, UINT32, INT64, UINT64 = 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A
DOUBLE, STRING, OPAQUE = 0x0B, 0x0C, 0x0F

#: Containers nested deeper are refused by the server's parser and by its reader.
MAX_DEPTH: Final = 100
#: Bytes of an object's key.
MAX_KEY_LENGTH: Final = 0xFFFF
_SMALL_MAX: Final = 0xFFFF
_LARGE_MAX: Final = 0xFFFFFFFF

_LITERALS: Final[tuple[bool | None, ...]] = (None, True, False)
_INTEGERS: Final = {
    INT16: struct.Struct("<h"),
    UINT16: struct.Struct("<H"),
    INT32: struct.Struct("<i"),
    UINT32: struct.Struct("<I"),
    INT64: struct.Struct("<q"),
    UINT64: struct.Struct("<Q"),
}
_DOUBLE: Final = struct.Struct("<d")
#: Types whose values stand in their entries, by the width of offsets.
_INLINED: Final = {
    2: frozenset((LITERAL, INT16, UINT16)),
    4: frozenset((LITERAL, INT16, UINT16, INT32, UINT32)),
}


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of an SQL type that JSON lacks: its column type code and its bytes."""

    field_type: int
    data: bytes


@dataclass(frozen=True, slots=True)
class SqlInteger:
    """An integer whose signedness an SQL expression gave: ``CAST(5 AS UNSIGNED)`` is stored as uint16."""

    value: int
    unsigned: bool


def encode_document(value: Json) -> bytes:
    """The document that the server writes for ``value`` (no length prefix).

    Raises ScenarioError: depth above 100, a key above 65535 bytes, a container above 4 GiB, a number that is not
    finite or an integer outside 64 bits, a string with a lone surrogate, or an object of another Python type.
    """
    type_code, body = _encode(value, 0)
    return bytes((type_code,)) + body


def encode_varlen(length: int) -> bytes:
    """A length as 7-bit groups, least significant first, high bit set on all but the last."""
    groups = bytearray()
    while length > 0x7F:
        groups.append(length & 0x7F | 0x80)
        length >>= 7
    groups.append(length)
    return bytes(groups)


def _encode(value: Json, depth: int) -> tuple[int, bytes]:
    """Type byte and bytes of one value; of literals and integers the bytes are the value itself."""
    if value is None or value is True or value is False:
        return LITERAL, bytes((_LITERALS.index(value),))
    if isinstance(value, int):
        return _encode_integer(value, unsigned=value > 0xFFFFFFFF)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ScenarioError(f"JSON has no number {value!r}")
        return DOUBLE, _DOUBLE.pack(value)
    if isinstance(value, str):
        data = _utf8(value)
        return STRING, encode_varlen(len(data)) + data
    if isinstance(value, dict | list | tuple):
        if depth >= MAX_DEPTH:
            raise ScenarioError(f"the JSON document is nested deeper than {MAX_DEPTH} levels")
        return _encode_object(value, depth + 1) if isinstance(value, dict) else _encode_array(value, depth + 1)
    if isinstance(value, SqlInteger):
        return _encode_integer(value.value, value.unsigned)
    if isinstance(value, Opaque):
        if not 0 <= value.field_type <= 0xFF:
            raise ScenarioError(f"{value.field_type} is not a column type code")
        return OPAQUE, bytes((value.field_type,)) + encode_varlen(len(value.data)) + value.data
    raise ScenarioError(f"JSON cannot hold a Python {type(value).__name__}", expected=_EXPECTED)


_EXPECTED: Final = "None, bool, int, float, str, list, dict, SqlInteger or Opaque"


def _encode_integer(number: int, unsigned: bool) -> tuple[int, bytes]:
    for code in (UINT16, UINT32, UINT64) if unsigned else (INT16, INT32, INT64):
        try:
            return code, _INTEGERS[code].pack(number)
        except struct.error:
            continue
    kind = "an unsigned" if unsigned else "a signed"
    raise ScenarioError(f"{number} does not fit {kind} 64-bit integer")


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ScenarioError(f"a JSON string holds half a surrogate pair, {text[error.start]!r}") from None


def _encode_object(members: Mapping[Any, Json], depth: int) -> tuple[int, bytes]:
    keys: dict[bytes, Json] = {}
    for name, value in members.items():
        if not isinstance(name, str):
            raise ScenarioError(f"a key of a JSON object must be a string, not {shown(name)}")
        key = _utf8(name)
        if len(key) > MAX_KEY_LENGTH:
            raise ScenarioError(f"a key of a JSON object has at most {MAX_KEY_LENGTH} bytes, not {len(key)}")
        keys[key] = value
    # Lookups are binary searches that compare lengths before bytes.
    order = sorted(keys, key=lambda key: (len(key), key))
    return _encode_container(SMALL_OBJECT, order, [_encode(keys[key], depth) for key in order])


def _encode_array(elements: list[Json] | tuple[Json, ...], depth: int) -> tuple[int, bytes]:
    return _encode_container(SMALL_ARRAY, None, [_encode(element, depth) for element in elements])


def _encode_container(small: int, keys: list[bytes] | None, values: list[tuple[int, bytes]]) -> tuple[int, bytes]:
    # A small container cannot refer to a large one: one large leaf makes every ancestor large.
    if not {LARGE_OBJECT, LARGE_ARRAY}.intersection([code for code, _ in values]):
        body = _lay_out(keys, values, width=2, limit=_SMALL_MAX)
        if body is not None:
            return small, body
    body = _lay_out(keys, values, width=4, limit=_LARGE_MAX)
    if body is None:
        raise ScenarioError("a JSON container has at most 4294967295 bytes")
    return small + 1, body


def is_inlined(code: int, width: int) -> bool:
    """Whether a value of this type stands in its entry; ``width`` is 2 in small containers, 4 in large ones."""
    return code in _INLINED[width]


def _lay_out(keys: list[bytes] | None, values: list[tuple[int, bytes]], width: int, limit: int) -> bytes | None:
    """The bytes from ``count`` on, or None if a count, an offset or the size passes ``limit``."""
    count, inlined = len(values), _INLINED[width]
    offset = 2 * width + count * (1 + width) + (count * (width + 2) if keys is not None else 0)
    head: list[bytes] = []
    tail: list[bytes] = []
    try:
        for key in keys or ():
            head.append(offset.to_bytes(width, "little") + len(key).to_bytes(2, "little"))
            tail.append(key)
            offset += len(key)
        for code, data in values:
            if code in inlined:
                sign = b"\xff" if code in (INT16, INT32) and data[-1] & 0x80 else b"\x00"
                head.append(bytes((code,)) + data + sign * (width - len(data)))
            else:
                head.append(bytes((code,)) + offset.to_bytes(width, "little"))
                tail.append(data)
                offset += len(data)
    except OverflowError:
        return None
    if offset > limit:  # what is now the size; every offset and the count are below it
        return None
    return b"".join((count.to_bytes(width, "little"), offset.to_bytes(width, "little"), *head, *tail))


def decode_document(document: bytes) -> Json:
    """The value of a document; no bytes at all are JSON null, as the server reads them.

    Raises FormatError (phase "value", offset within the document).  Refused are documents that the server's own
    reader refuses, and more: parts that overlap, a value that lies outside its container, invalid UTF-8, equal
    keys, bytes behind the document.  Work is bounded by the document's size and recursion by 100 levels.
    """
    if not document:
        return None
    value, end = _decode(document, document[0], 1, len(document), 0)
    if end != len(document):
        raise _wrong(f"{len(document) - end} bytes follow the JSON document", end)
    return value


def _wrong(rule: str, offset: int) -> FormatError:
    return FormatError(rule, phase="value", offset=offset)


def _decode(data: bytes, code: int, offset: int, end: int, depth: int) -> tuple[Json, int]:
    """The value of type ``code`` at ``offset`` and the offset behind it, which never passes ``end``."""
    if code <= LARGE_ARRAY:
        return _decode_container(data, code, offset, end, depth + 1)
    if code == STRING:
        start, stop = varlen_span(data, offset, end)
        return _text(data, start, stop), stop
    if code in _INTEGERS:
        packing = _INTEGERS[code]
        if offset + packing.size > end:
            raise _wrong("a JSON integer passes the end of its room", offset)
        number: int = packing.unpack_from(data, offset)[0]
        return _integer(number, code in (UINT16, UINT32, UINT64)), offset + packing.size
    if code == LITERAL:
        if offset >= end or data[offset] > 2:
            raise _wrong("a JSON literal is 0 (null), 1 (true) or 2 (false)", offset)
        return _LITERALS[data[offset]], offset + 1
    if code == DOUBLE:
        if offset + 8 > end:
            raise _wrong("a JSON double passes the end of its room", offset)
        double: float = _DOUBLE.unpack_from(data, offset)[0]
        if not math.isfinite(double):
            raise _wrong("a JSON double is finite", offset)
        return double, offset + 8
    if code == OPAQUE:
        if offset >= end:
            raise _wrong("an opaque JSON value passes the end of its room", offset)
        start, stop = varlen_span(data, offset + 1, end)
        opaque = Opaque(data[offset], bytes(data[start:stop]))
        try:
            check_opaque(opaque)
        except FormatError as error:
            raise error.within(base=start) from None
        return opaque, stop
    raise _wrong(f"0x{code:02x} is not a type of a JSON value", offset)


#: Opaque types whose data have a form: TIMESTAMP, DATE, TIME, DATETIME; DECIMAL.
_TEMPORAL, _DECIMAL = (7, 10, 11, 12), 246


def check_opaque(value: Opaque) -> None:
    """Raises FormatError (offset within the data) for data that are not what the type demands."""
    data = value.data
    if value.field_type in _TEMPORAL and len(data) != 8:
        raise _wrong(f"an opaque temporal value has 8 bytes, not {len(data)}", 0)
    if value.field_type == _DECIMAL:
        if len(data) < 2:
            raise _wrong("an opaque DECIMAL has a precision and a scale", 0)
        precision, scale = data[0], data[1]
        if not (1 <= precision <= MAX_PRECISION and scale <= min(precision, MAX_SCALE)):
            raise _wrong(f"no DECIMAL has the precision {precision} and the scale {scale}", 0)
        if len(data) - 2 != packed_size(precision, scale):
            raise _wrong(f"{len(data) - 2} bytes are not a DECIMAL({precision},{scale})", 2)


def _integer(number: int, unsigned: bool) -> int | SqlInteger:
    return number if unsigned == (number > 0xFFFFFFFF) else SqlInteger(number, unsigned)


def varlen_span(data: bytes, offset: int, end: int) -> tuple[int, int]:
    """Start and end of the bytes whose variable length is at ``offset``."""
    if offset < end and data[offset] < 0x80 and data[offset] < end - offset:
        return offset + 1, offset + 1 + data[offset]
    length = 0
    for group in range(5):
        if offset + group >= end:
            raise _wrong("the length of a JSON value passes the end of its room", offset)
        byte = data[offset + group]
        length |= (byte & 0x7F) << (7 * group)
        if byte < 0x80:
            start = offset + group + 1
            if length > end - start:
                raise _wrong(f"a JSON value of {length} bytes passes the end of its room", offset)
            return start, start + length
    raise _wrong("the length of a JSON value takes more than 5 bytes", offset)


def _text(data: bytes, start: int, stop: int) -> str:
    try:
        return str(data[start:stop], "utf-8")
    except UnicodeDecodeError as error:
        raise _wrong("a JSON string is valid utf8mb4", start + error.start) from None


def _decode_container(data: bytes, code: int, base: int, end: int, depth: int) -> tuple[Json, int]:
    if depth > MAX_DEPTH:
        raise _wrong(f"the JSON document is nested deeper than {MAX_DEPTH} levels", base)
    width = 4 if code in (LARGE_OBJECT, LARGE_ARRAY) else 2
    if base + 2 * width > end:
        raise _wrong("the head of a JSON container passes its end", base)
    count = int.from_bytes(data[base : base + width], "little")
    size = int.from_bytes(data[base + width : base + 2 * width], "little")
    if size > end - base:
        raise _wrong(f"a JSON container of {size} bytes passes the end of the one around it", base)
    is_object = code in (SMALL_OBJECT, LARGE_OBJECT)
    first_value = base + 2 * width + (count * (width + 2) if is_object else 0)
    heap = first_value + count * (1 + width)
    stop = base + size
    if heap > stop:
        raise _wrong(f"{count} entries pass the end of a JSON container of {size} bytes", base)
    spans = _key_spans(data, base + 2 * width, width, first_value, heap, stop, base) if is_object else []
    parts = [span for span in spans if span[0] != span[1]]
    starts = {}
    inlined = _INLINED[width]
    for entry in range(first_value, heap, 1 + width):
        if data[entry] not in inlined:
            start = base + int.from_bytes(data[entry + 1 : entry + 1 + width], "little")
            if not heap <= start < stop:
                raise _wrong("a JSON value lies outside its container", entry)
            starts[entry] = start
            parts.append((start, start + 1))
    rooms = _rooms(parts, stop)
    values = []
    for entry in range(first_value, heap, 1 + width):
        if width == 2 and data[entry] in (LARGE_OBJECT, LARGE_ARRAY):
            raise _wrong("a small JSON container holds a large one", entry)
        start = starts.get(entry, entry + 1)
        room = rooms[start] if entry in starts else entry + 1 + width
        values.append(_decode(data, data[entry], start, room, depth)[0])
    if not is_object:
        return values, stop
    members = {_text(data, *span): value for span, value in zip(spans, values, strict=True)}
    if len(members) != count:
        raise _wrong("a JSON object has two equal keys", base)
    return members, stop


def _key_spans(
    data: bytes, entries: int, width: int, entries_end: int, heap: int, stop: int, base: int
) -> list[tuple[int, int]]:
    """Start and end of the keys of an object."""
    spans = []
    for entry in range(entries, entries_end, width + 2):
        start = base + int.from_bytes(data[entry : entry + width], "little")
        behind = start + int.from_bytes(data[entry + width : entry + width + 2], "little")
        if start < heap or behind > stop:
            raise _wrong("a key lies outside its JSON object", entry)
        spans.append((start, behind))
    return spans


def _rooms(parts: list[tuple[int, int]], stop: int) -> dict[int, int]:
    """Where the room of each part of a container ends: at the next part.

    Parts that share bytes would let a short document stand for an exponentially large value, so this is known
    before any of them is decoded.
    """
    parts.sort()
    rooms = {}
    following = [start for start, _ in parts[1:]] + [stop]
    for (start, behind), room in zip(parts, following, strict=False):
        if behind > room:
            raise _wrong("two parts of a JSON container overlap", start)
        rooms[start] = room
    return rooms
