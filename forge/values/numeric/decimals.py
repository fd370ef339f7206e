"""DECIMAL(p,s): groups of nine decimal digits, each a big-endian integer (decimal2bin of strings/decimal.c).

The digits left of the point and those right of it are grouped outwards from the point: nine digits take four bytes,
a shorter group at either end takes 0 to 4.  A group at the far right is left-justified (0.5 of DECIMAL(3,3) is the
group 500).  A negative value has all bytes inverted; then the first bit is flipped, so that bytes compare as values.
Zero is never negative.  Metadata: precision, scale.  DECIMAL UNSIGNED has the same bytes
(corpora/recordings/values/decimals).
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from construct import BytesInteger, Construct, Sequence

from forge.errors import ScenarioError, UnsupportedError
from forge.layouts import FixedLayout, fixed_layout
from forge.servers.facts.values import Dialect
from forge.values.base import Column, Piece, TypedValue
from forge.values.cells import NumberCodec, bad_metadata, bad_value
from forge.values.clipping import leading_number
from forge.values.declaration.arguments import check_argument
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import EXACT, number, refuse, rounded
from forge.values.quick import CellReader, CellWriter, UnusualError
from forge.values.wire_types import WireType

#: Bytes of a group of 0 ... 9 digits.
_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
GROUP_DIGITS = 9
#: Fraction digits that have a byte of their own, whose text is looked up.
_FEW_DIGITS = 2
MAX_PRECISION = 65
#: Fraction digits of MariaDB; MySQL allows 30.
MAX_SCALE = 38


@lru_cache(maxsize=256)
def group_digits(precision: int, scale: int) -> tuple[int, ...]:
    """Digits of each group, in file order."""
    whole, short = divmod(precision - scale, GROUP_DIGITS)
    fraction, tail = divmod(scale, GROUP_DIGITS)
    return (*([short] if short else []), *[GROUP_DIGITS] * (whole + fraction), *([tail] if tail else []))


@lru_cache(maxsize=256)
def layout(precision: int, scale: int) -> Construct[Any, Any]:
    """The groups, for a value whose sign has been taken off the bytes."""
    return Sequence(*(BytesInteger(_BYTES[digits]) for digits in group_digits(precision, scale)))


@lru_cache(maxsize=256)
def packed_size(precision: int, scale: int) -> int:
    return sum(_BYTES[digits] for digits in group_digits(precision, scale))


class _Form(NamedTuple):
    """The groups, the power of ten that each is below, the sign's bit, and all bits."""

    groups: FixedLayout
    bases: tuple[int, ...]
    sign: int
    ones: int


@lru_cache(maxsize=256)
def _form(precision: int, scale: int) -> _Form:
    groups = fixed_layout(layout(precision, scale))
    sign = 1 << 8 * groups.size - 1
    return _Form(groups, tuple(10**digits for digits in group_digits(precision, scale)), sign, 2 * sign - 1)


def pack(value: Decimal, precision: int, scale: int) -> bytes:
    """The bytes of a value that fits DECIMAL(precision, scale) exactly."""
    return _packed(abs(int(value.scaleb(scale, context=EXACT))), bool(value.as_tuple().sign), _form(precision, scale))


def _packed(number: int, negative: bool, form: _Form) -> bytes:
    """The bytes of all digits as one number."""
    left, parts = number, []
    for base in reversed(form.bases):
        left, part = divmod(left, base)
        parts.append(part)
    plain = int.from_bytes(form.groups.write(parts[::-1]), "big")
    return ((plain ^ form.ones if negative and number else plain) ^ form.sign).to_bytes(form.groups.size, "big")


def unpack(raw: bytes, precision: int, scale: int) -> Decimal:
    """The value of exactly ``packed_size`` bytes.  Raises FormatError for a group with too many digits."""
    form = _form(precision, scale)
    plain = int.from_bytes(raw, "big") ^ form.sign
    negative = bool(plain & form.sign)
    number, offset = 0, 0
    plain ^= form.ones if negative else 0
    for size, (shift, mask), base in zip(group_digits(precision, scale), form.groups.cuts, form.bases, strict=True):
        group = plain >> shift & mask
        if group >= base:
            raise bad_value(
                f"a group of DECIMAL({precision},{scale}) has {size} digits, not the number {group}", offset
            )
        number, offset = number * base + group, offset + _BYTES[size]
    value = Decimal(number).scaleb(-scale, context=EXACT)
    return value.copy_negate() if negative and number else value


