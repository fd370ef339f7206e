"""TABLE_MAP (19): names a table, binds it to the id that row events use, and describes its columns' types.

One a table and statement, before the statement's first row event.  Type codes are forge.values.wire_types; the bytes
of metadata are those of each type's Field::do_save_field_metadata() (sql/field.cc).  The optional metadata (WL#4618)
is written since 8.0.1 and MariaDB 10.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import BytesInteger, Const, Int16ul, Struct, Subconstruct

from forge.errors import ForgeError, FormatError
from forge.events.column_fields import COLUMN_SHAPE, columns_fields
from forge.events.derived_parts import Derived, WhileMore
from forge.events.giving import Give, Part, giver_of
from forge.events.layout import Bitmap, Body, Rest, Span, Surroundings, Text, derived, field_length, flags, length_of
from forge.events.optional_metadata import MetadataRecord, OptionalMetadata, build_record, key_parts, read_value
from forge.events.packed import PackedInt
from forge.events.plain import Fields, flag_names, plain, text_or_hex, words
from forge.events.shapes import FLAGS, HEX, TEXT, U8, U64, Shape, array, object_of
from forge.events.taking import Take, taker_of
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

_WIRE_TYPES = frozenset(WireType)
TABLE_FLAGS = ((0x0001, "BIT_LEN_EXACT"), (0x0002, "REFERRED_FK_DB"), (0x0004, "GENERATED_INVISIBLE_PK"))


class Bare(Part):
    """Whether the event ends here, as it does in logs of 5.1 before 5.1.18."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[bool, int]:
        return at >= len(data) and found["_params"].format.pre_ga, at

    def give(self, value: bool, fields: Any) -> bytes:
        return b""

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        return walk.read(self, name)


class _Types(Span):
    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        types: bytes = walk.read(self, name)
        for number, code in enumerate(types, start=1):
            word = WireType(code).name if code in _WIRE_TYPES else code
            walk.labels.put(walk.labels.at + 1, f"{name}.column {number}", word, "type of the column")
        return types


class _Metadata(Span):
    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        metadata: bytes = walk.read(self, name)
        labels = walk.labels
        for number, column in enumerate(walk.columns(metadata), start=1):
            try:
                type_name = codec_for(column).type_name(column)
            except (ForgeError, LookupError, ValueError):
                type_name = None
            field = f"{name}.column {number}"
            labels.put(labels.at + len(column.metadata), field, type_name, "metadata of the type")
        labels.put(walk.at, name, rule="bytes that no type takes")
        return metadata


class UnlessBare(Subconstruct):  # type: ignore[misc]
    """A field that is there, and has ``empty`` as its value, unless the event is bare."""

    def __init__(self, subcon: Any, empty: Any) -> None:
        super().__init__(subcon)
        self.empty = empty

    def taker(self) -> Take:
        inner, empty = taker_of(self.subcon), self.empty
        return lambda data, at, found: (empty, at) if found["bare"] else inner(data, at, found)

    def giver(self) -> Give:
        inner = giver_of(self.subcon)
        return lambda value, fields: b"" if fields["bare"] else inner(value, fields)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        return self.empty if walk.context.bare else walk.part(self.subcon, name, flags)


