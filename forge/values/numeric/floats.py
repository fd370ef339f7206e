"""FLOAT and DOUBLE: IEEE-754 little-endian, 4 and 8 bytes; the metadata byte is that size (Field_float, Field_double of
sql/field.cc; corpora/recordings/values/floats).

FLOAT(M,D) and DOUBLE(M,D) round when stored and do not show in the bytes.  SQL cannot store NaN and infinities;
cells that hold one decode to such a float, which has no text.  MySQL stores -0.0 and prints it as ``-0``; MariaDB
stores 0 (recorded).

Text: the shortest digits that give the same value back, laid out as MySQL 9.7 lays out a DOUBLE (recorded with
``SELECT``): without exponent if the decimal point comes 14 places before the first digit to 15 places after it, or
inside the digits; else ``d.ddde[-]dd`` without sign or padding for positive exponents.  So 1e14 prints
``100000000000000``, 1e15 ``1e15``, but 1234567890123456.8 ``1234567890123456.8``.  For a FLOAT the server's SELECT
prints 6 significant digits, which is not enough to give the value back; the text here has up to 9.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from functools import partial
from typing import Any

from construct import Construct, Float32l, Float64l

from forge.errors import ScenarioError, UnsupportedError
from forge.layouts import fixed_layout
from forge.servers.facts.values import Dialect
from forge.values.base import Column, TypedValue
from forge.values.cells import NumberCodec, bad_metadata
from forge.values.clipping import LEADING_NUMBER, leading_number
from forge.values.declaration.arguments import check_argument
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import number, refuse, shown
from forge.values.quick import CellReader, CellWriter, UnusualError, no_writer
from forge.values.wire_types import WireType

_TYPES: dict[int, tuple[str, int, Construct[float, float]]] = {
    WireType.FLOAT: ("FLOAT", 4, Float32l),
    WireType.DOUBLE: ("DOUBLE", 8, Float64l),
}
_LARGEST = {
    WireType.FLOAT: float.fromhex("0x1.fffffep+127"),
    WireType.DOUBLE: float.fromhex("0x1.fffffffffffffp+1023"),
}
#: The least FLOAT with all its bits.
_FIRST_NORMAL = 2.0**-126
#: Fraction digits of FLOAT(M,D) and DOUBLE(M,D), and digits in all.
_MAX_SCALE, _MAX_PRECISION = 30, 255
#: Decimal point positions (from the first digit) for which a server prints no exponent.
_FIRST_PLAIN, _LAST_PLAIN = -14, 15
#: The usual text of a number, of which nothing is to be rounded away.
_NUMBER = re.compile(r"-?\d{1,40}(\.\d{1,40})?\Z", re.ASCII)


def to_float32(value: float) -> float:
    """The float32 nearest to ``value``; an infinity if it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest_digits(value: float, single: bool) -> tuple[str, int]:
    """Digits and the position of the decimal point after the first one, for a finite ``value`` >= 0."""
    if single:
        # Of six digits one number at most is near enough, if the value is not subnormal: a shorter one is it.
        least = 5 if value >= _FIRST_NORMAL else 0
        candidates = (f"{value:.{precision}e}" for precision in range(least, 9))
        shown = next(text for text in candidates if to_float32(float(text)) == value)
        exact = Decimal(shown)
    else:
        exact = Decimal(repr(value))
    digits = "".join(map(str, exact.as_tuple().digits)).rstrip("0") or "0"
    return digits, exact.adjusted() + 1 if value else 1


def float_text(value: float, single: bool = False) -> str | None:
    """The text of a float as the server prints a DOUBLE (see the module); None for NaN and infinities."""
    if not math.isfinite(value):
        return None
    sign = "-" if math.copysign(1, value) < 0 else ""
    digits, point = shortest_digits(abs(value), single)
    if point >= _FIRST_PLAIN and (point <= _LAST_PLAIN or len(digits) > point):
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        fraction = digits[point:]
        return f"{sign}{digits[:point].ljust(point, '0')}{'.' + fraction if fraction else ''}"
    return exponent_text(value, single)