class DecimalCodec(NumberCodec):
    type_codes = (WireType.NEWDECIMAL,)
    metadata_size = 2

    def size(self, column: Column) -> int:
        return packed_size(*self._arguments(column))

    def decode(self, column: Column, raw: bytes) -> Decimal:
        return unpack(self.whole(column, raw), *self._arguments(column))

    def encode(self, column: Column, value: Decimal) -> bytes:
        precision, scale = self._arguments(column)
        return pack(self._fitting(column, Decimal(value), value), precision, scale)

    def reader(self, column: Column) -> CellReader:
        precision, scale = self._arguments(column)
        groups, bases, sign, ones = _form(precision, scale)
        parts = [(shift, mask, base) for (shift, mask), base in zip(groups.cuts, bases, strict=True)]
        few = 10**scale if scale <= _FEW_DIGITS else 0
        tails = {number: f".{number:0{scale}d}" if scale else "" for number in range(few)}
        last = parts.pop()[1] if scale and tails else 0

        def text(raw: bytes) -> str:
            plain = int.from_bytes(raw, "big") ^ sign
            minus = ""
            if plain & sign:
                plain ^= ones
                minus = "-" if plain else ""
            number = 0
            for shift, mask, base in parts:
                group = plain >> shift & mask
                if group >= base:
                    raise UnusualError
                number = number * base + group
            if tails:
                return f"{minus}{number}{tails[plain & last]}"
            digits = str(number).rjust(scale + 1, "0")
            return f"{minus}{digits[:-scale]}.{digits[-scale:]}"

        return CellReader(text, f"{groups.size}s")

    def writer(self, column: Column) -> CellWriter:
        precision, scale = self._arguments(column)
        form, limit = _form(precision, scale), 10**precision
        fraction = rf"\.\d{{{scale}}}" if scale else ""
        usual = re.compile(rf"-?\d{{1,{max(precision - scale, 1)}}}{fraction}", re.ASCII).fullmatch

        def cell(value: Any) -> bytes:
            if value.__class__ is Decimal and value.as_tuple().exponent == -scale:
                value = f"{value:f}"
            if value.__class__ is not str or not usual(value):
                raise UnusualError
            negative = value[0] == "-"
            number = int(value.replace(".", "").replace("-", ""))
            if number >= limit or (negative and column.unsigned):
                raise UnusualError
            return _packed(number, negative, form)

        return cell

    def accept(self, column: Column, declared: Any) -> Decimal:
        value = number(self.type_name(column), declared)
        if column.unsigned and value < 0:
            if isinstance(declared, str) and value.adjusted() < _TINY:
                # MariaDB reads the text of some as zero.
                raise UnsupportedError(f"{self.type_name(column)} does not take {declared!r} yet", expected="0")
            raise refuse(self.type_name(column), declared, "cannot hold a negative number")
        return self._fitting(column, value, declared)

    def nearest(self, column: Column, declared: Any) -> Decimal | None:
        exact = leading_number(declared)
        if exact is None:
            return None
        precision, scale = column.metadata
        if column.unsigned and exact < 0:
            return Decimal(0).scaleb(-scale, context=EXACT)
        result = rounded(exact, scale)
        largest = Decimal(10**precision - 1).scaleb(-scale, context=EXACT)
        return largest.copy_sign(result) if result.copy_abs() > largest else result

    def examples(self, column: Column) -> tuple[Decimal, ...]:
        precision, scale = self._arguments(column)
        largest = 10**precision - 1
        near = (0, 1, -1, largest, -largest, 10 ** (precision // 2), -(10**scale) // 2)
        return tuple(Decimal(value).scaleb(-scale, context=EXACT) for value in near if abs(value) <= largest)

    def text(self, column: Column, value: Decimal) -> str:
        return f"{value:f}"

    def typed(self, column: Column, value: Decimal) -> TypedValue:
        return {"decimal": f"{value:f}"}

    def sql(self, column: Column, value: Decimal) -> str:
        return f"{value:f}"

    def type_name(self, column: Column) -> str:
        precision, scale = column.metadata if len(column.metadata) == 2 else (0, 0)
        return f"DECIMAL({precision},{scale})" + (" UNSIGNED" if column.unsigned else "")

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        precision, scale = self._arguments(column)
        value = self.decode(column, raw)
        pieces, offset, left = [], 0, precision
        for digits in group_digits(precision, scale):
            size = _BYTES[digits]
            place = f"{digits} digits {'before' if left > scale else 'after'} the point"
            pieces.append(Piece(offset, raw[offset : offset + size], place))
            offset, left = offset + size, left - digits
        sign = "negative: all bytes are inverted" if value < 0 else "positive"
        pieces[0] = pieces[0]._replace(meaning=f"first bit {raw[0] >> 7}: {sign}; {pieces[0].meaning}")
        return pieces

    @staticmethod
    def _arguments(column: Column) -> tuple[int, int]:
        precision, scale = column.metadata if len(column.metadata) == 2 else (0, 0)
        if not (1 <= precision <= MAX_PRECISION and scale <= min(precision, MAX_SCALE)):
            raise bad_metadata(f"no server has the type DECIMAL({precision},{scale})")
        return precision, scale

    def _fitting(self, column: Column, value: Decimal, declared: Any) -> Decimal:
        precision, scale = self._arguments(column)
        if not value.is_finite():
            raise ScenarioError(f"{self.type_name(column)} cannot hold {value}")
        result = rounded(value, scale)
        if result.copy_abs() >= Decimal(1).scaleb(precision - scale):
            problem = f"cannot hold more than {precision - scale} digits before the point"
            raise refuse(self.type_name(column), declared, problem)
        return result


DECIMAL = DecimalCodec()
_DEFAULT_PRECISION = 10
#: A power of ten below which the text of a negative number may be zero to an unsigned column.
_TINY = -30


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    precision = _DEFAULT_PRECISION if sql_type.precision is None else sql_type.precision
    scale = sql_type.scale or 0
    # DECIMAL(0) is DECIMAL(10): a server reads no precision and precision 0 alike.
    precision = _DEFAULT_PRECISION if precision == 0 and scale == 0 else precision
    check_argument("scale", sql_type, scale, 0, dialect.max_scale)
    check_argument("precision", sql_type, precision, max(scale, 1), MAX_PRECISION)
    return Column(WireType.NEWDECIMAL, bytes([precision, scale]), unsigned=sql_type.unsigned or sql_type.zerofill)


FAMILY = Family(
    codecs=(DECIMAL,),
    column_types=(
        ColumnType(
            name="DECIMAL",
            facts=TypeFacts(kind="decimal", takes_unsigned=True, implicit_default=0),
            declare=_declare,
            arguments="numbers",
            aliases=("DEC", "NUMERIC", "FIXED"),
            examples=tuple(
                SqlType("DECIMAL", precision=precision, scale=scale)
                for precision, scale in ((1, 0), (9, 9), (10, 2), (18, 9), (65, 30))
            ),
        ),
    ),
)
