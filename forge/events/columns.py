"""The columns of a TABLE_MAP as ``forge.values`` wants them: types and metadata, with what the optional metadata adds.

The optional metadata counts columns in different spaces (rows.md 2.3 - 2.10): numeric columns, character columns,
ENUM and SET columns, geometry columns, all columns.  YEAR counts as numeric, BIT does not; VECTOR counts as a
character column; GEOMETRY does on MariaDB only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from forge.errors import FormatError, UnsupportedError
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.registry import metadata_size

#: TINY SHORT LONG FLOAT DOUBLE LONGLONG INT24 YEAR DECIMAL NEWDECIMAL
NUMERIC_TYPES = frozenset((0, 1, 2, 3, 4, 5, 8, 9, 13, 246))
#: VARCHAR VAR_STRING BLOB VECTOR and MariaDB's compressed types; STRING unless it is an ENUM or SET.
CHARACTER_TYPES = frozenset((15, 253, 252, 242, 140, 141))
STRING, GEOMETRY, VECTOR = 254, 255, 242
ENUM_METADATA, SET_METADATA = 247, 248


def is_enum(column: Column) -> bool:
    return column.type_code == STRING and column.metadata[:1] == bytes([ENUM_METADATA])


def is_set(column: Column) -> bool:
    return column.type_code == STRING and column.metadata[:1] == bytes([SET_METADATA])


def is_numeric(column: Column) -> bool:
    return column.type_code in NUMERIC_TYPES


def is_character(column: Column, mariadb: bool = False) -> bool:
    if column.type_code == STRING:
        return not (is_enum(column) or is_set(column))
    return column.type_code in CHARACTER_TYPES or (mariadb and column.type_code == GEOMETRY)


def bare_columns(table_map: TableMap) -> tuple[Column, ...]:
    """Columns with type, metadata and nullability only.

    Raises UnsupportedError for a type whose metadata size is not known, FormatError if the block does not fit.
    """
    columns = []
    at = 0
    for index, code in enumerate(table_map.types):
        size = metadata_size(code)
        if size is None:
            raise UnsupportedError(f"column {index + 1} of `{table_map.table}` has the unknown type {code}")
        if code == 20:  # TYPED_ARRAY: the element's type byte, then that type's metadata
            size = _typed_array_size(table_map.metadata[at:])
        metadata = table_map.metadata[at : at + size]
        if len(metadata) < size:
            raise FormatError(
                f"the metadata block ends inside column {index + 1} of {len(table_map.types)}",
                phase="metadata",
                offset=len(table_map.metadata),
            )
        at += size
        nullable = bool(table_map.nullable[index // 8] >> (index % 8) & 1)
        columns.append(Column(code, metadata, nullable=nullable))
    if at != len(table_map.metadata):
        raise FormatError(
            f"the metadata block has {len(table_map.metadata) - at} bytes too many", phase="metadata", offset=at
        )
    return tuple(columns)


def _typed_array_size(rest: bytes) -> int:
    if not rest:
        return 1
    element = rest[0]
    return 4 if element == 15 else 1 + (metadata_size(element) or 0)


def columns_of(table_map: TableMap, *, mariadb: bool = False) -> tuple[Column, ...]:
    """The table map's columns with everything its optional metadata tells.

    Records that are too short leave the columns they do not reach as they are; of two charset records the default
    form wins, as in the server's reader.
    """
    columns = list(bare_columns(table_map))
    records = {name: value for name, value in table_map.records().items() if not isinstance(value, bytes)}

    def spread(name: str, chosen: Callable[[Column], bool], apply: Callable[[Column, Any], Column]) -> None:
        values = iter(records.get(name, ()))
        for index, column in enumerate(columns):
            if chosen(column):
                value = next(values, None)
                if value is not None:
                    columns[index] = apply(column, value)

    spread("signedness", is_numeric, lambda column, bit: replace(column, unsigned=bit == "1"))
    _spread_collations(columns, records, "default_charset", "column_charset", lambda c: is_character(c, mariadb))
    _spread_collations(
        columns, records, "enum_set_default_charset", "enum_set_column_charset", lambda c: is_enum(c) or is_set(c)
    )
    spread("set_members", is_set, lambda column, members: replace(column, members=members))
    spread("enum_members", is_enum, lambda column, members: replace(column, members=members))
    spread("column_name", lambda _: True, lambda column, name: replace(column, name=name))
    spread("geometry_type", lambda c: c.type_code == GEOMETRY, lambda c, kind: replace(c, geometry_type=kind))
    spread("vector_dimensions", lambda c: c.type_code == VECTOR, lambda c, count: replace(c, dimensions=count))
    return tuple(columns)


def _spread_collations(
    columns: list[Column], records: dict[str, Any], default: str, each: str, chosen: Callable[[Column], bool]
) -> None:
    counted = [index for index, column in enumerate(columns) if chosen(column)]
    if default in records:
        usual, exceptions = records[default]
        special = dict(exceptions)
        collations: Iterator[int] = (special.get(place, usual) for place in range(len(counted)))
    else:
        collations = iter(records.get(each, ()))
    for index, collation in zip(counted, collations, strict=False):
        columns[index] = replace(columns[index], collation=collation)


def primary_key_of(table_map: TableMap) -> tuple[tuple[int, int], ...] | None:
    """(column index, prefix or 0) a key part, in key order; None if the event does not tell."""
    records = table_map.records()
    simple, prefixed = records.get("simple_primary_key"), records.get("prefix_primary_key")
    if isinstance(prefixed, tuple):
        return prefixed
    if isinstance(simple, tuple):
        return tuple((index, 0) for index in simple)
    return None