def TableId() -> Any:
    """u48, or u32 in the first 5.1 trees."""
    return BytesInteger(lambda this: this._params.format.table_id_size, swapped=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMap(Body, type_code=19, type_name="TABLE_MAP", features=("row_events",)):
    """``types`` has a byte a column, ``metadata`` the bytes that those types take, ``nullable`` a bit a column
    (lowest first); ``bare`` events, which 5.1 wrote before 5.1.18, have neither.  ``metadata_tail`` are bytes at the
    end that are no whole record of optional metadata: no server writes such, and readers of the table refuse them
    (forge.events.metadata_rules).
    """

    table_id: int
    table_flags: int = flags(TABLE_FLAGS, default=1)
    database_length: int | None = derived()
    database: str
    table_length: int | None = derived()
    table: str
    column_count: int | None = derived()
    types: bytes
    bare: bool = False
    metadata_length: int | None = derived()
    metadata: bytes
    nullable: bytes
    optional_metadata: tuple[MetadataRecord, ...] = ()
    metadata_tail: bytes | None = None

    #: Tables may differ in nothing but their names.
    kept_from: ClassVar[str] = "column_count"
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
        "types" / _Types(field_length("column_count")),
        "bare" / Bare(),
        "metadata_length" / Derived(UnlessBare(PackedInt(), 0), length_of("metadata")),
        "metadata" / UnlessBare(_Metadata(field_length("metadata_length")), b""),
        "nullable" / UnlessBare(Bitmap(lambda this: len(this.types)), b""),
        "optional_metadata" / OptionalMetadata(),
        "metadata_tail" / WhileMore(Rest()),
    )

    def records(self) -> dict[str, Any]:
        """What the optional metadata says, by name; of a repeated record the first, as servers read it."""
        values: dict[str, Any] = {}
        for record in self.optional_metadata:
            try:
                values.setdefault(record.type_name, read_value(record))
            except FormatError:
                continue
        return values

    def description_size(self) -> int:
        """Bytes from the types' metadata to the end: what offsets of the phase "metadata" count in."""
        optional = sum(len(build_record(record)) for record in self.optional_metadata)
        return len(self.metadata) + len(self.nullable) + optional + len(self.metadata_tail or b"")

    def primary_key(self) -> tuple[tuple[int, int], ...] | None:
        """(column index, prefix or 0) a key part, in key order; None if the event does not tell."""
        records = self.records()
        for name in ("prefix_primary_key", "simple_primary_key"):
            if name in records:
                return key_parts(name, records[name])
        return None

    def canonical(self, surroundings: Surroundings) -> Fields:
        shown: Fields = {
            "table_id": self.table_id,
            "table_flags": flag_names(self.table_flags, TABLE_FLAGS),
            "database": text_or_hex(self.database),
            "table": text_or_hex(self.table),
        }
        if surroundings.columns is None:
            shown |= {"types": self.types.hex(), "metadata": self.metadata.hex(), "nullable": self.nullable.hex()}
            if surroundings.problem is not None:
                shown["note"] = surroundings.problem
        else:
            visibility = self.records().get("visibility")
            shown["columns"] = columns_fields(surroundings.columns, surroundings.family, visibility)
            key = self.primary_key()
            if key is not None:
                shown["primary_key"] = [
                    {"column": index + 1} | ({"prefix": prefix} if prefix else {}) for index, prefix in key
                ]
        return shown | {"optional_metadata": [_record_fields(record) for record in self.optional_metadata]}

    @classmethod
    def canonical_shape(cls) -> Shape:
        number: Shape = {"type": "integer", "minimum": 1}
        properties: Shape = {
            "table_id": U64,
            "table_flags": FLAGS,
            "database": TEXT,
            "table": TEXT,
            "columns": array(COLUMN_SHAPE),
            "primary_key": array(object_of({"column": number, "prefix": number}, "prefix")),
            "types": HEX,
            "metadata": HEX,
            "nullable": HEX,
            "note": {"type": "string"},
            "optional_metadata": array(object_of({"type": U8, "name": {"type": "string"}, "value": {}})),
        }
        without_columns = ("types", "metadata", "nullable", "note")
        shape = object_of(properties, "columns", "primary_key", *without_columns)
        return shape | {"oneOf": [{"required": ["columns"]}, {"required": list(without_columns)}]}

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        table = f"{words(fields['database'])}.{words(fields['table'])} = {fields['table_id']}"
        if "columns" not in fields:
            note = f": {fields['note']}" if "note" in fields else ""
            return f"{table}, {len(fields['types']) // 2} columns{note}"
        columns = ", ".join(
            (f"{words(column['name'])} " if "name" in column else "") + column["type"] for column in fields["columns"]
        )
        return f"{table} ({columns})"


def _record_fields(record: MetadataRecord) -> Fields:
    try:
        value = read_value(record)
    except FormatError:
        value = record.value
    return {"type": record.type_code, "name": record.type_name, "value": plain(value)}
