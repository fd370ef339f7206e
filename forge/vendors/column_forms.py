"""How the vendors' programs describe columns with ``--print-table-metadata`` (log_event.cc,
Table_map_log_event::print_columns; recorded on mysqlbinlog 9.7.4).

``[`name` ]TYPE[ UNSIGNED][ NOT NULL][(members)][ CHARSET x COLLATE y][ INVISIBLE][ AUTO_INCREMENT]``
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.charsets import Collation, charset, collation
from forge.decode.cells import MappedTable
from forge.errors import ScenarioError
from forge.events.column_kinds import is_character, is_enum, is_numeric, is_set
from forge.events.plain import to_text
from forge.values.base import Column
from forge.values.wire_types import WireType

#: Whose reader it is, as far as the collations that it knows go.
Flavour = Literal["mysql", "mariadb-10.11", "mariadb-11.8"]

_GENERATED_KEY = 0x0004
_PLAIN: dict[int, str] = {
    WireType.TINY: "TINYINT", WireType.SHORT: "SMALLINT", WireType.INT24: "MEDIUMINT", WireType.LONG: "INT",
    WireType.LONGLONG: "BIGINT", WireType.FLOAT: "FLOAT", WireType.DOUBLE: "DOUBLE", WireType.YEAR: "YEAR",
    WireType.DATE: "DATE", WireType.NEWDATE: "DATE", WireType.TIME: "TIME", WireType.DATETIME: "DATETIME",
    WireType.TIMESTAMP: "TIMESTAMP", WireType.JSON: "JSON",
}  # fmt: skip
_FRACTIONAL: dict[int, str] = {
    WireType.TIMESTAMP2: "TIMESTAMP",
    WireType.DATETIME2: "DATETIME",
    WireType.TIME2: "TIME",
}
_BLOBS = {1: "TINY", 2: "", 3: "MEDIUM", 4: "LONG"}
_GEOMETRIES = (
    "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMCOLLECTION",
)  # fmt: skip
_COLLECTION = 7
_MYSQL_ONLY = frozenset((WireType.VECTOR, WireType.JSON))
_MARIADB_ONLY = frozenset((WireType.BLOB_COMPRESSED, WireType.VARCHAR_COMPRESSED))
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\\": "\\\\", "\b": "\\b", "\t": "\\t", "'": "\\'", "\0": "\\0"}


def column_texts(mapped: MappedTable, flavour: Flavour) -> tuple[str | None, ...] | None:
    """The right description of every column, None for one that cannot be told; None for a table with unknown types.

    MariaDB does not double the backticks of a name, which printers copy.
    """
    if mapped.columns is None or any(_unknown(column, flavour) for column in mapped.columns):
        return None
    columns = mapped.columns
    if flavour != "mysql":
        columns = tuple(
            column if column.name is None else replace(column, name=column.name.replace("`", "``"))
            for column in columns
        )
    return tuple(column_text(mapped, index, column, flavour) for index, column in enumerate(columns))


def column_text(mapped: MappedTable, index: int, column: Column, flavour: Flavour) -> str | None:
    """The description of a column of the table; None if it cannot be told."""
    # The key that a server generates is known by the table's flag, even where columns have no names.
    generated = index == 0 and flavour == "mysql" and bool(mapped.body.table_flags & _GENERATED_KEY)
    text = _column(replace(column, name=column.name or "my_row_id") if generated else column, flavour)
    if text is not None and flavour == "mysql":
        visible = mapped.body.records().get("visibility")
        hidden = isinstance(visible, str) and visible[index : index + 1] == "0"
        text += (" INVISIBLE" if hidden or generated else "") + (" AUTO_INCREMENT" if generated else "")
    return text


def primary_key_text(mapped: MappedTable, flavour: Flavour) -> str | None:
    """The parts of the primary key, unquoted; None if the event tells of none, and nothing if it cannot be told."""
    if mapped.columns is None or any(_unknown(column, flavour) for column in mapped.columns):
        return ""
    return key_text(mapped, flavour)


def key_text(mapped: MappedTable, flavour: Flavour) -> str | None:
    """As :func:`primary_key_text`, also where columns are not known."""
    columns, key = mapped.columns or (), mapped.body.primary_key()
    if flavour == "mysql" and mapped.body.table_flags & _GENERATED_KEY:
        return "my_row_id"
    if key is None:
        return None
    parts = []
    for index, prefix in key:
        name = columns[index].name if index < len(columns) else None
        if name is None:
            return ""
        parts.append(f"{name}({prefix})" if prefix else name)
    return ", ".join(parts)


def _unknown(column: Column, flavour: Flavour) -> bool:
    return column.type_code in (_MYSQL_ONLY if flavour != "mysql" else _MARIADB_ONLY)


def column_name(column: Column, flavour: Flavour) -> str:
    """The name in front of the type, if the event has it; only MySQL doubles what quotes it."""
    if column.name is None:
        return ""
    name = escaped(column.name)
    return "`" + (name.replace("`", "``") if flavour == "mysql" else name) + "` "


def _column(column: Column, flavour: Flavour) -> str | None:
    try:
        collation_of_column = _collation(column, flavour)
        type_text = _type(
            column,
            collation_of_column if collation_of_column is None or collation_of_column.charset != "binary" else None,
            flavour,
        )
    except ScenarioError:
        return None
    if type_text is None:
        return None
    text = column_name(column, flavour) + type_text
    if column.unsigned and is_numeric(column) and column.type_code != WireType.YEAR:
        text += " UNSIGNED"
    if not column.nullable:
        text += " NOT NULL"
    if column.members is not None:
        separator = ", " if flavour == "mysql" else ","
        text += "(" + separator.join(f"'{escaped(to_text(member))}'" for member in column.members) + ")"
    if collation_of_column is not None and (
        collation_of_column.charset != "binary" or is_enum(column) or is_set(column)
    ):
        text += f" CHARSET {collation_of_column.charset} COLLATE {collation_of_column.name}"
    return text


def escaped(text: str) -> str:
    """Names and members as the readers print them; other characters are as they are."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def _collation(column: Column, flavour: Flavour) -> Collation | None:
    """None if the column has no collation.  Raises ScenarioError for an id that is not known there."""
    if column.collation is None:
        return None
    return collation(column.collation, flavour)