def exponent_text(value: float, single: bool = False) -> str:
    """The text of a finite float with an exponent, which servers choose where only that fits: ``-1e-7``."""
    digits, point = shortest_digits(abs(value), single)
    sign, fraction = "-" if math.copysign(1, value) < 0 else "", digits[1:]
    return f"{sign}{digits[0]}{'.' + fraction if fraction else ''}e{point - 1}"


def _usual_text(value: float) -> str:
    """The text of a DOUBLE whose digits and layout are those of ``repr``, which is most of them."""
    shown = repr(value)
    if -1e15 < value < 1e15 and "e" not in shown:
        return shown.removesuffix(".0")
    return _text_of_finite(value)


def _text_of_finite(value: float, single: bool = False) -> str:
    text = float_text(value, single)
    if text is None:
        raise UnusualError
    return text


class FloatCodec(NumberCodec):
    type_codes = (WireType.FLOAT, WireType.DOUBLE)
    metadata_size = 1

    def size(self, column: Column) -> int:
        size = _TYPES[column.type_code][1]
        if column.metadata != bytes([size]):
            raise bad_metadata(f"{_TYPES[column.type_code][0]} has the metadata byte {size:02x}")
        return size

    def decode(self, column: Column, raw: bytes) -> float:
        return float(_TYPES[column.type_code][2].parse(self.whole(column, raw)))

    def encode(self, column: Column, value: float) -> bytes:
        self.size(column)
        if math.isfinite(value) and column.type_code == WireType.FLOAT and math.isinf(to_float32(value)):
            raise refuse(self.type_name(column), value, "cannot hold this number")
        return bytes(_TYPES[column.type_code][2].build(value))

    def reader(self, column: Column) -> CellReader:
        self.size(column)
        single = column.type_code == WireType.FLOAT
        text = partial(_text_of_finite, single=True) if single else _usual_text
        return CellReader(text, fixed_layout(_TYPES[column.type_code][2]).code)

    def writer(self, column: Column) -> CellWriter:
        self.size(column)
        if column.declared is not None and column.declared.scale is not None:
            return no_writer  # FLOAT(M,D) rounds
        write, single = fixed_layout(_TYPES[column.type_code][2]).write, column.type_code == WireType.FLOAT

        def cell(value: Any) -> bytes:
            kind = value.__class__
            if kind is str and _NUMBER.match(value):
                number = float(value)
            elif kind is float:
                number = value
            elif kind is Decimal and value.is_finite():
                number = float(str(value))
            else:
                raise UnusualError
            # A zero may lose its sign, and a number below zero has no place in an UNSIGNED column.
            if not math.isfinite(number) or (column.unsigned and number < 0) or (number == 0 and kind is not float):
                raise UnusualError
            if number == 0 and math.copysign(1, number) < 0:
                raise UnusualError
            if single and math.isinf(number := to_float32(number)):
                raise UnusualError
            return write((number,))

        return cell

    def accept(self, column: Column, declared: Any) -> float:
        name = self.type_name(column)
        value = declared if isinstance(declared, float) else self._nearest(name, declared)
        if column.unsigned and value < 0:
            # Before it is rounded to the column's digits or to 32 bits, which could make zero of it (recorded).
            raise refuse(name, declared, "cannot hold a negative number")
        if column.declared is not None and column.declared.scale is not None:
            value = _to_scale(name, value, column.declared.precision or 0, column.declared.scale)
        if column.type_code == WireType.FLOAT:
            if to_float32(value) == 0 > value and not column.dialect.keeps_negative_zero:
                # MariaDB stores -0.0 then, for which there is no literal of its own.
                problem = f"{name} does not take a number that is so near to zero on MariaDB: {shown(declared)}"
                raise UnsupportedError(problem, expected="0")
            value = to_float32(value)
        if not math.isfinite(value):
            raise refuse(name, declared, "cannot hold this number")
        return value if value or column.dialect.keeps_negative_zero else 0.0

    def nearest(self, column: Column, declared: Any) -> float | None:
        exact = leading_number(declared)
        if exact is None:
            return None
        if column.unsigned and exact < 0:
            return 0.0
        largest = _LARGEST[WireType(column.type_code)]
        facts = column.declared
        if facts is not None and facts.scale is not None:
            digits = facts.precision or 0
            largest = min(largest, _largest_of(digits, facts.scale))
        value = min(max(float(exact), -largest), largest)
        if not value and isinstance(declared, str) and declared.lstrip().startswith("-"):
            # Its sign is read too (recorded on 9.7); without digits behind it, it is none.
            value = -0.0 if LEADING_NUMBER.match(declared) else value
        try:
            return self.accept(column, value)
        except UnsupportedError:
            raise
        except ScenarioError:
            return to_float32(value) if column.type_code == WireType.FLOAT else value

    def examples(self, column: Column) -> tuple[float, ...]:
        single = column.type_code == WireType.FLOAT
        near = (0.0, -0.0, 0.1, 1.5, -2.25, 1e14, 1e15, 1e16, 1234567890123456.8, 1e-14, 1e-15, 1e-16)
        extreme = (3.4028234663852886e38, 1.401298464324817e-45) if single else (1.7976931348623157e308, 5e-324)
        chosen = [to_float32(value) if single else value for value in (*near, *extreme)]
        return tuple(value for value in chosen if value >= 0 or not column.unsigned)

    @staticmethod
    def _nearest(name: str, declared: Any) -> float:
        # float("-0") keeps the sign that Decimal arithmetic could lose.
        exact = number(name, declared)
        return float(str(exact))

    def text(self, column: Column, value: float) -> str | None:
        return float_text(value, column.type_code == WireType.FLOAT)

    def typed(self, column: Column, value: float) -> TypedValue:
        """The shortest digits of its width that give the number back; ``nan``, ``inf`` and ``-inf`` have none."""
        return {"float": self.text(column, value) or repr(value)}

    def sql(self, column: Column, value: float) -> str:
        if not math.isfinite(value):
            raise ScenarioError(f"no SQL literal stores {value} in a {self.type_name(column)}")
        # An exponent makes it a DOUBLE literal: -0 alone would be an integer and lose its sign.  The digits of a
        # FLOAT are those of the double of the same value: 3.4028235e38 would be out of FLOAT's range.
        shown = repr(float(value))
        return shown if "e" in shown else f"{shown}e0"

    def type_name(self, column: Column) -> str:
        return _TYPES[column.type_code][0] + (" UNSIGNED" if column.unsigned else "")


