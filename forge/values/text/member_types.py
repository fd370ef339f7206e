"""ENUM and SET: the SQL types of :mod:`forge.values.text.enums`."""

from __future__ import annotations

from forge.charsets import Charset, charset, collation, compare_key
from forge.errors import ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.base import Column
from forge.values.declaration.arguments import collation_of
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.text.column_charset import BINARY_COLLATION, utf8
from forge.values.text.enums import CODECS, SET_SIZES
from forge.values.wire_types import WireType

_MAX_ENUM_MEMBERS = 65535
_MAX_MEMBER_CHARACTERS = 255


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    number, _ = collation_of(sql_type)
    count, is_set = len(sql_type.members), sql_type.name == "SET"
    if not count:
        raise ScenarioError(f"{sql_type.name} needs at least one member", expected=f"{sql_type.name}('a','b')")
    most = 64 if is_set else _MAX_ENUM_MEMBERS
    if count > most:
        raise ScenarioError(f"{sql_type.name} has {count} members", expected=f"at most {most}")
    encoded = []
    character_set = charset(collation(number).charset)
    for member in sql_type.members:
        # CREATE TABLE drops trailing spaces of members.
        kept = member if number == BINARY_COLLATION else member.rstrip(" ")
        if is_set and "," in kept:
            raise ScenarioError(f"a SET member cannot contain a comma: {member!r}")
        if len(kept) > _MAX_MEMBER_CHARACTERS and dialect.limits_members:
            raise ScenarioError(f"a member of {sql_type.name} has {len(kept)} characters", expected="at most 255")
        encoded.append(utf8(kept) if number == BINARY_COLLATION else _held(character_set, kept))
    _distinct(sql_type, number)
    size = next(n for top, n in SET_SIZES.items() if count <= top) if is_set else 1 + (count > 255)
    metadata = bytes([WireType.SET if is_set else WireType.ENUM, size])
    return Column(WireType.STRING, metadata, collation=number, members=tuple(encoded))


def _held(charset: Charset, text: str) -> bytes:
    """A member's bytes; what the character set lacks is ``?``, as CREATE TABLE makes it in every mode."""
    try:
        return charset.encode(text)
    except ScenarioError:
        return b"".join(map(charset.encode_or_mark, text))


def _distinct(sql_type: SqlType, number: int) -> None:
    """Members must differ as the collation compares."""
    seen: dict[str, str] = {}
    for member in sql_type.members:
        kept = member.rstrip(" ")
        key = member if number == BINARY_COLLATION else compare_key(number, kept)
        if key in seen:
            raise ScenarioError(f"{sql_type.name} has the equal members {seen[key]!r} and {member!r}")
        seen[key] = member


def _example(name: str, count: int) -> SqlType:
    return SqlType(name, members=tuple(f"m{place}" for place in range(count)), collation=255)


FAMILY = Family(
    codecs=CODECS,
    column_types=(
        ColumnType(
            name="ENUM",
            facts=TypeFacts(kind="enum", implicit_default=1),
            declare=_declare,
            arguments="members",
            examples=tuple(_example("ENUM", count) for count in (1, 2, 255, 256, 300)),
        ),
        ColumnType(
            name="SET",
            facts=TypeFacts(kind="set", implicit_default=0),
            declare=_declare,
            arguments="members",
            examples=tuple(_example("SET", count) for count in (1, 2, 8, 9, 16, 17, 24, 25, 32, 33, 63, 64)),
        ),
    ),
)
