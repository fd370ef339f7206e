"""TINYINT, SMALLINT, MEDIUMINT, INT, BIGINT: little-endian two's complement of 1, 2, 3, 4, 8 bytes.

Signedness is not in the bytes: it comes from the SIGNEDNESS record of the optional metadata; without it a column
is taken as signed.  BOOL is TINYINT(1), SERIAL is BIGINT UNSIGNED.  Source: rows.md 4.1, recorded on MySQL 9.7.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from construct import BytesInteger, Construct

from forge.values.base import Column
from forge.values.cells import FixedWidthCodec
from forge.values.literals import number, refuse, rounded
from forge.values.wire_types import WireType

_TYPES: dict[int, tuple[str, int]] = {
    WireType.TINY: ("TINYINT", 1),
    WireType.SHORT: ("SMALLINT", 2),
    WireType.INT24: ("MEDIUMINT", 3),
    WireType.LONG: ("INT", 4),
    WireType.LONGLONG: ("BIGINT", 8),
}


@lru_cache(maxsize=16)
def layout(size: int, unsigned: bool) -> Construct[int, int]:
    return BytesInteger(size, signed=not unsigned, swapped=True)


def bounds(size: int, unsigned: bool) -> tuple[int, int]:
    """Smallest and largest value."""
    bits = 8 * size
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


class IntegerCodec(FixedWidthCodec):
    type_codes = tuple(_TYPES)

    def size(self, column: Column) -> int:
        return _TYPES[column.type_code][1]

    def decode(self, column: Column, raw: bytes) -> int:
        return int(layout(self.size(column), bool(column.unsigned)).parse(self.whole(column, raw)))

    def encode(self, column: Column, value: int) -> bytes:
        self._check(column, value)
        return bytes(layout(self.size(column), bool(column.unsigned)).build(value))

    def accept(self, column: Column, declared: Any) -> int:
        exact = number(self.type_name(column), declared)
        if column.unsigned and exact < 0:
            # -0.4 too: a server looks at the sign before it rounds.
            raise refuse(self.type_name(column), declared, "cannot hold a negative number")
        value = int(rounded(exact, 0))
        self._check(column, value)
        return value

    def text(self, column: Column, value: int) -> str:
        return str(value)

    def sql(self, column: Column, value: int) -> str:
        return str(value)

    def type_name(self, column: Column) -> str:
        return _TYPES[column.type_code][0] + (" UNSIGNED" if column.unsigned else "")

    def _check(self, column: Column, value: int) -> None:
        low, high = bounds(self.size(column), bool(column.unsigned))
        if not low <= value <= high:
            raise refuse(self.type_name(column), value, "cannot hold this number", f"{low} to {high}")


INTEGER = IntegerCodec()
