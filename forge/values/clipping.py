"""Values as a server without strict mode (sql_mode = '') stores them: clipped with a warning instead of refused.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8; tests/values/recorded/lenient holds what they stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from forge.errors import ScenarioError
from forge.values.base import Column, Value
from forge.values.declaration.mariadb_types import NETWORK_SIZES
from forge.values.literals import EXACT, hex_mapping, hexadecimal, literal_sql, quoted, rounded
from forge.values.numeric.floats import to_float32
from forge.values.numeric.integers import bounds
from forge.values.registry import codec_for
from forge.values.temporal.clipping import clip_clock, clip_moment, reads_moment
from forge.values.temporal.text import has_usual_form
from forge.values.text.clipping import clip_text, text_of
from forge.values.text.column_charset import charset_of, utf8
from forge.values.text.enums import find_member, find_members
from forge.values.wire_types import WireType

#: Bytes of the integers.
_BYTES: dict[int, int] = {
    WireType.TINY: 1,
    WireType.SHORT: 2,
    WireType.INT24: 3,
    WireType.LONG: 4,
    WireType.LONGLONG: 8,
}
_NUMERIC = frozenset((*_BYTES, WireType.FLOAT, WireType.DOUBLE, WireType.YEAR, WireType.NEWDECIMAL))
_MOMENTS = (
    WireType.DATE,
    WireType.NEWDATE,
    WireType.TIMESTAMP,
    WireType.DATETIME,
    WireType.TIMESTAMP2,
    WireType.DATETIME2,
)
_CLOCKS = (WireType.TIME, WireType.TIME2)
_TEXTS = (
    WireType.VARCHAR,
    WireType.VAR_STRING,
    WireType.BLOB,
    WireType.BLOB_COMPRESSED,
    WireType.VARCHAR_COMPRESSED,
)
_LARGEST_FLOAT, _LARGEST_DOUBLE = float.fromhex("0x1.fffffep+127"), float.fromhex("0x1.fffffffffffffp+1023")
_MEMBER_METADATA = (WireType.ENUM, WireType.SET)
_LEADING = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE | re.ASCII)
#: No column tells numbers beyond from each other; larger exponents would be slow.
_EXPONENT_LIMIT = 400
_WORD = 1 << 64


class Clipped(NamedTuple):
    """A value, and the SQL literal of which a server without strict mode makes it.

    ``is_read`` is false for a literal that is no date to the server, which never asks for its time zone then;
    ``is_now`` is the NULL that MariaDB makes the current time; ``converts`` is true for an expression that asks for the
    time zone, whatever the column is.
    """

    value: Value | None
    sql: str
    is_read: bool = True
    is_now: bool = False
    converts: bool = False


def clip(column: Column, declared: Any) -> Clipped:
    """What a column of a session without strict mode makes of a declared literal.

    Raises ScenarioError for what is an error in every mode (documents, geometries, MySQL's vectors), and for
    declarations whose clipping has not been measured.
    """
    codec = codec_for(column)
    if isinstance(declared, (bytes, bytearray)) and column.type_code in _NUMERIC:
        declared = int.from_bytes(declared, "big")
    elif column.type_code in _NUMERIC and hex_mapping(declared) is not None:
        declared = int.from_bytes(hex_mapping(declared) or b"", "big")
    try:
        value = codec.accept(column, declared)
    except ScenarioError:
        if column.dialect.is_mariadb and _name(column) in (*NETWORK_SIZES, "VECTOR"):
            blank = _blank(column, declared)
            if blank is not None:
                return blank
        clipper = _clipper(column)
        if clipper is None:
            raise
        found = clipper(column, declared)
        if found is None:
            raise
        is_read = clipper is not clip_moment or reads_moment(column, declared)
        return Clipped(found, literal_sql(declared), is_read)
    if column.type_code in (*_MOMENTS, *_CLOCKS) and not has_usual_form(declared):
        clipped = clip_moment(column, value) if column.type_code in _MOMENTS else clip_clock(column, value)
        return Clipped(clipped or value, literal_sql(declared))
    if column.type_code in _CLOCKS:
        value = clip_clock(column, value) or value
    elif column.type_code in _MOMENTS and column.declared is not None and column.declared.name == "TIMESTAMP":
        clipped = clip_moment(column, value)
        if clipped not in (None, value):
            return Clipped(clipped, codec.sql(column, value), reads_moment(column, value))
    if isinstance(value, bytes) and charset_of(column) is not None and not column.members:
        return Clipped(clip_text(column, declared), hexadecimal(value))
    return Clipped(value, codec.sql(column, value))


def _name(column: Column) -> str:
    return column.declared.name if column.declared is not None else ""


def _blank(column: Column, declared: Any) -> Clipped | None:
    """What MariaDB makes of what is no vector or address; None where that is an error.

    A vector becomes zeros, and so does a number in place of an address; other things are NULL there if the column may
    be NULL.
    """
    name = _name(column)
    if name == "VECTOR":
        size = int.from_bytes(column.metadata, "little")
        return Clipped(bytes(size), quoted(declared)) if isinstance(declared, str) else None
    zeros = codec_for(column).accept(column, bytes(NETWORK_SIZES[name]))
    if isinstance(declared, (int, float, Decimal)):
        return Clipped(zeros, literal_sql(declared))
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is None and not isinstance(declared, str):
        return None
    return Clipped(None if column.nullable else zeros, literal_sql(declared))


def _clipper(column: Column) -> Callable[[Column, Any], Value | None] | None:
    """The family's function, which gives None for what it does not know; None if the family is never clipped."""
    if _name(column) in NETWORK_SIZES or _name(column) in ("JSON", "VECTOR"):
        return None
    code = column.type_code
    if code == WireType.STRING and column.metadata[:1] and column.metadata[0] in _MEMBER_METADATA:
        return _clip_set if column.metadata[0] == WireType.SET else _clip_enum
    if code in _MOMENTS:
        return clip_moment
    if code in _CLOCKS:
        return clip_clock
    if code == WireType.STRING or code in _TEXTS:
        return clip_text
    if code in _BYTES:
        return _clip_integer
    return _CLIPPERS.get(code)


def leading_number(declared: Any) -> Decimal | None:
    """The number that text begins with, 0 if with none; numbers as they are; None for other things."""
    if isinstance(declared, (bool, int)):
        return Decimal(int(declared))
    if isinstance(declared, float):
        declared = repr(declared)
    if isinstance(declared, Decimal):
        declared = str(declared)
    if not isinstance(declared, str):
        return None
    match = _LEADING.match(declared)
    value = Decimal(match[1]) if match else Decimal(0)
    if not value or value.adjusted() < -_EXPONENT_LIMIT:
        return Decimal(0)
    if value.adjusted() > _EXPONENT_LIMIT:
        return Decimal(1).scaleb(_EXPONENT_LIMIT).copy_sign(value)
    return value


def _clip_integer(column: Column, declared: Any) -> int | None:
    exact = leading_number(declared)
    if exact is None:
        return None
    low, high = bounds(_BYTES[column.type_code], bool(column.unsigned))
    if column.unsigned and column.dialect.is_mariadb and isinstance(declared, str) and exact <= -_WORD:
        # Its reading of digits ends at 2^64 before it comes to the sign.
        return high
    return min(max(int(rounded(exact, 0)), low), high)


def _clip_decimal(column: Column, declared: Any) -> Decimal | None:
    exact = leading_number(declared)
    if exact is None:
        return None
    precision, scale = column.metadata
    if column.unsigned and exact < 0:
        return Decimal(0).scaleb(-scale, context=EXACT)
    result = rounded(exact, scale)
    largest = Decimal(10**precision - 1).scaleb(-scale, context=EXACT)
    return largest.copy_sign(result) if result.copy_abs() > largest else result


def _clip_float(column: Column, declared: Any) -> float | None:
    exact = leading_number(declared)
    if exact is None:
        return None
    if column.unsigned and exact < 0:
        return 0.0
    largest = _LARGEST_FLOAT if column.type_code == WireType.FLOAT else _LARGEST_DOUBLE
    facts = column.declared
    if facts is not None and facts.scale is not None:
        digits = facts.precision or 0
        largest = min(largest, 10.0 ** (digits - facts.scale) - 10.0**-facts.scale)
    value = min(max(float(exact), -largest), largest)
    try:
        return float(codec_for(column).accept(column, value))
    except ScenarioError:
        return to_float32(value) if column.type_code == WireType.FLOAT else value


def _clip_year(column: Column, declared: Any) -> int | None:
    if leading_number(declared) is None:
        return None
    if isinstance(declared, str):
        match = _LEADING.match(declared)
        if match is None:
            return 0
        if len(declared) != 4 or Decimal(match[1]).quantize(Decimal(1)):
            declared = match[1].lstrip("0") or "0"
        else:
            # The text of zero is 0000 if it has four characters, whichever they are, and else 2000.
            return 0
    try:
        return int(codec_for(column).accept(column, declared))
    except ScenarioError:
        return 0


def _clip_bit(column: Column, declared: Any) -> int | None:
    rest, whole = column.metadata
    largest = (1 << 8 * whole + rest) - 1
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if isinstance(declared, str):
        # To a server all text is bytes here; that of a number is the number only in declarations.
        data = utf8(declared)
    if data is not None:
        return min(int.from_bytes(data, "big"), largest)
    exact = leading_number(declared)
    if exact is None:
        return None
    if isinstance(declared, float):
        # A double becomes a signed number first.
        beyond = _WORD // 2 if column.dialect.is_mariadb else _WORD // 2 - 1
        value = beyond if declared >= _WORD // 2 else max(round(declared), -_WORD // 2)
    else:
        value = int(rounded(exact, 0))
        if exact < 0 and (isinstance(declared, Decimal) or value < -_WORD // 2):
            return 0
    return min(value % _WORD if value < 0 else value, largest)


def _clip_enum(column: Column, declared: Any) -> int | None:
    if isinstance(declared, (int, float, Decimal)):
        number = int(leading_number(declared) or 0)
        return number if 0 <= number <= len(column.members or ()) else 0
    text = text_of(column, declared)
    if text is None:
        return None
    place = find_member(column, text)
    return 0 if place is None else place + 1


def _clip_set(column: Column, declared: Any) -> int | None:
    mask = (1 << len(column.members or ())) - 1
    if isinstance(declared, (int, float, Decimal)):
        number = int(leading_number(declared) or 0)
        # A number that is no integer of 64 bits is made one.
        last = _WORD // 2 if isinstance(declared, float) else _WORD
        if number >= last:
            number = _WORD // 2 if column.dialect.is_mariadb else _WORD // 2 - 1
        return max(number, -_WORD // 2) & mask
    if isinstance(declared, (list, tuple, set, frozenset)):
        declared = ",".join(map(str, declared))
    text = text_of(column, declared)
    if text is None:
        return None
    places = find_members(column, text)
    if text.isascii() and text.isdigit() and places == [None]:
        # MySQL takes no number that has other bits; MariaDB drops these.
        return int(text) & mask if column.dialect.is_mariadb and int(text) < _WORD else 0
    bits = 0
    for place in places:
        bits |= 0 if place is None else 1 << place
    return bits


_CLIPPERS: dict[int, Callable[[Column, Any], Value | None]] = {
    WireType.FLOAT: _clip_float,
    WireType.DOUBLE: _clip_float,
    WireType.YEAR: _clip_year,
    WireType.BIT: _clip_bit,
    WireType.NEWDECIMAL: _clip_decimal,
}
