"""YEAR: one byte, 0 for 0000, else the year minus 1900: 1901 to 2155 (rows.md 4.5).

YEAR(2), which MariaDB and MySQL before 5.7.5 have, is stored alike; its number 0 is 2000, and 0000 is text only
(recorded on MariaDB).  MySQL from 5.6.6 on makes it YEAR(4) (release notes).  Two-digit years mean 1970 to 2069 as on a
server: 69 is 2069, 70 is 1970; the number 0 and the string "0000" are 0000 but the strings "0", "00" and "000" are 2000
(recorded).
"""

from __future__ import annotations

from typing import Any

from construct import Byte

from forge.values.base import Column
from forge.values.cells import FixedWidthCodec
from forge.values.literals import number, refuse, rounded
from forge.values.wire_types import WireType

_BASE = 1900


class YearCodec(FixedWidthCodec):
    type_codes = (WireType.YEAR,)

    def size(self, column: Column) -> int:
        return 1

    def decode(self, column: Column, raw: bytes) -> int:
        stored = Byte.parse(self.whole(column, raw))
        return stored + _BASE if stored else 0

    def encode(self, column: Column, value: int) -> bytes:
        self._check(value)
        return bytes(Byte.build(value - _BASE if value else 0))

    def accept(self, column: Column, declared: Any) -> int:
        value = int(rounded(number("YEAR", declared), 0))
        is_number_zero = _has_two_digits(column) and not isinstance(declared, str) and value == 0
        is_text_zero = isinstance(declared, str) and len(declared) != 4 and value == 0
        if 0 < value < 100 or is_text_zero or is_number_zero:
            value += 2000 if value < 70 else 1900
        self._check(value)
        return value

    def text(self, column: Column, value: int) -> str:
        return f"{value:04d}"

    def sql(self, column: Column, value: int) -> str:
        return "'0000'" if _has_two_digits(column) and not value else str(value)

    def type_name(self, column: Column) -> str:
        return "YEAR"

    @staticmethod
    def _check(value: int) -> None:
        if value != 0 and not _BASE < value < _BASE + 256:
            raise refuse("YEAR", value, "cannot hold this year", "1901 to 2155, or 0")


def _has_two_digits(column: Column) -> bool:
    return column.declared is not None and column.declared.length == 2


YEAR = YearCodec()
