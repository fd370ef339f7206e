"""YEAR: one byte, 0 for 0000, else the year minus 1900: 1901 to 2155 (Field_year of sql/field.cc).

YEAR(2), which MariaDB and MySQL before 5.7.5 have, is stored alike; its number 0 is 2000, and 0000 is text only
(recorded on MariaDB).  MySQL from 5.6.6 on makes it YEAR(4) (release notes).  Two-digit years mean 1970 to 2069 as on a
server: 69 is 2069, 70 is 1970; the number 0 and the string "0000" are 0000 but the strings "0", "00" and "000" are 2000
(recorded).
"""

from __future__ import annotations

from typing import Any

from construct import Byte

from forge.errors import ScenarioError, UnsupportedError
from forge.layouts import fixed_layout
from forge.servers.facts.values import Dialect
from forge.values.base import Column, TypedValue
from forge.values.cells import NumberCodec
from forge.values.clipping import LEADING_NUMBER, begins_with_line_end, leading_number
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import number, refuse, rounded
from forge.values.quick import CellReader, CellWriter, UnusualError
from forge.values.wire_types import WireType

_BASE = 1900


class YearCodec(NumberCodec):
    type_codes = (WireType.YEAR,)

    def size(self, column: Column) -> int:
        return 1

    def decode(self, column: Column, raw: bytes) -> int:
        stored = Byte.parse(self.whole(column, raw))
        return stored + _BASE if stored else 0

    def encode(self, column: Column, value: int) -> bytes:
        self._check(value)
        return bytes(Byte.build(value - _BASE if value else 0))

    def reader(self, column: Column) -> CellReader:
        def number(stored: int) -> int:
            return stored + _BASE if stored else 0

        return CellReader(lambda stored: f"{number(stored):04d}", fixed_layout(Byte).code, number=number)

    def writer(self, column: Column) -> CellWriter:
        write = fixed_layout(Byte).write

        def cell(value: Any) -> bytes:
            # A number of two digits, and 0 of a YEAR(2), stands for another year.
            if value.__class__ is not int or value <= _BASE:
                raise UnusualError
            return write((value - _BASE,))

        return cell

    def accept(self, column: Column, declared: Any) -> int:
        value = int(rounded(number("YEAR", declared), 0))
        is_number_zero = _has_two_digits(column) and not isinstance(declared, str) and value == 0
        is_text_zero = isinstance(declared, str) and len(declared) != 4 and value == 0
        if 0 < value < 100 or is_text_zero or is_number_zero:
            value += 2000 if value < 70 else 1900
        self._check(value)
        return value

    def nearest(self, column: Column, declared: Any) -> int | None:
        exact = leading_number(declared)
        if exact is None:
            return None
        if begins_with_line_end(declared) and not column.dialect.skips_line_ends:
            return 0
        if isinstance(declared, str):
            match = LEADING_NUMBER.match(declared)
            if match is None:
                return 0
            if "." in match[1] and declared[match.end() :].strip():
                raise UnsupportedError(f"what a YEAR column reads of {declared!r} is not known", expected="a year")
            if len(declared) != 4 or rounded(exact, 0):
                declared = match[1].lstrip("0") or "0"
            else:
                # The text of zero is 0000 if it has four characters, whichever they are, and else 2000.
                return 0
        try:
            return self.accept(column, declared)
        except ScenarioError:
            return 0

    def examples(self, column: Column) -> tuple[int, ...]:
        return (0, _BASE + 1, _BASE + 255)

    def text(self, column: Column, value: int) -> str:
        return f"{value:04d}"

    def typed(self, column: Column, value: int) -> TypedValue:
        return {"year": str(value)}

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


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    # Field_year is unsigned, and SIGNEDNESS says so (corpora/recordings/values/years).
    return Column(WireType.YEAR, unsigned=True)


FAMILY = Family(
    codecs=(YEAR,),
    column_types=(
        ColumnType(
            name="YEAR",
            facts=TypeFacts(kind="year", implicit_default=0),
            declare=_declare,
            arguments="display",
            examples=(SqlType("YEAR"),),
        ),
    ),
)
