"""Column types, around the lengths and numbers at which their layouts change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from msgspec.structs import replace

from forge.charsets import charset, collation, default_collation
from forge.errors import ScenarioError, nearest
from forge.servers import server_line
from forge.testing.draws.source import Source
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import dialect_of
from forge.values.registry import column_types
from forge.values.temporal.text import MAX_FSP
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.text.types import MAX_CHAR, MAX_VARCHAR

#: Collations of the character sets by kind: one byte, several, two at least, four, binary.
_COLLATIONS = ("utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci", "ascii_general_ci", "utf8mb3_general_ci",
               "gbk_chinese_ci", "ucs2_general_ci", "utf16le_general_ci", "utf32_general_ci", "binary")  # fmt: skip
#: utf8mb4, latin1 and ascii, gbk, ucs2, binary: all can hold the members of ENUM and SET that are drawn.
_MEMBER_COLLATIONS = (255, 46, 8, 11, 28, 35, 63)
_INTEGERS = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_FRACTIONAL = ("TIME", "DATETIME", "TIMESTAMP")
_STRINGS = ("VARCHAR", "CHAR")
_WITH_MEMBERS = ("SET", "ENUM")
_SET_SIZES = (1, 2, 8, 9, 16, 17, 24, 25, 32, 33, 63, 64)
_ENUM_SIZES = (1, 2, 255, 256, 300)


def integer_type(source: Source, names: Sequence[str] = _INTEGERS) -> SqlType:
    # Down to BIGINT: what takes a row of some bytes is shown by one or two such columns, and not by many narrow ones.
    return SqlType(source.plainest(names), unsigned=source.truth())


def float_type(source: Source, names: Sequence[str] = _FLOATS) -> SqlType:
    return SqlType(source.one_of(names), unsigned=source.truth())


def decimal_type(source: Source) -> SqlType:
    precision = source.one_of((1, 8, 9, 10, 18, 19, 30, 65)) if source.truth() else source.integer(1, 65)
    most = min(precision, 30)
    scale = source.one_of((0, most)) if source.truth() else source.integer(0, most)
    return SqlType("DECIMAL", precision=precision, scale=scale)


def bit_type(source: Source) -> SqlType:
    length = source.one_of((1, 7, 8, 9, 63, 64)) if source.truth() else source.integer(1, 64)
    return SqlType("BIT", length=length)


def temporal_type(source: Source) -> SqlType:
    """YEAR, DATE, and TIME, DATETIME, TIMESTAMP with every fsp."""
    if source.truth():
        return SqlType(source.one_of(("YEAR", "DATE")))
    return fractional_type(source)


def fractional_type(source: Source, names: Sequence[str] = _FRACTIONAL) -> SqlType:
    """TIME, DATETIME, TIMESTAMP."""
    return SqlType(source.one_of(names), fsp=source.integer(0, MAX_FSP))


def string_type(source: Source, names: Sequence[str] = _STRINGS) -> SqlType:
    """CHAR, VARCHAR, BINARY, VARBINARY, around the lengths where their prefixes change."""
    collated = collation(source.one_of(_COLLATIONS))
    per_character = charset(collated.charset).max_length
    fixed = source.one_of(names) == "CHAR"
    most = MAX_CHAR if fixed else MAX_VARCHAR // per_character
    near = [bytes_ // per_character + extra for bytes_ in (0, 255, 256, 511, 767, 1020) for extra in (0, 1)]
    edges = [edge for edge in near if edge <= most]
    length = source.one_of(edges) if source.truth() else source.integer(0, most)
    return SqlType("CHAR" if fixed else "VARCHAR", length=length, collation=collated.id)


def blob_type(source: Source) -> SqlType:
    name = source.one_of(("TINY", "", "MEDIUM", "LONG")) + source.one_of(("BLOB", "TEXT"))
    return SqlType(name, collation=collation(source.one_of(_COLLATIONS)).id)


def compressed_type(source: Source) -> SqlType:
    """MariaDB's COMPRESSED columns."""
    if source.truth():
        return SqlType("VARBINARY", length=source.integer(1, 1000), compressed=True)
    return SqlType(source.one_of(("BLOB", "MEDIUMTEXT", "LONGBLOB")), compressed=True)


