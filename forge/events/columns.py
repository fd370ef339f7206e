"""The columns of a TABLE_MAP as ``forge.values`` wants them: types and metadata, with what the optional metadata adds.

The optional metadata counts columns in different spaces (forge.events.column_kinds); what is wrong in it is refused by
forge.events.metadata_rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from forge.errors import FormatError, UnsupportedError
from forge.events.column_kinds import is_character, is_enum, is_numeric, is_set
from forge.events.metadata_rules import checked_records, collations
from forge.events.optional_metadata import MetadataRecord
from forge.events.plain import name_text
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.registry import metadata_size
from forge.values.wire_types import WireType

#: Hidden columns of multi-valued keys, which 8.0.18 and later leave out; 8.0.17 has another code for them, which is not
#: used for anything else that is logged (MySQL Bug#29948925).
TYPED_ARRAY, OLD_TYPED_ARRAY = 20, 244
#: No server has a table with more (MAX_FIELDS in sql/sql_const.h of both families).  A few bytes may announce 65,535,
#: and a byte of a row is then eight cells.
MOST_COLUMNS = 4096

#: What a log may leave out, and the types whose digits no log tells.
_UNTOLD = ("name", "unsigned", "collation", "members", "geometry_type", "dimensions")
_OLD_TEMPORALS = frozenset((WireType.TIMESTAMP, WireType.TIME, WireType.DATETIME))
_DECLARED: ContextVar[Mapping[str, Sequence[tuple[Column, ...]]]] = ContextVar("declared", default=MappingProxyType({}))

#: Columns that stand beside those of a row.
_BESIDE = frozenset((
    "_operation", "_file", "_position", "_event", "_timestamp", "_server_id", "_gtid", "_present", "_present_before",
    "_present_after",
))  # fmt: skip


def bare_columns(table_map: TableMap) -> tuple[Column, ...]:
    """Columns with type, metadata and nullability only.

    Raises UnsupportedError for a type whose metadata size is not known, FormatError if the block does not fit, or for
    more columns than a table can have.
    """
    if len(table_map.types) > MOST_COLUMNS:
        raise FormatError(
            f"the table has {len(table_map.types)} columns; a server's table has at most {MOST_COLUMNS}",
            phase="metadata",
            offset=0,
        )
    if table_map.bare:
        raise UnsupportedError("TABLE_MAP of 5.1 before 5.1.18 says nothing of columns but their types")
    columns = []
    offset = 0
    for index, written in enumerate(table_map.types):
        code = TYPED_ARRAY if written == OLD_TYPED_ARRAY else written
        size = metadata_size(code)
        if size is None:
            raise UnsupportedError(f"column {index + 1} has the unknown type {code}")
        if code == TYPED_ARRAY:  # the element's type byte, then that type's metadata
            size = _typed_array_size(table_map.metadata, offset)
        metadata = table_map.metadata[offset : offset + size]
        if len(metadata) < size:
            raise FormatError(
                f"the metadata block ends inside column {index + 1} of {len(table_map.types)}",
                phase="metadata",
                offset=len(table_map.metadata),
            )
        offset += size
        nullable = bool(table_map.nullable[index // 8] >> (index % 8) & 1)
        columns.append(Column(code, metadata, nullable=nullable))
    # 8.0.17 leaves stray bytes behind the metadata of such a table (flink-cdc#3647, not recorded).
    strays = any(code in (TYPED_ARRAY, OLD_TYPED_ARRAY) for code in table_map.types)
    if offset != len(table_map.metadata) and not strays:
        raise FormatError(
            f"the metadata block has {len(table_map.metadata) - offset} bytes too many", phase="metadata", offset=offset
        )
    return tuple(columns)


def names_of_records(names: Iterable[Any]) -> tuple[str, ...]:
    """What the columns of a table are called in records and in Arrow: by their names, None where the log has none.

    One that has no name, or a name that is taken, is called by its number: ``@1``, ``@2``.  Taken are those of columns
    before it, of what stands beside a row (docs/rows-as-arrow.md), and such numbers.
    """
    called: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        text = "@" if name is None else name_text(name)
        taken = text in called or text in _BESIDE or (text[:1] == "@" and not text[1:].strip("0123456789"))
        called[f"@{number}" if taken else text] = None
    return tuple(called)


def _typed_array_size(metadata: bytes, offset: int) -> int:
    if offset >= len(metadata):
        return 1
    element = metadata[offset]
    return 4 if element == 15 else 1 + (metadata_size(element) or 0)


@contextmanager
def declared_columns(tables: Mapping[str, Sequence[tuple[Column, ...]]]) -> Iterator[None]:
    """In the block, columns have what logs do not tell of them from definitions.

    ``tables`` has, of ``database.table``, or ``.table`` in any database, the columns in each form that servers write.
    """
    token = _DECLARED.set(tables)
    try:
        yield
    finally:
        _DECLARED.reset(token)


def columns_of(table_map: TableMap, *, mariadb: bool = False) -> tuple[Column, ...]:
    """The table map's columns with everything its optional metadata tells, and :func:`declared_columns` besides.

    Raises FormatError for metadata that does not fit the types (forge.events.metadata_rules), UnsupportedError for a
    type whose metadata size is not known.
    """
    described = table_map.types, table_map.metadata, table_map.nullable, table_map.optional_metadata
    columns = _columns_of(*described, table_map.metadata_tail, table_map.bare, mariadb=mariadb)
    tables = _DECLARED.get()
    if not tables:
        return columns
    table = name_text(table_map.table)
    forms = tables.get(f"{name_text(table_map.database)}.{table}") or tables.get(f".{table}", ())
    logged = [(column.type_code, column.metadata) for column in columns]
    for form in forms:
        # Definitions change: those of other columns say nothing of these.
        if [(column.type_code, column.metadata) for column in form] == logged:
            return tuple(map(_told, columns, form))
    return columns


def completed(columns: Sequence[Column], declared: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a table map with what it does not tell and a definition says, if that has the same."""
    if [(one.type_code, one.metadata) for one in columns] != [(one.type_code, one.metadata) for one in declared]:
        return tuple(columns)
    return tuple(
        replace(_told(column, other), declared=other.declared) for column, other in zip(columns, declared, strict=True)
    )


