"""TINYINT, SMALLINT, MEDIUMINT, INT, BIGINT: little-endian two's complement of 1, 2, 3, 4, 8 bytes.

Signedness is not in the bytes: it comes from the SIGNEDNESS record of the optional metadata; without it a column
is taken as signed.  BOOL is TINYINT(1), SERIAL is BIGINT UNSIGNED.  Source: sql/field.cc,
corpora/recordings/values/integers.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

from construct import BytesInteger, Construct

from forge.servers.facts.values import Dialect
from forge.values.base import Column, TypedValue
from forge.values.cells import IntegerCellCodec, NumberCodec
from forge.values.clipping import begins_with_line_end, leading_number
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import number, refuse, rounded
from forge.values.wire_types import WireType

_TYPES: dict[int, tuple[str, int]] = {
    WireType.TINY: ("TINYINT", 1),
    WireType.SHORT: ("SMALLINT", 2),
    WireType.INT24: ("MEDIUMINT", 3),
    WireType.LONG: ("INT", 4),
    WireType.LONGLONG: ("BIGINT", 8),
}
_WORD = 1 << 64


@lru_cache(maxsize=16)
def layout(size: int, unsigned: bool) -> Construct[int, int]:
    return BytesInteger(size, signed=not unsigned, swapped=True)


def bounds(size: int, unsigned: bool) -> tuple[int, int]:
    """Smallest and largest value."""
    bits = 8 * size
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


class IntegerCodec(NumberCodec, IntegerCellCodec):
    type_codes = tuple(_TYPES)

    def layout(self, column: Column) -> Construct[int, int]:
        return layout(_TYPES[column.type_code][1], bool(column.unsigned))

    def bounds(self, column: Column) -> tuple[int, int]:
        return bounds(_TYPES[column.type_code][1], bool(column.unsigned))

    def accept(self, column: Column, declared: Any) -> int:
        if type(declared) is int and (declared >= 0 or not column.unsigned):
            return self.checked(column, declared, self.bounds(column))
        exact = number(self.type_name(column), declared)
        value = int(rounded(exact, 0))
        if column.unsigned and exact < 0 and (value or isinstance(declared, Decimal)):
            # A DECIMAL such as -0.4 too: of that a server looks at the sign before it rounds.
            raise refuse(self.type_name(column), declared, "cannot hold a negative number")
        return self.checked(column, value, self.bounds(column))

    def nearest(self, column: Column, declared: Any) -> int | None:
        exact = leading_number(declared)
        if exact is None:
            return None
        if begins_with_line_end(declared) and not column.dialect.skips_line_ends:
            return 0
        low, high = self.bounds(column)
        if column.unsigned and column.dialect.wraps_large_digits and isinstance(declared, str) and exact <= -_WORD:
            # Its reading of digits ends at 2^64 before it comes to the sign.
            return high
        return min(max(int(rounded(exact, 0)), low), high)

    def examples(self, column: Column) -> tuple[int, ...]:
        low, high = self.bounds(column)
        near = (low, low + 1, -1, 0, 1, 127, 128, 255, 256, high - 1, high)
        return tuple(value for value in near if low <= value <= high)

    def typed(self, column: Column, value: int) -> TypedValue:
        return {"integer": str(value)}

    def type_name(self, column: Column) -> str:
        return _TYPES[column.type_code][0] + (" UNSIGNED" if column.unsigned else "")


INTEGER = IntegerCodec()


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(_CODES[sql_type.name], unsigned=sql_type.unsigned or sql_type.zerofill)


def _integer(name: str, widths: tuple[int, int], *aliases: str) -> ColumnType:
    return ColumnType(
        name=name,
        facts=TypeFacts(
            kind="integer",
            takes_unsigned=True,
            implicit_default=0,
            display_widths=widths,
        ),
        declare=_declare,
        arguments="display",
        aliases=aliases,
        examples=(SqlType(name), SqlType(name, unsigned=True)),
    )


_CODES = {name: code for code, (name, _) in _TYPES.items()}
FAMILY = Family(
    codecs=(INTEGER,),
    column_types=(
        _integer("TINYINT", (4, 3), "BOOL", "BOOLEAN", "INT1"),
        _integer("SMALLINT", (6, 5), "INT2"),
        _integer("MEDIUMINT", (9, 8), "MIDDLEINT", "INT3"),
        _integer("INT", (11, 10), "INTEGER", "INT4"),
        _integer("BIGINT", (20, 20), "INT8", "SERIAL"),
    ),
)
