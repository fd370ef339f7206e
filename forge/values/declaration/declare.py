"""SQL type -> wire type and metadata: what a server puts into TABLE_MAP for a declared column (rows.md 1.7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from forge.charsets import Charset, charset, collation, compare_key
from forge.errors import ScenarioError, nearest
from forge.values.base import Column
from forge.values.declaration.mariadb_types import NETWORK_SIZES
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import Dialect, dialect_of
from forge.values.numeric.decimals import MAX_PRECISION
from forge.values.temporal.text import MAX_FSP
from forge.values.text.column_charset import BINARY_COLLATION, utf8
from forge.values.text.enums import SET_SIZES
from forge.values.text.strings import folded_metadata
from forge.values.wire_types import WireType

Temporals = Literal["new", "old"]

#: The collation of character types that name none: utf8mb4_0900_ai_ci, MySQL 8's default.
DEFAULT_COLLATION = 255
UTF8MB4_BIN = 46
#: Bytes of the longest VARCHAR on MySQL.
MAX_VARCHAR = 65535
MAX_CHAR = 255
#: Fraction digits of FLOAT(M,D) and DOUBLE(M,D).
MAX_FLOAT_SCALE = 30
MAX_ENUM_MEMBERS = 65535
MAX_MEMBER_CHARACTERS = 255
DEFAULT_DIMENSIONS, MAX_DIMENSIONS = 2048, 16383

_INTEGERS = {
    "TINYINT": WireType.TINY,
    "SMALLINT": WireType.SHORT,
    "MEDIUMINT": WireType.INT24,
    "INT": WireType.LONG,
    "BIGINT": WireType.LONGLONG,
}
#: Type codes with fsp, and of servers before 5.6 (MariaDB: with mysql56_temporal_format=OFF).
_FRACTIONAL = {
    "TIME": (WireType.TIME2, WireType.TIME),
    "DATETIME": (WireType.DATETIME2, WireType.DATETIME),
    "TIMESTAMP": (WireType.TIMESTAMP2, WireType.TIMESTAMP),
}
_LOB_SIZES = {"TINY": 1, "": 2, "MEDIUM": 3, "LONG": 4}
_LOBS = {f"{size}{kind}": (length, kind) for size, length in _LOB_SIZES.items() for kind in ("BLOB", "TEXT")}
_GEOMETRIES = {
    "GEOMETRY": 0,
    "POINT": 1,
    "LINESTRING": 2,
    "POLYGON": 3,
    "MULTIPOINT": 4,
    "MULTILINESTRING": 5,
    "MULTIPOLYGON": 6,
    "GEOMETRYCOLLECTION": 7,
}  # fmt: skip


def column_for(
    sql_type: SqlType,
    *,
    name: str | None = None,
    nullable: bool = True,
    server: str = "mysql",
    temporals: Temporals = "new",
) -> Column:
    """The column that a server logs for a declared type, with all facts that optional metadata can tell.

    ``server`` is a family or line such as "mariadb-11.8": MariaDB stores JSON as LONGTEXT and VECTOR as VARBINARY, and
    takes some values otherwise (forge.values.dialect).
    ``temporals="old"`` gives the TIME, DATETIME and TIMESTAMP of servers before 5.6.
    Raises ScenarioError for a type that no server has and for arguments that it refuses.
    """
    maker = _MAKERS.get(sql_type.name)
    if maker is None:
        suggestion = nearest(sql_type.name, _MAKERS)
        raise ScenarioError(f"unknown column type {sql_type.name!r}", suggestion=suggestion)
    dialect = dialect_of(server)
    column = maker(sql_type, dialect, temporals)
    return replace(column, name=name, nullable=nullable, declared=sql_type, dialect=dialect)


def _integer(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(_INTEGERS[sql_type.name], unsigned=sql_type.unsigned or sql_type.zerofill)


def _float(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    precision, scale = sql_type.precision, sql_type.scale
    if scale is not None:
        _within("scale", sql_type, scale, 0, MAX_FLOAT_SCALE)
        _within("precision", sql_type, precision or 0, max(scale, 1), 255)
    code, size = (WireType.FLOAT, 4) if sql_type.name == "FLOAT" else (WireType.DOUBLE, 8)
    return Column(code, bytes([size]), unsigned=sql_type.unsigned or sql_type.zerofill)


def _decimal(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    precision = 10 if sql_type.precision is None else sql_type.precision
    scale = sql_type.scale or 0
    # DECIMAL(0) is DECIMAL(10): a server reads no precision and precision 0 alike.
    precision = 10 if precision == 0 and scale == 0 else precision
    _within("scale", sql_type, scale, 0, dialect.max_scale)
    _within("precision", sql_type, precision, max(scale, 1), MAX_PRECISION)
    return Column(WireType.NEWDECIMAL, bytes([precision, scale]), unsigned=sql_type.unsigned or sql_type.zerofill)


def _bit(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    bits = 1 if sql_type.length is None else sql_type.length
    if dialect.is_mariadb:
        bits = bits or 1
    _within("length", sql_type, bits, 1, 64)
    return Column(WireType.BIT, bytes([bits % 8, bits // 8]))


def _year(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    # The server's YEAR fields are unsigned, and SIGNEDNESS says so (rows.md 2.3).
    return Column(WireType.YEAR, unsigned=True)


def _date(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(WireType.DATE)


def _fractional(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    _within("fractional seconds precision", sql_type, sql_type.fsp, 0, MAX_FSP)
    new, old = _FRACTIONAL[sql_type.name]
    return Column(old) if temporals == "old" else Column(new, bytes([sql_type.fsp]))


def _char(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, max_length = _collation_of(sql_type)
    length = 1 if sql_type.length is None else sql_type.length
    _within("length", sql_type, length, 0, MAX_CHAR, "use VARCHAR or TEXT for longer values")
    return Column(WireType.STRING, folded_metadata(length * max_length), collation=number)


def _varchar(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, max_length = _collation_of(sql_type)
    if sql_type.length is None:
        raise ScenarioError(f"{sql_type.name} needs a length", expected=f"{sql_type.name}(60)")
    longest = dialect.max_varchar // max_length
    _within("length", sql_type, sql_type.length, 0, longest, "use a TEXT or BLOB type for longer values")
    limit = sql_type.length * max_length
    if sql_type.compressed:
        # MariaDB counts the header byte of the compressed form.
        _within("length", sql_type, limit + 1, 1, dialect.max_varchar)
        return Column(WireType.VARCHAR_COMPRESSED, (limit + 1).to_bytes(2, "little"), collation=number)
    return Column(WireType.VARCHAR, limit.to_bytes(2, "little"), collation=number)


def _lob(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    size, _ = _LOBS[sql_type.name]
    number, max_length = _collation_of(sql_type)
    # TEXT(0) is the smallest type on MySQL, and as TEXT without a length on MariaDB (recorded).
    if sql_type.length is not None and (sql_type.length or not dialect.is_mariadb):
        # TEXT(n) and BLOB(n) become the smallest type of the family that holds n characters.
        longest = sql_type.length * max_length
        size = next((n for n in (1, 2, 3, 4) if longest < 1 << 8 * n), 0)
        _within("length", sql_type, longest, 0, (1 << 32) - 1)
    return Column(WireType.BLOB_COMPRESSED if sql_type.compressed else WireType.BLOB, bytes([size]), collation=number)


def _members(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, _ = _collation_of(sql_type)
    count, is_set = len(sql_type.members), sql_type.name == "SET"
    if not count:
        raise ScenarioError(f"{sql_type.name} needs at least one member", expected=f"{sql_type.name}('a','b')")
    most = 64 if is_set else MAX_ENUM_MEMBERS
    if count > most:
        raise ScenarioError(f"{sql_type.name} has {count} members", expected=f"at most {most}")
    encoded = []
    known = charset(collation(number).charset)
    for member in sql_type.members:
        # CREATE TABLE drops trailing spaces of members.
        kept = member if number == BINARY_COLLATION else member.rstrip(" ")
        if is_set and "," in kept:
            raise ScenarioError(f"a SET member cannot contain a comma: {member!r}")
        if len(kept) > MAX_MEMBER_CHARACTERS and not dialect.is_mariadb:
            raise ScenarioError(f"a member of {sql_type.name} has {len(kept)} characters", expected="at most 255")
        encoded.append(utf8(kept) if number == BINARY_COLLATION else _held(known, kept))
    _distinct(sql_type, number)
    size = next(n for top, n in SET_SIZES.items() if count <= top) if is_set else 1 + (count > 255)
    metadata = bytes([WireType.SET if is_set else WireType.ENUM, size])
    return Column(WireType.STRING, metadata, collation=number, members=tuple(encoded))


def _held(known: Charset, text: str) -> bytes:
    """A member's bytes; what the character set lacks is ``?``, as CREATE TABLE makes it in every mode."""
    try:
        return known.encode(text)
    except ScenarioError:
        return b"".join(map(known.encode_or_mark, text))


