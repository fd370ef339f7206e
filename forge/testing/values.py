"""Hypothesis strategies for columns and the values that they hold, one a type family, aimed at boundaries.

``columns()`` draws a column of any family, ``values_for(column)`` a value that its codec encodes: the internal
values of forge.values.registry (exact text for temporal types, the bitmap of a SET).

>>> @given(columns().flatmap(lambda column: tuples(just(column), values_for(column))))
... def test_my_decoder(pair): ...
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache

from hypothesis import strategies as st

from forge.charsets import charset, collation
from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Column, Value
from forge.values.declaration.declare import MAX_CHAR, MAX_VARCHAR, column_for
from forge.values.declaration.sqltype import SqlType
from forge.values.numeric.floats import to_float32
from forge.values.numeric.integers import bounds
from forge.values.registry import codec_for
from forge.values.temporal.text import MAX_FSP, MAX_HOUR, days_of, fraction_text
from forge.values.text.column_charset import BINARY_COLLATION, charset_of
from forge.values.text.strings import BLOB_CODEC, CHAR, VARCHAR_CODEC, unfolded_length
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


def columns() -> st.SearchStrategy[Column]:
    """A column of any family of this module."""
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
    )


def columns_with_values() -> st.SearchStrategy[tuple[Column, Value]]:
    return columns().flatmap(lambda column: st.tuples(st.just(column), values_for(column)))


def values_for(column: Column) -> st.SearchStrategy[Value]:
    """Values that the column's codec encodes, its boundaries among them.

    Raises UnsupportedError for a family without a strategy here.
    """
    codec = codec_for(column)
    make = _VALUES.get(column.type_code)
    if column.type_code == WireType.STRING and codec is not CHAR:
        make = _member_values
    if make is None:
        raise UnsupportedError(f"no strategy for values of {codec.type_name(column)}")
    return make(column)


def _integer_values(column: Column) -> st.SearchStrategy[int]:
    low, high = bounds(codec_for(column).width(column, bytes(8), 0), bool(column.unsigned))
    near = (low, low + 1, -1, 0, 1, 127, 128, 255, 256, high - 1, high)
    return st.one_of(st.integers(low, high), st.sampled_from([value for value in near if low <= value <= high]))


def _float_values(column: Column) -> st.SearchStrategy[float]:
    single = column.type_code == WireType.FLOAT
    least = 0.0 if column.unsigned else None
    near = [0.0, -0.0, 0.1, 1.5, -2.25, 1e14, 1e15, 1e16, 1234567890123456.8, 1e-14, 1e-15, 1e-16]
    extreme = [3.4028234663852886e38, 1.401298464324817e-45] if single else [1.7976931348623157e308, 5e-324]
    chosen = [to_float32(value) if single else value for value in (*near, *extreme)]
    drawn = st.floats(min_value=least, allow_nan=False, allow_infinity=False, width=32 if single else 64)
    return st.one_of(drawn, st.sampled_from([value for value in chosen if least is None or value >= 0]))


def _decimal_values(column: Column) -> st.SearchStrategy[Decimal]:
    precision, scale = column.metadata
    largest = 10**precision - 1
    near = (0, 1, -1, largest, -largest, 10 ** (precision // 2), -(10**scale) // 2)
    unscaled = st.one_of(st.integers(-largest, largest), st.sampled_from([v for v in near if abs(v) <= largest]))
    return unscaled.map(lambda number: _scaled(number, scale))


def _scaled(number: int, scale: int) -> Decimal:
    return Decimal((int(number < 0), tuple(int(digit) for digit in str(abs(number))), -scale))


def _bit_values(column: Column) -> st.SearchStrategy[int]:
    bits = 8 * column.metadata[1] + column.metadata[0]
    return st.one_of(st.integers(0, (1 << bits) - 1), st.sampled_from((0, 1, (1 << bits) - 1, 1 << bits - 1)))


def _year_values(column: Column) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(1901, 2155), st.sampled_from((0, 1901, 2155)))


def _micros(fsp: int) -> st.SearchStrategy[str]:
    """Fractions with ``fsp`` digits, as text with the point."""
    unit = 10 ** (MAX_FSP - fsp)
    near = st.sampled_from((0, unit % 1_000_000, 1_000_000 - unit))
    drawn = st.integers(0, 10**fsp - 1).map(lambda units: units * unit)
    return st.one_of(drawn, near).map(lambda micro: fraction_text(micro, fsp))


def _fsp_of(column: Column) -> int:
    if column.metadata:
        return column.metadata[0]
    return column.declared.fsp if column.declared is not None else 0


@st.composite
def _dates(draw: st.DrawFn) -> str:
    year = draw(st.one_of(st.integers(1, 9999), st.sampled_from((1, 1970, 2000, 2024, 2038, 2100, 9999))))
    month = draw(st.integers(1, 12))
    day = draw(st.one_of(st.integers(1, days_of(year, month)), st.just(days_of(year, month))))
    return f"{year:04d}-{month:02d}-{day:02d}"


def _date_values(column: Column) -> st.SearchStrategy[str]:
    near = ("0000-00-00", "2024-00-00", "2024-05-00", "2024-00-07", "0000-01-01", "9999-12-31", "2024-02-29")
    return st.one_of(_dates(), st.sampled_from(near))


def _clocks(last_hour: int) -> st.SearchStrategy[str]:
    hours = st.one_of(st.integers(0, last_hour), st.sampled_from((0, last_hour)))
    minutes = st.one_of(st.integers(0, 59), st.sampled_from((0, 59)))
    return st.builds("{:02d}:{:02d}:{:02d}".format, hours, minutes, minutes)


def _time_values(column: Column) -> st.SearchStrategy[str]:
    fsp = _fsp_of(column)

    def signed(parts: tuple[bool, str, str]) -> str:
        negative, clock, fraction = parts
        return "-" * (negative and (clock + fraction).strip("0:.") != "") + clock + fraction

    return st.tuples(st.booleans(), _clocks(MAX_HOUR), _micros(fsp)).map(signed)


def _datetime_values(column: Column) -> st.SearchStrategy[str]:
    fsp = _fsp_of(column)
    drawn = st.builds("{} {}{}".format, _date_values(column), _clocks(23), _micros(fsp))
    return st.one_of(drawn, st.just(f"0000-00-00 00:00:00{fraction_text(0, fsp)}"))


def _timestamp_values(column: Column) -> st.SearchStrategy[str]:
    from forge.values.temporal.current import timestamp_text

    fsp = _fsp_of(column)
    near = st.sampled_from((1, 86399, 86400, 2**31 - 1))
    seconds = st.one_of(st.integers(1, 2**31 - 1), near)
    drawn = st.builds(lambda second, micro: timestamp_text(second, 0, 0) + micro, seconds, _micros(fsp))
    return st.one_of(drawn, st.just(timestamp_text(0, 0, fsp)))


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
    known = charset_of(column)
    if known is None:
        lengths = [edge for edge in _EDGES if edge <= limit]
        repeated = st.builds(bytes.__mul__, st.binary(min_size=1, max_size=1), st.sampled_from(lengths))
        return st.one_of(st.binary(max_size=min(limit, _SHORT)), repeated)
    most = limit // known.max_length if characters is None else characters
    alphabet = st.sampled_from(_alphabet(known.name))
    lengths = [edge for edge in _EDGES if edge <= most]
    repeated_text = st.builds(str.__mul__, alphabet, st.sampled_from(lengths))
    return st.one_of(st.text(alphabet, max_size=min(most, _SHORT)), repeated_text)


def _char_values(column: Column) -> st.SearchStrategy[str | bytes]:
    limit = unfolded_length(column.metadata)
    drawn = _text_values(column, CHAR.characters(column), limit)
    if column.collation == BINARY_COLLATION:
        return drawn.map(lambda value: bytes(value).ljust(limit, b"\0") if isinstance(value, bytes) else value)
    return drawn.map(lambda value: value.rstrip(" ") if isinstance(value, str) else value)


def _varchar_values(column: Column) -> st.SearchStrategy[str | bytes]:
    return _text_values(column, VARCHAR_CODEC.characters(column), VARCHAR_CODEC.limit(column))


def _blob_values(column: Column) -> st.SearchStrategy[str | bytes]:
    return _text_values(column, None, BLOB_CODEC.limit(column))


def _compressed_varchar_values(column: Column) -> st.SearchStrategy[str | bytes]:
    return _text_values(column, None, int.from_bytes(column.metadata, "little") - 1)


def _member_values(column: Column) -> st.SearchStrategy[int]:
    count = len(column.members or ())
    if column.metadata[0] == WireType.ENUM:
        return st.one_of(st.integers(0, count), st.sampled_from((0, 1, count)))
    return st.one_of(st.integers(0, (1 << count) - 1), st.sampled_from((0, 1, (1 << count) - 1, 1 << count - 1)))


_VALUES: dict[int, Callable[[Column], st.SearchStrategy[Value]]] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), _integer_values),
    **dict.fromkeys((WireType.FLOAT, WireType.DOUBLE), _float_values),
    WireType.NEWDECIMAL: _decimal_values,
    WireType.BIT: _bit_values,
    WireType.YEAR: _year_values,
    **dict.fromkeys((WireType.DATE, WireType.NEWDATE), _date_values),
    **dict.fromkeys((WireType.TIME, WireType.TIME2), _time_values),
    **dict.fromkeys((WireType.DATETIME, WireType.DATETIME2), _datetime_values),
    **dict.fromkeys((WireType.TIMESTAMP, WireType.TIMESTAMP2), _timestamp_values),
    WireType.STRING: _char_values,
    **dict.fromkeys((WireType.VARCHAR, WireType.VAR_STRING), _varchar_values),
    **dict.fromkeys((WireType.BLOB, WireType.BLOB_COMPRESSED), _blob_values),
    WireType.VARCHAR_COMPRESSED: _compressed_varchar_values,
}
