"""TABLE_METADATA (50): the columns of a table, behind its TABLE_MAP, as Twitter's MySQL 5.5 logs them.

The first draft of WL#4618.  Not recorded: from the parser of a public reader of these logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int16ul, Int32ul, Sequence, Struct

from forge.events.derived_parts import Derived
from forge.events.giving import Part, giver_of
from forge.events.layout import Body, Surroundings, Text, derived
from forge.events.packed import PackedBytes
from forge.events.plain import Fields, plain
from forge.events.shapes import Shape, array
from forge.events.table_map import TableId
from forge.events.taking import LayoutError, take_number, taker_of

#: (wire type, length, scale, collation, flags, name, name of the type, comment)
Descriptor = tuple[int, int, int, int, int, str, str, str]
_NAMES = ("type", "length", "scale", "collation", "flags", "name", "type_name", "comment")
_DESCRIPTOR = Sequence(Int8ul, Int32ul, Int8ul, Int16ul, Int16ul, *[Text(PackedBytes())] * 3)


class Descriptors(Part):
    """A descriptor a column, behind its length (u32)."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[Descriptor, ...], int]:
        descriptors = []
        for _ in range(found.column_count):
            length, start = take_number(data, at, 4)
            descriptor, at = taker_of(_DESCRIPTOR)(data, start, found)
            if at - start != length:
                raise LayoutError(f"a descriptor of {length} bytes has {at - start}", at)
            descriptors.append(descriptor)
        return tuple(descriptors), at

    def give(self, value: Any, fields: Any) -> bytes:
        each = (giver_of(_DESCRIPTOR)(descriptor, fields) for descriptor in value)
        return b"".join(len(data).to_bytes(4, "little") + data for data in each)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.strategy_of(_DESCRIPTOR, fields))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMetadata(Body, type_code=50, type_name="TABLE_METADATA", features=("private_events",)):
    """``columns`` has for each column (wire type, length, scale, collation, flags, name, name of the type, comment)."""

    table_id: int
    column_count: int | None = derived()
    metadata_flags: int = 0
    columns: tuple[Descriptor, ...] = ()
    layout: ClassVar[Struct] = Struct(
        "table_id" / TableId(),
        "column_count" / Derived(Int16ul, lambda this: len(this.columns)),
        "metadata_flags" / Int16ul,
        "columns" / Descriptors(),
    )

    def canonical(self, surroundings: Surroundings) -> Fields:
        columns = [dict(zip(_NAMES, map(plain, column), strict=True)) for column in self.columns]
        return self.shown_fields("columns") | {"columns": columns}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"columns": array({"type": "object", "required": list(_NAMES)})})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"table {fields['table_id']}, {len(fields['columns'])} columns"