def _distinct(sql_type: SqlType, number: int) -> None:
    """Members must differ as the collation compares."""
    seen: dict[str, str] = {}
    for member in sql_type.members:
        kept = member.rstrip(" ")
        key = member if number == BINARY_COLLATION else compare_key(number, kept)
        if key in seen:
            raise ScenarioError(f"{sql_type.name} has the equal members {seen[key]!r} and {member!r}")
        seen[key] = member


def _json(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    if dialect.is_mariadb:
        return Column(WireType.BLOB, b"\x04", collation=UTF8MB4_BIN)
    return Column(WireType.JSON, b"\x04")


def _geometry(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    # MariaDB counts geometry columns as character columns of the binary collation.
    number = BINARY_COLLATION if dialect.is_mariadb else None
    return Column(WireType.GEOMETRY, b"\x04", collation=number, geometry_type=_GEOMETRIES[sql_type.name])


def _vector(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    dimensions = DEFAULT_DIMENSIONS if sql_type.length is None else sql_type.length
    # MySQL 9.7 takes VECTOR(0) for VECTOR(4294967295), which holds nothing but NULL: refused here.
    _within("dimension", sql_type, dimensions, 1, MAX_DIMENSIONS)
    if dialect.is_mariadb:
        if sql_type.length is None:
            raise ScenarioError("MariaDB's VECTOR needs a dimension", expected="VECTOR(3)")
        return Column(WireType.VARCHAR, (4 * dimensions).to_bytes(2, "little"), collation=BINARY_COLLATION)
    return Column(WireType.VECTOR, b"\x04", collation=BINARY_COLLATION, dimensions=dimensions)


def _network(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(WireType.STRING, folded_metadata(NETWORK_SIZES[sql_type.name]), collation=BINARY_COLLATION)


_Maker = Callable[[SqlType, Dialect, Temporals], Column]
_MAKERS: dict[str, _Maker] = {
    **dict.fromkeys(_INTEGERS, _integer),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _float),
    "DECIMAL": _decimal,
    "BIT": _bit,
    "YEAR": _year,
    "DATE": _date,
    **dict.fromkeys(_FRACTIONAL, _fractional),
    **dict.fromkeys(("CHAR", "BINARY"), _char),
    **dict.fromkeys(("VARCHAR", "VARBINARY"), _varchar),
    **dict.fromkeys(_LOBS, _lob),
    **dict.fromkeys(("ENUM", "SET"), _members),
    "JSON": _json,
    **dict.fromkeys(_GEOMETRIES, _geometry),
    "VECTOR": _vector,
    **dict.fromkeys(NETWORK_SIZES, _network),
}


def _collation_of(sql_type: SqlType) -> tuple[int, int]:
    """(collation id, bytes of the longest character)."""
    if sql_type.name.endswith(("BINARY", "BLOB")):
        return BINARY_COLLATION, 1
    number = DEFAULT_COLLATION if sql_type.collation is None else sql_type.collation
    return number, charset(collation(number).charset).max_length


def _within(what: str, sql_type: SqlType, value: int, low: int, high: int, advice: str | None = None) -> None:
    if not low <= value <= high:
        expected = f"{low} to {high}" + (f" ({advice})" if advice else "")
        raise ScenarioError(f"{sql_type.name} cannot have the {what} {value}", expected=expected)
