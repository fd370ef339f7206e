"""What a server says of a table in TABLE_MAP: types, metadata, and the optional metadata (WL#4618) by its own choice.

Records follow the writing order of sql/log_event.cc.  The choice between the default-charset form and the per-column
form counts columns, not bytes: with n columns of which m share the most frequent collation, the per-column form is
written if n < 1 + 2 * (n - m).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from forge.compile.rows.forced_metadata import forced_metadata
from forge.errors import ScenarioError
from forge.events.column_kinds import is_character, is_enum, is_numeric, is_set
from forge.events.optional_metadata import MetadataRecord, record
from forge.events.table_map import TableMap
from forge.plan.keys import key_of_rows, key_prefix
from forge.plan.metadata_forms import MetadataForms
from forge.plan.session import Session
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.values.base import Column
from forge.values.declaration.column_type import Temporals
from forge.values.registry import column_for
from forge.values.wire_types import WireType

Columns = Sequence[Column]
Records = list[MetadataRecord]

BINARY_COLLATION = 63
BIT_LEN_EXACT, GENERATED_INVISIBLE_PK = 0x0001, 0x0004


def wire_columns(table: Table, session: Session, line: ServerLine) -> tuple[Column, ...]:
    """The table's columns with everything that codecs need, whatever the optional metadata will tell."""
    temporals: Temporals = "old" if line.values.old_temporals or not session.mysql56_temporal_format else "new"
    return tuple(
        column_for(column.type, name=column.name, nullable=column.nullable, server=line.name, temporals=temporals)
        for column in table.columns
    )


def table_map(table: Table, table_id: int, session: Session, line: ServerLine) -> TableMap:
    """The TABLE_MAP body for a statement on ``table``."""
    columns = wire_columns(table, session, line)
    nullable = bytearray((len(columns) + 7) // 8)
    for index, column in enumerate(columns):
        if column.nullable:
            nullable[index // 8] |= 1 << (index % 8)
    records = optional_metadata(table, columns, session, line)
    forms = session.metadata.of(table.full_name)
    forced, tail = forced_metadata(forms, records, columns, mariadb=line.values.geometry_is_character)
    return TableMap(
        table_id=table_id,
        database=table.database,
        table=table.name,
        table_flags=BIT_LEN_EXACT | (GENERATED_INVISIBLE_PK if _shows_generated_key(table, line) else 0),
        types=bytes(column.type_code for column in columns),
        metadata=b"".join(column.metadata for column in columns),
        nullable=bytes(nullable),
        optional_metadata=forced,
        metadata_tail=tail,
    )


def _shows_generated_key(table: Table, line: ServerLine) -> bool:
    return line.knows("generated_invisible_key") and table.has_generated_key


def optional_metadata(table: Table, columns: Columns, session: Session, line: ServerLine) -> tuple[MetadataRecord, ...]:
    """The records that the mode asks for, without those that would be empty."""
    if session.row_metadata == "none":
        if line.knows("row_metadata") and not line.table_map.metadata_can_be_off:
            raise ScenarioError(f"{line.name} does not have row_metadata: none", expected="minimal or full")
        return ()
    wanted = line.table_map.full_metadata if session.row_metadata == "full" else line.table_map.minimal_metadata
    forms = session.metadata.of(table.full_name)
    return tuple(item for name in wanted for item in _WRITERS[name](table, columns, forms, line))


def _signedness(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    # The fields of YEAR are unsigned (field.h), so its bit is set; BIT is not numeric here.
    bits = "".join(
        "1" if column.unsigned or column.type_code == WireType.YEAR else "0" for column in columns if is_numeric(column)
    )
    return [record("signedness", bits)] if bits else []


def _charset(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    counted = [
        BINARY_COLLATION if column.collation is None else column.collation
        for column in columns
        if is_character(column, line.values.geometry_is_character)
    ]
    return _collation_records(counted, "default_charset", "column_charset", forms)


def _enum_set_charset(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    counted = [
        column.type.collation if column.type.collation is not None else BINARY_COLLATION
        for column, wire in zip(table.columns, columns, strict=True)
        if is_enum(wire) or is_set(wire)
    ]
    return _collation_records(counted, "enum_set_default_charset", "enum_set_column_charset", forms)


def _collation_records(counted: Sequence[int], default: str, each: str, forms: MetadataForms) -> Records:
    if not counted:
        return []
    form = forms.charset
    counts = Counter(counted)
    # Ids are scanned upwards and replaced only by a greater count: of equals the smallest wins.
    usual = min(counts, key=lambda identity: (-counts[identity], identity))
    if form == "server":
        others = len(counted) - counts[usual]
        form = "column" if len(counted) < 1 + 2 * others else "default"
    pairs = [pair for pair in enumerate(counted) if forms.pairs == "redundant" or pair[1] != usual]
    pairs = pairs[::-1] if forms.pairs == "descending" else pairs
    by_default, one_by_one = record(default, (usual, tuple(pairs))), record(each, tuple(counted))
    return {"default": [by_default], "column": [one_by_one], "both": [by_default, one_by_one]}[form]


def _geometry_type(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    codes = tuple(column.geometry_type for column in columns if column.type_code == WireType.GEOMETRY)
    return [record("geometry_type", codes)] if codes else []


def _vector_dimensions(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    counts = tuple(column.dimensions for column in columns if column.type_code == WireType.VECTOR)
    return [record("vector_dimensions", counts)] if counts else []


def _column_name(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    return [record("column_name", tuple(column.name for column in table.columns))]


def _members(name: str, chosen: Callable[[Column], bool]) -> Callable[..., Records]:
    def write(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
        members = tuple(wire.members or () for wire in columns if chosen(wire))
        return [record(name, members)] if members else []

    return write


def _primary_key(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    key = key_of_rows(table)
    if key is None:
        return []
    prefixes = tuple((part.column, key_prefix(table, part) or 0) for part in key.parts)
    form = forms.primary_key
    if form == "server":
        form = "prefix" if any(prefix for _, prefix in prefixes) else "simple"
    simple = record("simple_primary_key", tuple(index for index, _ in prefixes))
    prefixed = record("prefix_primary_key", prefixes)
    return {"simple": [simple], "prefix": [prefixed], "both": [simple, prefixed]}[form]


def _visibility(table: Table, columns: Columns, forms: MetadataForms, line: ServerLine) -> Records:
    return [record("visibility", "".join("1" if column.visible else "0" for column in table.columns))]


_WRITERS: dict[str, Any] = {
    "signedness": _signedness,
    "charset": _charset,
    "geometry_type": _geometry_type,
    "vector_dimensions": _vector_dimensions,
    "column_name": _column_name,
    "enum_set_charset": _enum_set_charset,
    "set_members": _members("set_members", is_set),
    "enum_members": _members("enum_members", is_enum),
    "primary_key": _primary_key,
    "visibility": _visibility,
}
