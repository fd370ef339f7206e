"""The text of a JSON document as a server lays one out anew: keys and values one behind the other, in their order.

What is laid out otherwise, large, or wrong is left to :func:`forge.values.json.binary.decode_document`, which also
says what is wrong; the text is the same.
"""

from __future__ import annotations

import math
import struct
from typing import Final

from forge.values.json.binary import (
    DOUBLE,
    INT16,
    INT32,
    INT64,
    LITERAL,
    MAX_DEPTH,
    SMALL_ARRAY,
    SMALL_OBJECT,
    STRING,
    UINT16,
    UINT32,
    UINT64,
    decode_document,
    varlen_span,
)
from forge.values.json.text import format_double, format_json, quote
from forge.values.quick import UNUSUAL, UnusualError

_WORDS: Final = ("null", "true", "false")
_NUMBERS: Final = {
    code: struct.Struct(f"<{letter}")
    for code, letter in ((INT16, "h"), (UINT16, "H"), (INT32, "i"), (UINT32, "I"), (INT64, "q"), (UINT64, "Q"))
}
_TWO: Final = struct.Struct("<HH")
_DOUBLE: Final = struct.Struct("<d")


def document_text(document: bytes) -> str:
    """What ``SELECT`` prints of a document.  Raises FormatError for one that the server could not print either."""
    try:
        if document:
            text, end = _value(document, document[0], 1, len(document), 0)
            if end == len(document):
                return text
    except UNUSUAL:
        pass
    return format_json(decode_document(document))


def _value(data: bytes, code: int, at: int, end: int, depth: int) -> tuple[str, int]:
    """The text of a value that begins there, and the place behind it.  Raises one of UNUSUAL."""
    if code == STRING:
        begin, behind = varlen_span(data, at, end)
        return quote(str(data[begin:behind], "utf-8")), behind
    if code in (SMALL_OBJECT, SMALL_ARRAY):
        return _container(data, code == SMALL_OBJECT, at, end, depth + 1)
    if code == LITERAL:
        text, size = _WORDS[data[at]], 1
    elif code == DOUBLE:
        value, size = _DOUBLE.unpack_from(data, at)[0], 8
        if not math.isfinite(value):
            raise UnusualError
        text = format_double(value)
    else:
        number = _NUMBERS[code]
        text, size = str(number.unpack_from(data, at)[0]), number.size
    if at + size > end:
        raise UnusualError
    return text, at + size


def _container(data: bytes, is_object: bool, base: int, end: int, depth: int) -> tuple[str, int]:
    count, size = _TWO.unpack_from(data, base)
    first = base + 4 + (4 * count if is_object else 0)
    at, stop = first + 3 * count, base + size
    if at > stop or stop > end or depth > MAX_DEPTH:
        raise UnusualError
    keys = []
    if is_object:
        for offset, length in _TWO.iter_unpack(data[base + 4 : first]):
            if base + offset != at:
                raise UnusualError
            at += length
            keys.append(quote(str(data[at - length : at], "utf-8")))
        if at > stop or len(set(keys)) != count:
            raise UnusualError
    values = []
    for entry in range(first, first + 3 * count, 3):
        code = data[entry]
        if code in (LITERAL, INT16, UINT16):
            values.append(_value(data, code, entry + 1, entry + 3, depth)[0])
            continue
        if base + data[entry + 1] + (data[entry + 2] << 8) != at:
            raise UnusualError
        text, at = _value(data, code, at, stop, depth)
        values.append(text)
    if at != stop:
        raise UnusualError
    if is_object:
        return "{" + ", ".join([f"{key}: {value}" for key, value in zip(keys, values, strict=True)]) + "}", stop
    return f"[{', '.join(values)}]", stop