def _told(column: Column, declared: Column) -> Column:
    """The column with what the log does not tell of it."""
    unsaid = {name: getattr(declared, name) for name in _UNTOLD if getattr(column, name) is None}
    if column.type_code in _OLD_TEMPORALS:
        unsaid["declared"] = declared.declared
    return replace(column, **unsaid)


@lru_cache(maxsize=256)
def _columns_of(
    types: bytes, metadata: bytes, nullable: bytes, optional: tuple[MetadataRecord, ...], tail: bytes | None,
    bare: bool, *, mariadb: bool,
) -> tuple[Column, ...]:  # fmt: skip
    """Those of any table that is described so."""
    table_map = TableMap(
        table_id=0, database="", table="", types=types, metadata=metadata, nullable=nullable,
        optional_metadata=optional, metadata_tail=tail, bare=bare,
    )  # fmt: skip
    columns = list(bare_columns(table_map))
    records = checked_records(table_map, columns, mariadb=mariadb)

    def spread(values: Iterable[Any], chosen: Callable[[Column], bool], apply: Callable[[Column, Any], Column]) -> None:
        counted = [index for index, column in enumerate(columns) if chosen(column)]
        for index, value in zip(counted, values, strict=False):
            columns[index] = apply(columns[index], value)

    def collations_by(default: str, each: str) -> Iterable[int]:
        return collations(records, default, each, len(columns))

    def collated(column: Column, collation: int) -> Column:
        return replace(column, collation=collation)

    spread(records.get("signedness", ()), is_numeric, lambda column, bit: replace(column, unsigned=bit == "1"))
    spread(collations_by("default_charset", "column_charset"), lambda c: is_character(c, mariadb), collated)
    members_by = collations_by("enum_set_default_charset", "enum_set_column_charset")
    spread(members_by, lambda c: is_enum(c) or is_set(c), collated)
    for name, chosen in (("set_members", is_set), ("enum_members", is_enum)):
        spread(records.get(name, ()), chosen, lambda column, members: replace(column, members=members))
    spread(records.get("column_name", ()), lambda _: True, lambda column, name: replace(column, name=name))
    kinds = records.get("geometry_type", ())
    spread(kinds, lambda c: c.type_code == WireType.GEOMETRY, lambda c, kind: replace(c, geometry_type=kind))
    dimensions = records.get("vector_dimensions", ())
    spread(dimensions, lambda c: c.type_code == WireType.VECTOR, lambda c, count: replace(c, dimensions=count))
    return tuple(columns)
