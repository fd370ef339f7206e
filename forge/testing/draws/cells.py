"""Values that columns hold, aimed at boundaries: the internal ones of forge.values.registry."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache

from forge.charsets import charset
from forge.errors import ScenarioError, UnsupportedError
from forge.testing.draws.documents import geometry, json_document, vector
from forge.testing.draws.source import Source, Width
from forge.values.base import Column, Value
from forge.values.numeric.bits import BIT
from forge.values.numeric.integers import INTEGER, bounds
from forge.values.registry import codec_for, metadata_space
from forge.values.temporal.codec import fraction_digits
from forge.values.temporal.current import timestamp_text
from forge.values.temporal.text import MAX_FSP, MAX_HOUR, days_of, fraction_text
from forge.values.text.column_charset import BINARY_COLLATION, charset_of
from forge.values.text.strings import TextCodec
from forge.values.wire_types import WireType

#: Longest text that is drawn; lengths at which prefixes change are hit by repeating a character.
_SHORT = 12
_EDGES = (0, 1, 63, 64, 127, 128, 250, 251, 254, 255, 256, 257, 65535, 65536)


def value_of(source: Source, column: Column, longest: int = _EDGES[-1]) -> Value:
    """A value that the column's codec encodes, the examples of the codec among them; text up to ``longest``.

    Raises UnsupportedError for a type with neither examples nor a function here.
    """
    codec = codec_for(column)
    drawing = _DRAWN.get(metadata_space(column) or "") if column.type_code == WireType.STRING else None
    drawing = drawing or _VALUES.get(column.type_code)
    examples = codec.examples(column)
    if drawing is None and not examples:
        raise UnsupportedError(f"nothing draws values of {codec.type_name(column)}")
    whole = source.shrinks and drawing in _WHOLE_RANGE
    if examples and (drawing is None or (not whole and source.truth())):
        return source.one_of(examples)
    assert drawing is not None
    if drawing is _string:
        return _string(source, column, longest)
    return drawing(source, column)


def _integer(source: Source, column: Column) -> int:
    return source.integer(*bounds(INTEGER.size(column), bool(column.unsigned)))


def _float(source: Source, column: Column) -> float:
    width: Width = 32 if column.type_code == WireType.FLOAT else 64
    return source.real(width, 0.0 if column.unsigned else None)


def _decimal(source: Source, column: Column) -> Decimal:
    precision, scale = column.metadata
    largest = 10**precision - 1
    number = source.integer(-largest, largest)
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -scale))


def _bit(source: Source, column: Column) -> int:
    return source.integer(0, (1 << BIT.bits(column)) - 1)


def _year(source: Source, column: Column) -> int:
    return source.integer(1901, 2155)


def _micros(source: Source, fsp: int) -> str:
    """A fraction with ``fsp`` digits, as text with the point."""
    unit = 10 ** (MAX_FSP - fsp)
    near = (0, unit % 1_000_000, 1_000_000 - unit)
    micro = source.one_of(near) if source.truth() else source.integer(0, 10**fsp - 1) * unit
    return fraction_text(micro, fsp)


def _date(source: Source, column: Column | None = None) -> str:
    year = source.one_of((1, 1970, 2000, 2024, 2038, 2100, 9999)) if source.truth() else source.integer(1, 9999)
    month = source.integer(1, 12)
    last = days_of(year, month)
    day = last if source.truth() else source.integer(1, last)
    return f"{year:04d}-{month:02d}-{day:02d}"


def _clock(source: Source, last_hour: int) -> str:
    ends = (last_hour, 59, 59)
    hour, minute, second = (source.one_of((0, end)) if source.truth() else source.integer(0, end) for end in ends)
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def _time(source: Source, column: Column) -> str:
    negative = source.truth()
    text = _clock(source, MAX_HOUR) + _micros(source, fraction_digits(column))
    return "-" * (negative and text.strip("0:.") != "") + text


def _datetime(source: Source, column: Column) -> str:
    return f"{_date(source)} {_clock(source, 23)}{_micros(source, fraction_digits(column))}"


def _timestamp(source: Source, column: Column) -> str:
    return timestamp_text(source.integer(1, 2**31 - 1), 0, 0) + _micros(source, fraction_digits(column))


@cache
def _alphabet(name: str) -> tuple[str, ...]:
    """Characters of a character set: ASCII, and some of Latin, Greek, Cyrillic, kana, ideographs and emoji."""
    chosen = []
    for code in (*range(0x180), *range(0x390, 0x450), *range(0x3040, 0x3060), *range(0x4E00, 0x4E20), 0x20AC, 0x1F600):
        try:
            charset(name).encode(chr(code))
        except ScenarioError:
            continue
        chosen.append(chr(code))
    return tuple(chosen)


def _text(source: Source, column: Column, characters: int | None, limit: int, longest: int) -> str | bytes:
    character_set = charset_of(column)
    if character_set is None:
        if source.truth():
            return source.binary(min(limit, _SHORT))
        most = min(limit, longest)
        return source.binary(1, 1) * source.one_of([edge for edge in _EDGES if edge <= most])
    most = limit // character_set.max_length if characters is None else characters
    alphabet = _alphabet(character_set.name)
    if source.truth():
        return source.text(min(most, _SHORT), alphabet)
    most = min(most, longest)
    return source.one_of(alphabet) * source.one_of([edge for edge in _EDGES if edge <= most])


def _string(source: Source, column: Column, longest: int = _EDGES[-1]) -> str | bytes:
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    limit = codec.limit(column)
    drawn = _text(source, column, codec.characters(column), limit, longest)
    if column.type_code != WireType.STRING:
        return drawn
    if isinstance(drawn, bytes):
        return drawn.ljust(limit, b"\0") if column.collation == BINARY_COLLATION else drawn
    return drawn if column.collation == BINARY_COLLATION else drawn.rstrip(" ")


def _enum(source: Source, column: Column) -> int:
    return source.integer(0, len(column.members or ()))


def _set(source: Source, column: Column) -> int:
    return source.integer(0, (1 << len(column.members or ())) - 1)


_Drawing = Callable[[Source, Column], Value]
#: What draws every value that the column has, the ends of its range among them.
_WHOLE_RANGE: tuple[_Drawing, ...] = (_integer, _float, _decimal, _bit, _set)
_DRAWN: dict[str, _Drawing] = {"enum": _enum, "set": _set}
_VALUES: dict[int, _Drawing] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), _integer),
    **dict.fromkeys((WireType.FLOAT, WireType.DOUBLE), _float),
    WireType.NEWDECIMAL: _decimal,
    WireType.BIT: _bit,
    WireType.YEAR: _year,
    **dict.fromkeys((WireType.DATE, WireType.NEWDATE), _date),
    **dict.fromkeys((WireType.TIME, WireType.TIME2), _time),
    **dict.fromkeys((WireType.DATETIME, WireType.DATETIME2), _datetime),
    **dict.fromkeys((WireType.TIMESTAMP, WireType.TIMESTAMP2), _timestamp),
    **dict.fromkeys(
        (
            WireType.STRING,
            WireType.VARCHAR,
            WireType.VAR_STRING,
            WireType.BLOB,
            WireType.BLOB_COMPRESSED,
            WireType.VARCHAR_COMPRESSED,
        ),
        _string,
    ),
    WireType.JSON: lambda source, column: json_document(source),
    WireType.GEOMETRY: lambda source, column: geometry(source),
    WireType.VECTOR: lambda source, column: vector(source),
}
