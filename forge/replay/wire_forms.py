"""What a conversion must know of a column as it travels: its family, its longest value, its words in an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.charsets import collation
from forge.values.base import Column
from forge.values.text.strings import unfolded_length
from forge.values.wire_types import WireType

#: What columns are converted among.
Group = Literal["integer", "float", "decimal", "string", "blob", "bit", "enum", "set", "time", "other"]

INTEGER_SIZES = {
    WireType.TINY: 1, WireType.SHORT: 2, WireType.INT24: 3, WireType.LONG: 4, WireType.LONGLONG: 8,
}  # fmt: skip
_INTEGER_NAMES = {1: "tinyint", 2: "smallint", 3: "mediumint", 4: "int", 8: "bigint"}
#: Display widths that MariaDB shows.
_WIDTHS = {1: 4, 2: 6, 3: 9, 4: 11, 8: 20}
#: Types with a precision, and those of before 5.6 that have none.
FRACTIONAL = {WireType.TIMESTAMP2: "timestamp", WireType.DATETIME2: "datetime", WireType.TIME2: "time"}
OLD_MOMENTS = {
    WireType.TIMESTAMP: WireType.TIMESTAMP2, WireType.DATETIME: WireType.DATETIME2, WireType.TIME: WireType.TIME2,
}  # fmt: skip
_NAMES = {
    WireType.FLOAT: "float", WireType.DOUBLE: "double", WireType.YEAR: "year", WireType.DATE: "date",
    WireType.NEWDATE: "date", WireType.JSON: "json", WireType.GEOMETRY: "geometry", WireType.VECTOR: "vector",
    WireType.TIMESTAMP: "timestamp", WireType.DATETIME: "datetime", WireType.TIME: "time",
}  # fmt: skip
_BLOB_NAMES = {1: "tiny", 2: "", 3: "medium", 4: "long"}


#: COMPRESSED columns of MariaDB, and what they are without it.
_COMPRESSED = {WireType.VARCHAR_COMPRESSED: WireType.VARCHAR, WireType.BLOB_COMPRESSED: WireType.BLOB}


def is_compressed(column: Column) -> bool:
    """Whether the column is COMPRESSED."""
    return column.type_code in _COMPRESSED


def uncompressed(column: Column) -> Column:
    """The column without COMPRESSED: a VARCHAR has a byte less."""
    if column.type_code == WireType.VARCHAR_COMPRESSED:
        length = int.from_bytes(column.metadata[:2], "little") - 1
        return replace(column, type_code=WireType.VARCHAR, metadata=length.to_bytes(2, "little"))
    return replace(column, type_code=_COMPRESSED.get(WireType(column.type_code), column.type_code))


def real_type(column: Column) -> int:
    """The type that servers compare: that of ENUM and SET stands in the metadata of STRING."""
    if column.type_code == WireType.STRING and column.metadata[:1] in (b"\xf7", b"\xf8"):
        return column.metadata[0]
    if column.type_code == WireType.VAR_STRING:
        return WireType.VARCHAR
    return column.type_code


def group(column: Column) -> Group:
    """The group of types that a column is converted in."""
    code = real_type(column)
    if code in INTEGER_SIZES:
        return "integer"
    if code in FRACTIONAL:
        return "time"
    groups: dict[int, Group] = {
        WireType.FLOAT: "float", WireType.DOUBLE: "float", WireType.NEWDECIMAL: "decimal", WireType.VARCHAR: "string",
        WireType.STRING: "string", WireType.BLOB: "blob", WireType.BIT: "bit", WireType.ENUM: "enum",
        WireType.SET: "set",
    }  # fmt: skip
    return groups.get(code, "other")


def longest(column: Column) -> int:
    """Bytes of the longest value of a string or BLOB."""
    if column.type_code == WireType.STRING:
        return unfolded_length(column.metadata)
    if column.type_code == WireType.BLOB:
        return int((1 << 8 * column.metadata[0]) - 1)
    return int.from_bytes(column.metadata[:2], "little")


def prefix_size(column: Column) -> int:
    """Bytes of the length in front of a string's or BLOB's cell."""
    if column.type_code == WireType.BLOB:
        return column.metadata[0]
    return 1 if longest(column) <= 255 else 2


def bit_length(column: Column) -> int:
    """Bits of a BIT column: its metadata has those beyond whole bytes, and the bytes."""
    return column.metadata[0] + 8 * column.metadata[1]


def source_words(column: Column, *, octets: bool) -> str:
    """The type of an event's column, as the error of a conversion says it (show_sql_type in sql/rpl_utility.cc)."""
    code, kind = real_type(column), group(column)
    unit = " octets" if octets else "(bytes)"
    if kind == "integer":
        return _INTEGER_NAMES[INTEGER_SIZES[WireType(code)]]
    if code == WireType.VARCHAR:
        return f"varchar({longest(column)}{unit})"
    if code == WireType.STRING:
        return f"char({longest(column)}{unit})"
    if kind == "blob":
        return f"{_BLOB_NAMES[column.metadata[0]]}blob"
    if kind == "decimal":
        precision, scale = column.metadata
        return f"decimal({precision},{scale})"
    if kind == "bit":
        return f"bit({bit_length(column)})"
    if kind in ("enum", "set"):
        return kind
    if kind == "time":
        digits = column.metadata[0]
        return FRACTIONAL[WireType(code)] + (f"({digits})" if digits else "")
    return _NAMES.get(WireType(code), f"type {code}")


def target_words(column: Column, *, octets: bool) -> str:
    """The type of the replica's column, as the error of a conversion says it (Field::sql_rpl_type)."""
    code, kind = real_type(column), group(column)
    sign = " unsigned" if column.unsigned else ""
    if kind == "integer":
        size = INTEGER_SIZES[WireType(code)]
        width = f"({_WIDTHS[size] - (bool(column.unsigned) and size < 8)})" if octets else ""
        return f"{_INTEGER_NAMES[size]}{width}{sign}"
    if code in (WireType.VARCHAR, WireType.STRING):
        charset = None if column.collation is None else collation(column.collation).charset
        if charset in (None, "binary"):
            name = "varbinary" if code == WireType.VARCHAR else "binary"
            return f"{name}({longest(column)})"
        name = "varchar" if code == WireType.VARCHAR else "char"
        if octets:
            return f"{name}({longest(column)} octets) character set {charset}"
        return f"{name}({longest(column)}(bytes) {charset})"
    if kind == "blob":
        is_text = column.collation is not None and collation(column.collation).charset != "binary"
        return f"{_BLOB_NAMES[column.metadata[0]]}{'text' if is_text else 'blob'}"
    return source_words(column, octets=octets) + (sign if kind in ("float", "decimal") else "")
