"""BIT(n): the n bits as a big-endian number in (n+7)/8 bytes, unused bits first (Field_bit_as_char of
sql/field.cc; corpora/recordings/values/bits).

Metadata: n % 8, then n / 8 (BIT(8) is ``00 01``).  The value is an int; a cell whose unused bits are set decodes to
a number that the column cannot be told to hold.  A string "5" is the number 5 here; a server would store the
character's byte, which is written {hex: "35"}.  Text that is not a number is its bytes, as to servers.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from construct import BytesInteger, Construct

from forge.servers.facts.values import Dialect
from forge.values.base import Column, TypedValue
from forge.values.cells import IntegerCellCodec, bad_metadata
from forge.values.clipping import leading_number
from forge.values.declaration.arguments import check_argument
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import hex_mapping, is_number, number, rounded
from forge.values.text.column_charset import utf8
from forge.values.wire_types import WireType

_WORD = 64
_BINARY = re.compile(r"b'([01]*)'|0b([01]+)", re.IGNORECASE)


@lru_cache(maxsize=16)
def layout(size: int) -> Construct[int, int]:
    return BytesInteger(size)


class BitCodec(IntegerCellCodec):
    type_codes = (WireType.BIT,)
    metadata_size = 2

    def bits(self, column: Column) -> int:
        rest, whole = column.metadata if len(column.metadata) == 2 else (0, 0)
        bits = 8 * whole + rest
        if rest > 7 or not 1 <= bits <= 64:
            raise bad_metadata(f"no server has a BIT column with the metadata {column.metadata.hex(' ')}")
        return bits

    def layout(self, column: Column) -> Construct[int, int]:
        return layout((self.bits(column) + 7) // 8)

    def bounds(self, column: Column) -> tuple[int, int]:
        return 0, (1 << self.bits(column)) - 1

    def stored_bounds(self, column: Column) -> tuple[int, int]:
        return 0, (1 << 8 * self.size(column)) - 1

    def accept(self, column: Column, declared: Any) -> int:
        data = bytes(declared) if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        match = _BINARY.fullmatch(declared) if isinstance(declared, str) else None
        if data is not None:
            value = int.from_bytes(data, "big")
        elif match:
            value = int(match[1] or match[2] or "0", 2)
        elif isinstance(declared, str) and not is_number(declared):
            value = int.from_bytes(utf8(declared), "big")
        else:
            value = int(rounded(number(self.type_name(column), declared), 0))
            if self.bits(column) == _WORD and isinstance(declared, int) and -(1 << _WORD - 1) <= value < 0:
                # -1 is 64 ones; that of a shorter column has too many.
                value %= 1 << _WORD
        return self.checked(column, value, self.bounds(column))

    def nearest(self, column: Column, declared: Any) -> int | None:
        largest = (1 << self.bits(column)) - 1
        data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        if isinstance(declared, str):
            # To a server all text is bytes here; that of a number is the number only in declarations.
            data = utf8(declared)
        if data is not None:
            return min(int.from_bytes(data, "big"), largest)
        exact = leading_number(declared)
        if exact is None:
            return None
        beyond = 1 << _WORD - 1
        if isinstance(declared, float):
            # A double becomes a signed number first.
            last = beyond if column.dialect.wraps_large_doubles else beyond - 1
            value = last if declared >= beyond else round(max(declared, -float(beyond)))
        else:
            value = int(rounded(exact, 0))
            if exact < 0 and (isinstance(declared, Decimal) or value < -beyond):
                return 0
        return min(value % (1 << _WORD) if value < 0 else value, largest)

    def examples(self, column: Column) -> tuple[int, ...]:
        bits = self.bits(column)
        return (0, 1, (1 << bits) - 1, 1 << bits - 1)

    def typed(self, column: Column, value: int) -> TypedValue:
        return {"bits": f"{value:0{self.bits(column)}b}"}

    def type_name(self, column: Column) -> str:
        rest, whole = column.metadata if len(column.metadata) == 2 else (0, 0)
        return f"BIT({8 * whole + rest})"


BIT = BitCodec()


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    bits = 1 if sql_type.length is None else sql_type.length
    if dialect.zero_bit_is_one:
        bits = bits or 1
    check_argument("length", sql_type, bits, 1, _WORD)
    return Column(WireType.BIT, bytes([bits % 8, bits // 8]))


FAMILY = Family(
    codecs=(BIT,),
    column_types=(
        ColumnType(
            name="BIT",
            facts=TypeFacts(kind="bit", implicit_default=0, default_length=1),
            declare=_declare,
            arguments="length",
            examples=tuple(SqlType("BIT", length=bits) for bits in (1, 7, 8, 9, 63, 64)),
        ),
    ),
)
