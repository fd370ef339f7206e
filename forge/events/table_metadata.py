"""TABLE_METADATA (50): the columns of a table, behind its TABLE_MAP, as Twitter's MySQL 5.5 logs them.

The first draft of WL#4618.  Not recorded: from the parser of a public reader of these logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int16ul, Int32ul, Struct

from forge.events.derived_parts import Derived
from forge.events.giving import Part
from forge.events.layout import Body, Surroundings, derived, read_exactly
from forge.events.packed import PackedBytes
from forge.events.plain import Fields, plain, to_bytes, to_text
from forge.events.shapes import Shape, array
from forge.events.table_map import TableId

#: (wire type, length, scale, collation, flags, name, name of the type, comment)
Descriptor = tuple[int, int, int, int, int, str, str, str]
_NAMES = ("type", "length", "scale", "collation", "flags", "name", "type_name", "comment")
_NUMBERS = (Int8ul, Int32ul, Int8ul, Int16ul, Int16ul)
_TEXTS = len(_NAMES) - len(_NUMBERS)


class Descriptors(Part):
    """A descriptor a column, behind its length (u32)."""

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[Descriptor, ...]:
        found = []
        for _ in range(context.column_count):
            length = Int32ul.parse(read_exactly(stream, 4, path))
            before = stream.tell()
            numbers = [part.parse(read_exactly(stream, part.sizeof(), path)) for part in _NUMBERS]
            texts = [to_text(PackedBytes()._parse(stream, context, path)) for _ in range(_TEXTS)]
            if stream.tell() - before != length:
                raise ValueError(f"a descriptor of {length} bytes has {stream.tell() - before}")
            found.append((*numbers, *texts))
        return tuple(found)

    def give(self, value: Any, fields: Any) -> bytes:
        found = []
        for descriptor in value:
            numbers, texts = descriptor[: len(_NUMBERS)], descriptor[len(_NUMBERS) :]
            parts = [part.build(number) for part, number in zip(_NUMBERS, numbers, strict=True)]
            parts += [PackedBytes().build(to_bytes(text)) for text in texts]
            data = b"".join(parts)
            found.append(Int32ul.build(len(data)) + data)
        return b"".join(found)

    def drawn(self, draws: Any, fields: Any) -> Any:
        numbers = (draws.unsigned(8 * part.sizeof()) for part in _NUMBERS)
        return draws.tuples_of(draws.st.tuples(*numbers, *[draws.texts()] * _TEXTS))


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
