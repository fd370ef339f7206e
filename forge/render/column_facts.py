"""What a TABLE_MAP tells of each column: the properties that the users of WL#4618 asked for, and what stays unknown.

WL#4618 F7: the exact SQL type of a column can be had from the event.  Full metadata tells names, character sets,
members, visibility and the key; minimal metadata tells signs, the character sets of character columns, geometry types
and dimensions; without metadata none of these.  Some types are never told, because they travel as others: those stand
in ``unknown`` with "or".  Not in the event in any mode: defaults, AUTO_INCREMENT, ZEROFILL and widths of numbers, the
(M,D) of FLOAT and DOUBLE, generated columns, SRIDs, comments, other keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forge.charsets import Collation, charset, find_collation
from forge.events.column_kinds import (
    BLOB_TYPES,
    is_character,
    is_enum,
    is_numeric,
    is_set,
    longest_value,
)
from forge.events.plain import text_or_hex
from forge.events.row_image import OLD_TEMPORALS
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.registry import codec_for, disguises
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.text.enums import member_texts
from forge.values.wire_types import WireType


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the event tells of one column; None stands for "not told" or "not of this type"."""

    position: int
    name: str | None
    sql_type: str
    nullable: bool
    unsigned: bool | None
    #: Place in the key that stands for the row, from 1, and its prefix in characters (0: whole column).
    key_part: int | None
    key_prefix: int | None
    #: The longest value in characters and in bytes, as INFORMATION_SCHEMA.COLUMNS counts them.
    characters: int | None
    octets: int | None
    charset: str | None
    collation: str | None
    members: tuple[str, ...] | None
    visible: bool | None
    #: True for the only column of the key; servers do not tell of other keys.
    unique: bool | None
    #: What of the type the event does not tell, and the types that it does not tell from this one ("or ...").
    unknown: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"name": None if self.name is None else text_or_hex(self.name)}


def column_facts(table_map: TableMap, columns: Sequence[Column], *, mariadb: bool = False) -> tuple[ColumnFacts, ...]:
    """The facts of every column; ``columns`` are those that forge.events.columns.columns_of gives."""
    key = table_map.primary_key()
    places = {index: (place, prefix) for place, (index, prefix) in enumerate(key or (), start=1)}
    visibility = table_map.records().get("visibility")
    facts = []
    for index, column in enumerate(columns):
        place, prefix = places.get(index, (None, None))
        facts.append(
            _facts_of(
                column,
                mariadb,
                position=index + 1,
                key_part=place,
                key_prefix=prefix,
                visible=None if visibility is None else visibility[index] == "1",
                unique=True if place == 1 and prefix == 0 and key is not None and len(key) == 1 else None,
            )
        )
    return tuple(facts)


def unknown_of_table(table_map: TableMap) -> tuple[str, ...]:
    """What the event does not tell of the table as a whole.

    Names stand in full metadata only, and with them a key, if there is one.
    """
    records = table_map.records()
    keyed = "column_name" in records or table_map.primary_key() is not None
    return (*(() if keyed else ("key",)), *(() if "visibility" in records else ("visibility",)))


def _facts_of(column: Column, mariadb: bool, **place: Any) -> ColumnFacts:
    collation = (
        None if column.collation is None else find_collation(column.collation, "mariadb" if mariadb else "mysql")
    )
    members = _members(column)
    characters, octets = _lengths(column, collation, members)
    text = collation is not None and collation.id != BINARY_COLLATION
    return ColumnFacts(
        name=column.name,
        sql_type=codec_for(column).type_name(column),
        nullable=column.nullable,
        unsigned=column.unsigned if is_numeric(column) else None,
        characters=characters,
        octets=octets,
        charset=collation.charset if collation is not None and (text or members is not None) else None,
        collation=collation.name if collation is not None and (text or members is not None) else None,
        members=members,
        unknown=tuple(_unknown(column, mariadb)),
        **place,
    )


def _unknown(column: Column, mariadb: bool) -> Iterator[str]:
    if is_numeric(column) and column.unsigned is None and column.type_code != WireType.YEAR:
        yield "sign"
    if column.name is None:
        yield "name"
    text = is_character(column) or is_enum(column) or is_set(column)
    if text and column.collation is None and column.type_code != WireType.VECTOR:
        yield "character set"
    if (is_enum(column) or is_set(column)) and column.members is None:
        yield "members"
    if column.type_code == WireType.GEOMETRY and column.geometry_type is None:
        yield "geometry type"
    if column.type_code == WireType.VECTOR and column.dimensions is None:
        yield "dimensions"
    if column.type_code in OLD_TEMPORALS:
        yield "fraction digits"
    if mariadb:
        yield from (f"or {name}" for name in disguises(column))


def _lengths(
    column: Column, collation: Collation | None, members: tuple[str, ...] | None
) -> tuple[int | None, int | None]:
    """(characters, octets) of the longest value."""
    least, most = (
        (1, 1) if collation is None else (charset(collation.charset).min_length, charset(collation.charset).max_length)
    )
    if members is not None and collation is not None:
        sizes = [len(member) for member in members]
        longest = sum(sizes) + len(sizes) - 1 if is_set(column) else max(sizes, default=0)
        return longest, longest * most
    octets = longest_value(column) if is_character(column) and column.type_code != WireType.VECTOR else None
    if octets is None or column.collation is None:
        return None, octets
    return octets // (least if column.type_code in BLOB_TYPES else most), octets


def _members(column: Column) -> tuple[str, ...] | None:
    if column.members is None:
        return None
    texts = member_texts(column.members, column.collation)
    return tuple(text if isinstance(text, str) else f"x'{text.hex()}'" for text in texts)
