"""Hypothesis strategies for columns and the values that they hold, aimed at boundaries.

``columns()`` draws a column of any type, ``values_for(column)`` a value that its codec encodes: the internal
values of forge.values.registry (exact text for temporal types, the bitmap of a SET).  A type that has no strategy here
is drawn from what it says of itself: ``ColumnType.examples`` and ``Codec.examples``.

>>> @given(columns().flatmap(lambda column: tuples(just(column), values_for(column))))
... def test_my_decoder(pair): ...
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Literal

from hypothesis import strategies as st

from forge.charsets import charset, collation
from forge.errors import ScenarioError, UnsupportedError
from forge.testing.documents import geometries, json_documents, vectors
from forge.values.base import Column, Value
from forge.values.declaration.sqltype import SqlType
from forge.values.numeric.bits import BIT
from forge.values.numeric.integers import INTEGER, bounds
from forge.values.registry import codec_for, column_for, column_types, metadata_space
from forge.values.temporal.codec import fraction_digits
from forge.values.temporal.current import timestamp_text
from forge.values.temporal.text import MAX_FSP, MAX_HOUR, days_of, fraction_text
from forge.values.text.column_charset import BINARY_COLLATION, charset_of
from forge.values.text.strings import TextCodec
from forge.values.text.types import MAX_CHAR, MAX_VARCHAR
from forge.values.wire_types import WireType

#: Collations of the character sets by kind: one byte, several, two at least, four, binary.
_COLLATIONS = ("utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci", "ascii_general_ci", "utf8mb3_general_ci",
               "gbk_chinese_ci", "ucs2_general_ci", "utf16le_general_ci", "utf32_general_ci", "binary")  # fmt: skip
#: Longest text that is drawn; lengths at which prefixes change are hit by repeating a character.
_SHORT = 12
_EDGES = (0, 1, 63, 64, 127, 128, 250, 251, 254, 255, 256, 257, 65535, 65536)


def _declared(sql_type: st.SearchStrategy[SqlType], server: str = "mysql") -> st.SearchStrategy[Column]:
    return sql_type.map(lambda declared: column_for(declared, server=server))


def integer_columns() -> st.SearchStrategy[Column]:
    names = st.sampled_from(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"))
    return _declared(st.builds(SqlType, name=names, unsigned=st.booleans()))


def float_columns() -> st.SearchStrategy[Column]:
    return _declared(st.builds(SqlType, name=st.sampled_from(("FLOAT", "DOUBLE")), unsigned=st.booleans()))


def decimal_columns() -> st.SearchStrategy[Column]:
    precisions = st.one_of(st.integers(1, 65), st.sampled_from((1, 8, 9, 10, 18, 19, 30, 65)))

    def scaled(precision: int) -> st.SearchStrategy[SqlType]:
        most = min(precision, 30)
        scales = st.one_of(st.integers(0, most), st.sampled_from((0, most)))
        return st.builds(SqlType, name=st.just("DECIMAL"), precision=st.just(precision), scale=scales)

    return _declared(precisions.flatmap(scaled))


def bit_columns() -> st.SearchStrategy[Column]:
    lengths = st.one_of(st.integers(1, 64), st.sampled_from((1, 7, 8, 9, 63, 64)))
    return _declared(st.builds(SqlType, name=st.just("BIT"), length=lengths))


def temporal_columns() -> st.SearchStrategy[Column]:
    """YEAR, MariaDB's YEAR(2), DATE, and TIME, DATETIME, TIMESTAMP with every fsp."""
    plain = st.builds(SqlType, name=st.sampled_from(("YEAR", "DATE")))
    names = st.sampled_from(("TIME", "DATETIME", "TIMESTAMP"))
    short = _declared(st.just(SqlType("YEAR", length=2)), "mariadb")
    return st.one_of(short, _declared(st.one_of(plain, st.builds(SqlType, name=names, fsp=st.integers(0, MAX_FSP)))))


def old_temporal_columns() -> st.SearchStrategy[Column]:
    """TIME, DATETIME, TIMESTAMP of servers before 5.6, with MariaDB's fractional forms."""
    names = st.sampled_from(("TIME", "DATETIME", "TIMESTAMP"))
    declared = st.builds(SqlType, name=names, fsp=st.integers(0, MAX_FSP))
    return declared.map(lambda sql_type: column_for(sql_type, server="mariadb", temporals="old"))