def _power_of_ten(exponent: int) -> float:
    """The double nearest to it, as in the servers' table; ``10.0**23`` is another one."""
    return float(f"1e{exponent}")


def _largest_of(precision: int, scale: int) -> float:
    """The largest number of FLOAT(M,D) and DOUBLE(M,D), in doubles."""
    return _power_of_ten(precision - scale) - 1.0 / _power_of_ten(scale)


def _to_scale(name: str, value: float, precision: int, scale: int) -> float:
    """``value`` as FLOAT(M,D) and DOUBLE(M,D) store it: what is above its floor rounded half to even, in doubles."""
    if not math.isfinite(value):
        return value
    floor = float(math.floor(value))
    unit = _power_of_ten(scale)
    result = floor + round((value - floor) * unit) / unit
    if abs(result) > _largest_of(precision, scale):
        raise refuse(f"{name}({precision},{scale})", value, "cannot hold this number")
    return result


FLOAT = FloatCodec()


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    precision, scale = sql_type.precision, sql_type.scale
    if scale is not None:
        check_argument("scale", sql_type, scale, 0, _MAX_SCALE)
        check_argument("precision", sql_type, precision or 0, max(scale, 1), _MAX_PRECISION)
    code = WireType.FLOAT if sql_type.name == "FLOAT" else WireType.DOUBLE
    return Column(code, bytes([_TYPES[code][1]]), unsigned=sql_type.unsigned or sql_type.zerofill)


def _approximate(name: str, *aliases: str) -> ColumnType:
    return ColumnType(
        name=name,
        facts=TypeFacts(kind="approximate", takes_unsigned=True, implicit_default=0),
        declare=_declare,
        arguments="numbers",
        aliases=aliases,
        examples=(SqlType(name), SqlType(name, unsigned=True), SqlType(name, precision=7, scale=3)),
    )


FAMILY = Family(
    codecs=(FLOAT,),
    column_types=(
        _approximate("FLOAT", "FLOAT4"),
        _approximate("DOUBLE", "REAL", "DOUBLE PRECISION", "FLOAT8"),
    ),
)