def member_type(source: Source, names: Sequence[str] = _WITH_MEMBERS) -> SqlType:
    """ENUM and SET, around the numbers of members where their sizes change."""
    name = source.one_of(names)
    sizes = _SET_SIZES if name == "SET" else _ENUM_SIZES
    return SqlType(name, members=tuple(f"m{place}" for place in range(source.one_of(sizes))), collation=255)


def collated_member_type(source: Source, names: Sequence[str] = _WITH_MEMBERS) -> SqlType:
    """ENUM and SET in any character set."""
    return replace(member_type(source, names), collation=source.one_of(_MEMBER_COLLATIONS))


def example_type(source: Source, server: str) -> SqlType:
    """What the types that the line has name as examples of themselves."""
    return source.one_of(_examples(server))


@cache
def _examples(server: str) -> tuple[SqlType, ...]:
    line = server_line(server)
    return tuple(
        example
        for sql_type in column_types().values()
        if sql_type.facts.feature is None or line.knows(sql_type.facts.feature)
        for example in sql_type.examples
    )


_TYPES = (
    integer_type, float_type, decimal_type, bit_type, temporal_type, string_type, blob_type, collated_member_type,
)  # fmt: skip


def type_of(source: Source, server: str) -> SqlType:
    """A type that the server line knows."""
    compressed = server_line(server).knows("mariadb_compressed_columns")
    kind = source.integer(0, len(_TYPES) + compressed)
    if kind == len(_TYPES):
        drawn = example_type(source, server)
    elif kind > len(_TYPES):
        drawn = compressed_type(source)
    else:
        drawn = _TYPES[kind](source)
    return _within_row(drawn, server)


def type_named(source: Source, server: str, names: Sequence[str]) -> SqlType:
    """A type with one of these names, in upper case.  Raises ScenarioError for a name that no type has."""
    name = source.one_of(names)
    if name in _NAMED:
        return _within_row(_NAMED[name](source, (name,)), server)
    examples = [example for example in _examples(server) if example.name == name]
    if not examples:
        raise ScenarioError(
            f"{server} has no type {name!r}",
            suggestion=nearest(name, [*_NAMED, *(example.name for example in _examples(server))]),
        )
    return _within_row(source.one_of(examples), server)


def in_charset(source: Source, sql_type: SqlType, server: str, charsets: Sequence[str]) -> SqlType:
    """The type with one of these character sets, if it has one at all.  Raises ScenarioError if the line lacks it."""
    if sql_type.collation in (None, BINARY_COLLATION):
        return sql_type
    return replace(sql_type, collation=default_collation(source.one_of(charsets), server).id)


_NAMED: dict[str, Callable[[Source, Sequence[str]], SqlType]] = {
    **dict.fromkeys(_INTEGERS, integer_type),
    **dict.fromkeys(_FLOATS, float_type),
    **dict.fromkeys(_FRACTIONAL, fractional_type),
    **dict.fromkeys(_STRINGS, string_type),
    **dict.fromkeys(_WITH_MEMBERS, collated_member_type),
    "DECIMAL": lambda source, names: decimal_type(source),
    "BIT": lambda source, names: bit_type(source),
}


def _within_row(sql_type: SqlType, server: str) -> SqlType:
    """VARCHAR no longer than the line takes it: MariaDB counts what a row of nothing else leaves."""
    if sql_type.name != "VARCHAR" or sql_type.length is None or sql_type.collation is None:
        return sql_type
    longest = dialect_of(server).max_varchar // charset(collation(sql_type.collation).charset).max_length
    return replace(sql_type, length=min(sql_type.length, longest))
