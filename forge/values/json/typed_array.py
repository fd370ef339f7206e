"""TYPED_ARRAY (type 20): the hidden column of a multi-valued index, ``CAST(j->'$' AS UNSIGNED ARRAY)``.

Metadata: the element's type byte, then that type's metadata (3 bytes for VARCHAR, 2 for NEWDECIMAL, 1 for TIME2 and
DATETIME2, none for LONGLONG and NEWDATE).  A cell would be ``u32 length | JSON document``, but no server writes one:
MySQL 8.0.17 lists such columns in TABLE_MAP and leaves them out of the column bitmaps, and later servers do not list
them.  Source: Field_typed_array of sql/field.cc, WL#8955; 8.0.17 and 8.0.18 are reported to append further metadata
bytes.
"""

from __future__ import annotations

from typing import Final

from forge.errors import UnsupportedError
from forge.values.base import Column, Value
from forge.values.declaration.column_type import Family
from forge.values.json.codec import JsonCodec
from forge.values.wire_types import WireType

_ELEMENTS: Final[dict[int, str]] = {
    WireType.DOUBLE: "DOUBLE",
    WireType.LONGLONG: "BIGINT",
    WireType.DATE: "DATE",
    WireType.NEWDATE: "DATE",
}
#: A JSON document's, whatever the element is.
_PREFIX_SIZE: Final = 4


class TypedArrayCodec(JsonCodec):
    """JSON documents behind a length of 4 bytes, in columns whose metadata describe the array's elements."""

    type_codes = (WireType.TYPED_ARRAY,)
    reader_feature = None

    def prefix(self, column: Column) -> int:
        return _PREFIX_SIZE

    def sql(self, column: Column, value: Value) -> str:
        raise UnsupportedError("the hidden column of a multi-valued index cannot be given a value in SQL")

    def type_name(self, column: Column) -> str:
        return f"{_element(column.metadata)}{' UNSIGNED' if column.unsigned else ''} ARRAY"


def _element(metadata: bytes) -> str:
    """The SQL name of the elements' type; VARCHAR in bytes, which is all that the metadata tell."""
    code, rest = (metadata[0], metadata[1:]) if metadata else (0, b"")
    if code in (WireType.TIME2, WireType.DATETIME2) and rest:
        return f"{'TIME' if code == WireType.TIME2 else 'DATETIME'}({rest[0]})"
    if code == WireType.NEWDECIMAL and len(rest) >= 2:
        return f"DECIMAL({rest[0]},{rest[1]})"
    if code == WireType.VARCHAR:
        return f"VARCHAR({int.from_bytes(rest[:3], 'little')})"
    return _ELEMENTS.get(code, f"type {code}")


TYPED_ARRAY = TypedArrayCodec()
FAMILY = Family(codecs=(TYPED_ARRAY,))