def _type(column: Column, text_collation: Collation | None, flavour: Flavour) -> str | None:
    code = column.type_code
    if code in _PLAIN:
        return _PLAIN[code]
    if code in _FRACTIONAL:
        return _FRACTIONAL[code] + (f"({column.metadata[0]})" if column.metadata[0] else "")
    if code == WireType.NEWDECIMAL:
        return f"DECIMAL({column.metadata[0]},{column.metadata[1]})"
    if code == WireType.BIT:
        return f"BIT({8 * column.metadata[1] + column.metadata[0]})"
    if code in (WireType.BLOB, WireType.BLOB_COMPRESSED):
        size = _BLOBS.get(column.metadata[0])
        return f"INVALID_BLOB({column.metadata[0]})" if size is None else size + ("TEXT" if text_collation else "BLOB")
    if is_enum(column):
        return "ENUM"
    if is_set(column):
        return "SET"
    if code == WireType.GEOMETRY:
        kind = column.geometry_type
        if kind is None:
            return "GEOMETRY"
        if kind >= len(_GEOMETRIES):
            return None
        return "GEOMETRYCOLLECTION" if flavour != "mysql" and kind == _COLLECTION else _GEOMETRIES[kind]
    if code == WireType.VECTOR:
        return None if column.dimensions is None else f"VECTOR({column.dimensions})"
    return _string(column, text_collation) if is_character(column) else None


def _string(column: Column, text_collation: Collation | None) -> str:
    if column.type_code == WireType.STRING:
        length = column.metadata[1] | ((column.metadata[0] & 0x30) ^ 0x30) << 4
        name = "CHAR" if text_collation else "BINARY"
    else:
        length = int.from_bytes(column.metadata[:2], "little")
        name = "VARCHAR" if text_collation else "VARBINARY"
    return f"{name}({length // (charset(text_collation.charset).max_length if text_collation else 1)})"
