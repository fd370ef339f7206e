"""TABLE_MAP (19): names a table, binds it to the id that row events use, and describes its columns' types.

One a table and statement, before the statement's first row event.  Metadata bytes and type codes are those of
rows.md 1.3; the optional metadata (WL#4618) is written since 8.0.1 and MariaDB 10.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from construct import BytesInteger, Const, Int16ul, Struct

from forge.errors import FormatError
from forge.events.layout import (
    Body,
    Derived,
    PackedInt,
    Rest,
    Span,
    Text,
    WhileMore,
    derived,
    field_length,
    length_of,
)
from forge.events.optional_metadata import MetadataRecord, OptionalMetadata, build_record, read_value

TABLE_FLAGS = ((0x0001, "BIT_LEN_EXACT"), (0x0002, "REFERRED_FK_DB"), (0x0004, "GENERATED_INVISIBLE_PK"))


def TableId() -> Any:
    """u48, or u32 in the first 5.1 trees."""
    return BytesInteger(lambda this: this._params.format.table_id_size, swapped=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMap(Body):
    """``types`` has a byte a column, ``metadata`` the bytes that those types take, ``nullable`` a bit a column
    (lowest first).  ``metadata_tail`` are bytes at the end that are no whole record of optional metadata: no server
    writes such, and readers of the table refuse them (forge.events.metadata_rules).
    """

    type_code: ClassVar[int] = 19
    type_name: ClassVar[str] = "TABLE_MAP"

    table_id: int
    table_flags: int = 1
    database_length: int | None = derived()
    database: str
    table_length: int | None = derived()
    table: str
    column_count: int | None = derived()
    types: bytes
    metadata_length: int | None = derived()
    metadata: bytes
    nullable: bytes
    optional_metadata: tuple[MetadataRecord, ...] = ()
    metadata_tail: bytes | None = None

    layout: ClassVar[Struct] = Struct(
        "table_id" / TableId(),
        "table_flags" / Int16ul,
        "database_length" / Derived(PackedInt(), length_of("database")),
        "database" / Text(Span(field_length("database_length"))),
        Const(b"\0"),
        "table_length" / Derived(PackedInt(), length_of("table")),
        "table" / Text(Span(field_length("table_length"))),
        Const(b"\0"),
        "column_count" / Derived(PackedInt(), length_of("types")),
        "types" / Span(field_length("column_count")),
        "metadata_length" / Derived(PackedInt(), length_of("metadata")),
        "metadata" / Span(field_length("metadata_length")),
        "nullable" / Span(lambda this: (this.column_count + 7) // 8),
        "optional_metadata" / OptionalMetadata(),
        "metadata_tail" / WhileMore(Rest()),
    )

    def records(self) -> dict[str, Any]:
        """What the optional metadata says, by name; of a repeated record the first, as servers read it."""
        found: dict[str, Any] = {}
        for record in self.optional_metadata:
            try:
                found.setdefault(record.type_name, read_value(record))
            except FormatError:
                continue
        return found

    def description_size(self) -> int:
        """Bytes from the types' metadata to the end: what offsets of the phase "metadata" count in."""
        optional = sum(len(build_record(record)) for record in self.optional_metadata)
        return len(self.metadata) + len(self.nullable) + optional + len(self.metadata_tail or b"")
