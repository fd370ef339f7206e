"""FLOAT and DOUBLE: IEEE-754 little-endian, 4 and 8 bytes; the metadata byte is that size (rows.md 4.2).

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
import struct
from decimal import Decimal
from typing import Any

from construct import Construct, Float32l, Float64l

from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.cells import FixedWidthCodec, bad_metadata
from forge.values.literals import number, refuse
from forge.values.wire_types import WireType

_TYPES: dict[int, tuple[str, int, Construct[float, float]]] = {
    WireType.FLOAT: ("FLOAT", 4, Float32l),
    WireType.DOUBLE: ("DOUBLE", 8, Float64l),
}
#: Decimal point positions (from the first digit) for which a server prints no exponent.
_FIRST_PLAIN, _LAST_PLAIN = -14, 15


def to_float32(value: float) -> float:
    """The float32 nearest to ``value``; an infinity if it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def shortest_digits(value: float, single: bool) -> tuple[str, int]:
    """Digits and the position of the decimal point after the first one, for a finite ``value`` >= 0."""
    if single:
        candidates = (f"{value:.{precision}e}" for precision in range(9))
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
    fraction = digits[1:]
    return f"{sign}{digits[0]}{'.' + fraction if fraction else ''}e{point - 1}"


class FloatCodec(FixedWidthCodec):
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

    def accept(self, column: Column, declared: Any) -> float:
        name = self.type_name(column)
        value = declared if isinstance(declared, float) else self._nearest(name, declared)
        if column.unsigned and value < 0:
            # Before it is rounded to the column's digits or to 32 bits, which could make zero of it (recorded).
            raise refuse(name, declared, "cannot hold a negative number")
        if column.declared is not None and column.declared.scale is not None:
            value = _to_scale(name, value, column.declared.precision or 0, column.declared.scale)
        if column.type_code == WireType.FLOAT:
            value = to_float32(value)
        if not math.isfinite(value):
            raise refuse(name, declared, "cannot hold this number")
        return value if value or column.dialect.keeps_negative_zero else 0.0

    @staticmethod
    def _nearest(name: str, declared: Any) -> float:
        # float("-0") keeps the sign that Decimal arithmetic could lose.
        exact = number(name, declared)
        return float(str(exact))

    def text(self, column: Column, value: float) -> str | None:
        return float_text(value, column.type_code == WireType.FLOAT)

    def sql(self, column: Column, value: float) -> str:
        if not math.isfinite(value):
            raise ScenarioError(f"no SQL literal stores {value} in a {self.type_name(column)}")
        # An exponent makes it a DOUBLE literal: -0 alone would be an integer and lose its sign.  The digits of a
        # FLOAT are those of the double of the same value: 3.4028235e38 would be out of FLOAT's range.
        shown = repr(float(value))
        return shown if "e" in shown else f"{shown}e0"

    def type_name(self, column: Column) -> str:
        return _TYPES[column.type_code][0] + (" UNSIGNED" if column.unsigned else "")


def _to_scale(name: str, value: float, precision: int, scale: int) -> float:
    """``value`` as FLOAT(M,D) and DOUBLE(M,D) store it: what is above its floor rounded half to even, in doubles."""
    if not math.isfinite(value):
        return value
    floor = float(math.floor(value))
    result = floor + round((value - floor) * 10.0**scale) / 10.0**scale
    if abs(result) > 10.0 ** (precision - scale) - 10.0**-scale:
        raise refuse(f"{name}({precision},{scale})", value, "cannot hold this number")
    return result


FLOAT = FloatCodec()