def string_columns() -> st.SearchStrategy[Column]:
    """CHAR, VARCHAR, BINARY, VARBINARY, around the lengths where their prefixes change."""

    @st.composite
    def draw_type(draw: st.DrawFn) -> SqlType:
        collated = collation(draw(st.sampled_from(_COLLATIONS)))
        per_character = charset(collated.charset).max_length
        fixed = draw(st.booleans())
        most = MAX_CHAR if fixed else MAX_VARCHAR // per_character
        edges = [bytes_ // per_character + extra for bytes_ in (0, 255, 256, 511, 767, 1020) for extra in (0, 1)]
        length = draw(st.one_of(st.integers(0, most), st.sampled_from([edge for edge in edges if edge <= most])))
        return SqlType("CHAR" if fixed else "VARCHAR", length=length, collation=collated.id)

    return _declared(draw_type())


def blob_columns() -> st.SearchStrategy[Column]:
    names = st.builds(str.__add__, st.sampled_from(("TINY", "", "MEDIUM", "LONG")), st.sampled_from(("BLOB", "TEXT")))
    collations = st.sampled_from(_COLLATIONS).map(lambda name: collation(name).id)
    return _declared(st.builds(SqlType, name=names, collation=collations))


def compressed_columns() -> st.SearchStrategy[Column]:
    """MariaDB's COMPRESSED columns."""
    sized = st.builds(SqlType, name=st.just("VARBINARY"), length=st.integers(1, 1000), compressed=st.just(True))
    names = st.sampled_from(("BLOB", "MEDIUMTEXT", "LONGBLOB"))
    return _declared(st.one_of(sized, st.builds(SqlType, name=names, compressed=st.just(True))), "mariadb")


def member_columns() -> st.SearchStrategy[Column]:
    """ENUM and SET, around the numbers of members where their sizes change."""
    sets = st.sampled_from((1, 2, 8, 9, 16, 17, 24, 25, 32, 33, 63, 64)).map(lambda count: ("SET", count))
    enums = st.sampled_from((1, 2, 255, 256, 300)).map(lambda count: ("ENUM", count))

    def named(kind: tuple[str, int]) -> SqlType:
        name, count = kind
        return SqlType(name, members=tuple(f"m{place}" for place in range(count)), collation=255)

    return _declared(st.one_of(sets, enums).map(named))


def declared_examples() -> st.SearchStrategy[Column]:
    """The columns that every type of MySQL names as examples of itself."""
    examples = [example for sql_type in column_types().values() for example in sql_type.examples]
    return _declared(st.sampled_from(examples))


def columns() -> st.SearchStrategy[Column]:
    """A column of any type."""
    return st.one_of(
        integer_columns(),
        float_columns(),
        decimal_columns(),
        bit_columns(),
        temporal_columns(),
        old_temporal_columns(),
        string_columns(),
        blob_columns(),
        compressed_columns(),
        member_columns(),
        declared_examples(),
    )


def columns_with_values() -> st.SearchStrategy[tuple[Column, Value]]:
    return columns().flatmap(lambda column: st.tuples(st.just(column), values_for(column)))


def values_for(column: Column) -> st.SearchStrategy[Value]:
    """Values that the column's codec encodes, its examples among them.

    Raises UnsupportedError for a type with neither examples nor a strategy here.
    """
    codec = codec_for(column)
    drawing = _DRAWN.get(metadata_space(column) or "") if column.type_code == WireType.STRING else None
    drawing = drawing or _VALUES.get(column.type_code)
    examples = codec.examples(column)
    if drawing is None and not examples:
        raise UnsupportedError(f"no strategy for values of {codec.type_name(column)}")
    chosen = [st.sampled_from(examples)] if examples else []
    return st.one_of(*chosen, *([drawing(column)] if drawing is not None else []))


def _integer_values(column: Column) -> st.SearchStrategy[int]:
    return st.integers(*bounds(INTEGER.size(column), bool(column.unsigned)))


def _float_values(column: Column) -> st.SearchStrategy[float]:
    least = 0.0 if column.unsigned else None
    width: Literal[32, 64] = 32 if column.type_code == WireType.FLOAT else 64
    return st.floats(min_value=least, allow_nan=False, allow_infinity=False, width=width)


def _decimal_values(column: Column) -> st.SearchStrategy[Decimal]:
    precision, scale = column.metadata
    largest = 10**precision - 1
    return st.integers(-largest, largest).map(lambda number: _scaled(number, scale))


def _scaled(number: int, scale: int) -> Decimal:
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -scale))


def _bit_values(column: Column) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << BIT.bits(column)) - 1)


def _year_values(column: Column) -> st.SearchStrategy[int]:
    return st.integers(1901, 2155)


def _micros(fsp: int) -> st.SearchStrategy[str]:
    """Fractions with ``fsp`` digits, as text with the point."""
    unit = 10 ** (MAX_FSP - fsp)
    near = st.sampled_from((0, unit % 1_000_000, 1_000_000 - unit))
    drawn = st.integers(0, 10**fsp - 1).map(lambda units: units * unit)
    return st.one_of(drawn, near).map(lambda micro: fraction_text(micro, fsp))


