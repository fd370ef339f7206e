"""What a cell looks like in the vendors' pseudo-SQL, quirks included: the text of its value, and the comment behind it.

Printers write these forms, and what reads the programs' text holds it against them.  Recorded on mysqlbinlog 9.7.4 and
mariadb-binlog of 10.11.19 and 11.8.9 (corpora/recordings/metadata).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache

from forge.decode.cells import Cell, unprefixed
from forge.events.column_kinds import is_enum, is_set
from forge.events.plain import to_bytes, to_text
from forge.values.base import Column
from forge.values.wire_types import WireType
from forge.vendors.quoting import escape, escape_control

#: The bytes of a cell, as they are in the row, to its text.
ValueForm = Callable[[bytes], bytes]

_INTEGERS: dict[int, str] = {
    WireType.TINY: "TINYINT", WireType.SHORT: "SHORTINT", WireType.INT24: "MEDIUMINT", WireType.LONG: "INT",
    WireType.LONGLONG: "LONGINT",
}  # fmt: skip
_PLAIN: dict[int, str] = _INTEGERS | {
    WireType.YEAR: "YEAR", WireType.DATE: "DATE", WireType.NEWDATE: "DATE", WireType.TIME: "TIME",
    WireType.DATETIME: "DATETIME", WireType.TIMESTAMP: "TIMESTAMP",
}  # fmt: skip
_WITH_DIGITS: dict[int, str] = {
    WireType.TIME2: "TIME", WireType.DATETIME2: "DATETIME", WireType.TIMESTAMP2: "TIMESTAMP",
}  # fmt: skip
_BY_SIZE: dict[int, str] = {
    WireType.FLOAT: "FLOAT", WireType.DOUBLE: "DOUBLE", WireType.JSON: "JSON", WireType.GEOMETRY: "GEOMETRY",
}  # fmt: skip
_BLOBS = {
    1: "TINYBLOB/TINYTEXT", 2: "BLOB/TEXT", 3: "MEDIUMBLOB/MEDIUMTEXT", 4: "LONGBLOB/LONGTEXT",
}  # fmt: skip
_TIMES = frozenset((WireType.TIME, WireType.DATETIME, WireType.TIME2, WireType.DATETIME2))
_STRINGS = frozenset((WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.BLOB))
_COMPRESSED = frozenset((WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED))
COUNTING = "mariadb, counting"
#: Types whose cells end the rows of an event, by family.
_UNKNOWN = {
    "mysql": frozenset((WireType.GEOMETRY, *_COMPRESSED)),
    "mariadb": frozenset((WireType.JSON, WireType.VECTOR)),
    # Where mariadb-binlog counts rows and does not print them.
    COUNTING: frozenset((WireType.JSON, WireType.VECTOR, WireType.GEOMETRY, *_COMPRESSED)),
}
#: Bytes of length in front of a JSON document and of a VECTOR.
_PREFIX = 4


def is_printed(column: Column, family: str) -> bool:
    """Whether the programs of ``family`` print cells of such a column."""
    return column.type_code not in _UNKNOWN[family] and type_form(column) is not None


@lru_cache(maxsize=1024)
def type_form(column: Column) -> tuple[str, int] | None:
    """The name of the type in the comment, and its ``meta``; None for a type that no program knows."""
    code, metadata = column.type_code, column.metadata
    if code in _PLAIN:
        return _PLAIN[code], 0
    if code in _WITH_DIGITS:
        return f"{_WITH_DIGITS[code]}({metadata[0]})", metadata[0]
    if code in _BY_SIZE:
        return _BY_SIZE[code], metadata[0]
    if code == WireType.VECTOR:
        return f"VECTOR({column.dimensions or 0})", metadata[0]
    if code == WireType.NEWDECIMAL:
        return f"DECIMAL({metadata[0]},{metadata[1]})", metadata[0] << 8 | metadata[1]
    if code == WireType.BIT:
        return f"BIT({_bit_count(column)})", metadata[1] << 8 | metadata[0]
    if code in (WireType.BLOB, WireType.BLOB_COMPRESSED):
        name = _BLOBS.get(metadata[0])
        compressed = " COMPRESSED" * (code == WireType.BLOB_COMPRESSED)
        return None if name is None else (name + compressed, metadata[0])
    if code in (WireType.VARCHAR, WireType.VAR_STRING, WireType.VARCHAR_COMPRESSED):
        length = int.from_bytes(metadata[:2], "little")
        return f"VARSTRING({length})" + " COMPRESSED" * (code == WireType.VARCHAR_COMPRESSED), length
    if code == WireType.STRING:
        return _string_form(column), metadata[0] << 8 | metadata[1]
    return None


def _string_form(column: Column) -> str:
    first, second = column.metadata[:2]
    if is_enum(column):
        return f"ENUM({second} byte{'s' if second == 2 else ''})"
    if is_set(column):
        return f"SET({second} bytes)"
    return f"STRING({second | ((first & 0x30) ^ 0x30) << 4})"


@lru_cache(maxsize=1024)
def value_form(column: Column, family: str) -> ValueForm:
    """The text of the cells of a column that are not NULL, nor partial updates."""
    code = column.type_code
    if code in _INTEGERS:
        return _integer
    if code == WireType.FLOAT:
        return lambda raw: b"%-20s" % (b"%g" % struct.unpack("<f", raw)[0])
    if code == WireType.DOUBLE:
        return lambda raw: b"%.20g" % struct.unpack("<d", raw)[0]
    if code == WireType.YEAR:
        return lambda raw: b"%d" % (1900 + raw[0])
    if code == WireType.BIT:
        return lambda raw: _bits(column, raw)
    if code == WireType.TIMESTAMP:
        return lambda raw: b"%d" % int.from_bytes(raw, "little", signed=True)
    if code == WireType.TIMESTAMP2:
        return lambda raw: _seconds(column.metadata[0], raw)
    if code in (WireType.DATE, WireType.NEWDATE):
        return lambda raw: _quoted(_text(column, raw).replace(b"-", b":"))
    if code in _TIMES:
        return lambda raw: _quoted(_text(column, raw))
    if is_enum(column):
        return lambda raw: b"%d" % int.from_bytes(raw, "little")
    if is_set(column):
        return lambda raw: b"b'" + b"".join(b"%s" % f"{byte:08b}".encode() for byte in raw) + b"'"
    if code in _STRINGS or code in _COMPRESSED or code == WireType.GEOMETRY:
        quoted = escape if family == "mysql" else escape_control
        return lambda raw: b"'" + quoted(unprefixed(column, raw)) + b"'"
    if code == WireType.VECTOR:
        return _vector
    if code == WireType.JSON:
        return lambda raw: _quoted(escape(_json(column, raw)))
    return lambda raw: _text(column, raw)


def right_form(column: Column, family: str) -> ValueForm:
    """As :func:`value_form`, without a defect: the programs show the seconds of an old TIMESTAMP with a sign."""
    if column.type_code == WireType.TIMESTAMP:
        return lambda raw: b"%d" % int.from_bytes(raw, "little")
    return value_form(column, family)


def partial_form(cell: Cell, line_break: str = "\n###      ") -> bytes:
    """The call of JSON functions that stands for a partial update."""
    from forge.values.json.diff import format_diffs

    def quoted(text: str) -> str:
        return f"'{to_text(escape(to_bytes(text)))}'"

    return to_bytes(format_diffs(cell.diffs(), f"@{cell.number}", line_break, quoted))


def _quoted(text: bytes) -> bytes:
    return b"'" + text + b"'"


def _text(column: Column, raw: bytes) -> bytes:
    return to_bytes(str(Cell(1, column, raw).text()))


def _integer(raw: bytes) -> bytes:
    signed = int.from_bytes(raw, "little", signed=True)
    return b"%d" % signed if signed >= 0 else b"%d (%d)" % (signed, int.from_bytes(raw, "little"))


def _bit_count(column: Column) -> int:
    return 8 * column.metadata[1] + column.metadata[0]


def _bits(column: Column, raw: bytes) -> bytes:
    count = _bit_count(column)
    value = int.from_bytes(raw, "big") & ((1 << count) - 1)
    return f"b'{value:0{count}b}'".encode()


def _seconds(digits: int, raw: bytes) -> bytes:
    seconds, fraction = int.from_bytes(raw[:4], "big"), int.from_bytes(raw[4:], "big")
    if not digits:
        return b"%d" % seconds
    return b"%d.%s" % (seconds, f"{fraction:0{2 * len(raw[4:])}d}"[:digits].encode())


def _vector(raw: bytes) -> bytes:
    return b"[" + b",".join(b"%.5e" % element for (element,) in struct.iter_unpack("<f", raw[_PREFIX:])) + b"]"


def _json(column: Column, raw: bytes) -> bytes:
    """The document's text; what is a string at the top is shown without its quotes and escapes."""
    from forge.values.json.binary import Opaque, decode_document
    from forge.values.json.opaque import opaque_text

    cell = Cell(1, column, raw)
    document = decode_document(cell.value())
    if isinstance(document, Opaque):
        return to_bytes(opaque_text(document)[0])
    return to_bytes(document if isinstance(document, str) else str(cell.text()))