@st.composite
def _dates(draw: st.DrawFn) -> str:
    year = draw(st.one_of(st.integers(1, 9999), st.sampled_from((1, 1970, 2000, 2024, 2038, 2100, 9999))))
    month = draw(st.integers(1, 12))
    day = draw(st.one_of(st.integers(1, days_of(year, month)), st.just(days_of(year, month))))
    return f"{year:04d}-{month:02d}-{day:02d}"


def _date_values(column: Column) -> st.SearchStrategy[str]:
    return _dates()


def _clocks(last_hour: int) -> st.SearchStrategy[str]:
    hours = st.one_of(st.integers(0, last_hour), st.sampled_from((0, last_hour)))
    minutes = st.one_of(st.integers(0, 59), st.sampled_from((0, 59)))
    return st.builds("{:02d}:{:02d}:{:02d}".format, hours, minutes, minutes)


def _time_values(column: Column) -> st.SearchStrategy[str]:
    fsp = fraction_digits(column)

    def signed(parts: tuple[bool, str, str]) -> str:
        negative, clock, fraction = parts
        return "-" * (negative and (clock + fraction).strip("0:.") != "") + clock + fraction

    return st.tuples(st.booleans(), _clocks(MAX_HOUR), _micros(fsp)).map(signed)


def _datetime_values(column: Column) -> st.SearchStrategy[str]:
    fsp = fraction_digits(column)
    return st.builds("{} {}{}".format, _dates(), _clocks(23), _micros(fsp))


def _timestamp_values(column: Column) -> st.SearchStrategy[str]:
    fsp = fraction_digits(column)
    seconds = st.integers(1, 2**31 - 1)
    return st.builds(lambda second, micro: timestamp_text(second, 0, 0) + micro, seconds, _micros(fsp))


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


def _text_values(column: Column, characters: int | None, limit: int) -> st.SearchStrategy[str | bytes]:
    character_set = charset_of(column)
    if character_set is None:
        lengths = [edge for edge in _EDGES if edge <= limit]
        repeated = st.builds(bytes.__mul__, st.binary(min_size=1, max_size=1), st.sampled_from(lengths))
        return st.one_of(st.binary(max_size=min(limit, _SHORT)), repeated)
    most = limit // character_set.max_length if characters is None else characters
    alphabet = st.sampled_from(_alphabet(character_set.name))
    lengths = [edge for edge in _EDGES if edge <= most]
    repeated_text = st.builds(str.__mul__, alphabet, st.sampled_from(lengths))
    return st.one_of(st.text(alphabet, max_size=min(most, _SHORT)), repeated_text)


def _string_values(column: Column) -> st.SearchStrategy[str | bytes]:
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    limit = codec.limit(column)
    drawn = _text_values(column, codec.characters(column), limit)
    if column.type_code != WireType.STRING:
        return drawn
    if column.collation == BINARY_COLLATION:
        return drawn.map(lambda value: bytes(value).ljust(limit, b"\0") if isinstance(value, bytes) else value)
    return drawn.map(lambda value: value.rstrip(" ") if isinstance(value, str) else value)


def _enum_values(column: Column) -> st.SearchStrategy[int]:
    return st.integers(0, len(column.members or ()))


def _set_values(column: Column) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << len(column.members or ())) - 1)


_Drawing = Callable[[Column], st.SearchStrategy[Value]]
_DRAWN: dict[str, _Drawing] = {"enum": _enum_values, "set": _set_values}
_VALUES: dict[int, _Drawing] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), _integer_values),
    **dict.fromkeys((WireType.FLOAT, WireType.DOUBLE), _float_values),
    WireType.NEWDECIMAL: _decimal_values,
    WireType.BIT: _bit_values,
    WireType.YEAR: _year_values,
    **dict.fromkeys((WireType.DATE, WireType.NEWDATE), _date_values),
    **dict.fromkeys((WireType.TIME, WireType.TIME2), _time_values),
    **dict.fromkeys((WireType.DATETIME, WireType.DATETIME2), _datetime_values),
    **dict.fromkeys((WireType.TIMESTAMP, WireType.TIMESTAMP2), _timestamp_values),
    **dict.fromkeys(
        (
            WireType.STRING,
            WireType.VARCHAR,
            WireType.VAR_STRING,
            WireType.BLOB,
            WireType.BLOB_COMPRESSED,
            WireType.VARCHAR_COMPRESSED,
        ),
        _string_values,
    ),
    WireType.JSON: lambda column: json_documents(),
    WireType.GEOMETRY: lambda column: geometries(),
    WireType.VECTOR: lambda column: vectors(),
}
