"""The table behind a TABLE_MAP: a CREATE TABLE and a column list, with what the event cannot tell marked as unknown.

WL#4618 F7: the exact SQL type of a column can be had from the event.  Full metadata tells names, charsets, members,
visibility and the key; minimal metadata tells signs and charsets of character columns; without metadata neither.
A primary-key record may stand for a unique key of NOT NULL columns (the server promotes one), so keys say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from forge.binlog.payload import inner_events
from forge.binlog.reader import read_events
from forge.charsets import Collation, charset, find_collation
from forge.compile.status import quoted
from forge.errors import ForgeError
from forge.events.column_kinds import is_character, is_enum, is_numeric, is_set, longest_value
from forge.events.columns import columns_of, primary_key_of
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.values.base import Column
from forge.values.registry import codec_for

BINARY_COLLATION = 63
GENERATED_INVISIBLE_PK = 0x0004


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the event tells of one column; None stands for "not told"."""

    position: int
    name: str | None
    sql_type: str
    nullable: bool
    unsigned: bool | None
    #: Place in the key that stands for the row, from 1, and its prefix in characters (0: whole column).
    key_part: int | None
    key_prefix: int | None
    characters: int | None
    octets: int | None
    charset: str | None
    collation: str | None
    members: tuple[str, ...] | None
    visible: bool | None
    #: True for the only column of the key; servers do not tell of other keys.
    unique: bool | None
    #: What of the type the event does not tell.
    unknown: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def column_facts(table_map: TableMap, *, mariadb: bool = False) -> tuple[ColumnFacts, ...]:
    """The facts of every column.  Raises FormatError or UnsupportedError for types that are not known."""
    key = primary_key_of(table_map)
    places = {index: (place, prefix) for place, (index, prefix) in enumerate(key or (), start=1)}
    visibility = table_map.records().get("visibility")
    facts = []
    for index, column in enumerate(columns_of(table_map, mariadb=mariadb)):
        place, prefix = places.get(index, (None, None))
        facts.append(
            _facts_of(
                column,
                position=index + 1,
                key_part=place,
                key_prefix=prefix,
                visible=visibility[index] == "1" if isinstance(visibility, str) and index < len(visibility) else None,
                unique=True if place == 1 and prefix == 0 and key is not None and len(key) == 1 else None,
            )
        )
    return tuple(facts)


def _facts_of(column: Column, **place: Any) -> ColumnFacts:
    found = _collation(column)
    octets = longest_value(column)
    text = is_character(column)
    known = charset(found.charset) if found is not None else None
    unknown = []
    if is_numeric(column) and column.unsigned is None and column.type_code != 13:
        unknown.append("sign")
    if column.name is None:
        unknown.append("name")
    if (text or is_enum(column) or is_set(column)) and column.collation is None:
        unknown.append("character set")
    if (is_enum(column) or is_set(column)) and column.members is None:
        unknown.append("members")
    if column.type_code == 255 and column.geometry_type is None:
        unknown.append("geometry type")
    return ColumnFacts(
        name=column.name,
        sql_type=codec_for(column).type_name(column),
        nullable=column.nullable,
        unsigned=column.unsigned,
        characters=octets // known.max_length if text and octets is not None and known is not None else None,
        octets=octets if text else None,
        charset=found.charset if found is not None else None,
        collation=found.name if found is not None else None,
        members=_members(column),
        unknown=tuple(unknown),
        **place,
    )


def _collation(column: Column) -> Collation | None:
    if column.collation is None or column.collation == BINARY_COLLATION:
        return None
    return find_collation(column.collation)


def _members(column: Column) -> tuple[str, ...] | None:
    if column.members is None:
        return None
    found = _collation(column)
    texts = []
    for member in column.members:
        try:
            texts.append(charset(found.charset).decode(member) if found else member.decode("utf-8"))
        except (ForgeError, UnicodeDecodeError):
            texts.append(f"x'{member.hex()}'")
    return tuple(texts)


def create_table(table_map: TableMap, *, mariadb: bool = False) -> str:
    """CREATE TABLE text; what the event does not tell stands in comments."""
    facts = column_facts(table_map, mariadb=mariadb)
    generated = bool(table_map.table_flags & GENERATED_INVISIBLE_PK)
    lines = [_definition(column, generated and column.position == 1) for column in facts]
    lines.extend(_key_lines(table_map, facts))
    body = ",\n".join(f"  {line}" for line in lines)
    return f"CREATE TABLE {quoted(table_map.database)}.{quoted(table_map.table)} (\n{body}\n);\n"


def _definition(column: ColumnFacts, generated: bool) -> str:
    words = [quoted(column.name if column.name is not None else f"@{column.position}"), column.sql_type]
    if column.collation is not None:
        words.append(f"CHARACTER SET {column.charset} COLLATE {column.collation}")
    words.append("NULL" if column.nullable else "NOT NULL")
    if generated:
        words.append("AUTO_INCREMENT INVISIBLE")
    elif column.visible is False:
        words.append("INVISIBLE")
    if column.unknown:
        words.append(f"/* unknown: {', '.join(column.unknown)} */")
    return " ".join(words)


def _key_lines(table_map: TableMap, facts: tuple[ColumnFacts, ...]) -> Iterator[str]:
    key = primary_key_of(table_map)
    if key is None:
        return
    parts = ", ".join(_part(facts, index, prefix) for index, prefix in key)
    yield f"PRIMARY KEY ({parts}) /* or the first UNIQUE key of NOT NULL columns */"


def _part(facts: tuple[ColumnFacts, ...], index: int, prefix: int) -> str:
    if index >= len(facts):
        return f"/* column {index + 1}, which the table does not have */"
    name = facts[index].name
    return quoted(name if name is not None else f"@{index + 1}") + (f"({prefix})" if prefix else "")


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table as a table map tells it: where the event stands, and whether MariaDB wrote it."""

    index: int
    offset: int
    table_map: TableMap
    mariadb: bool

    def create_table(self) -> str:
        return create_table(self.table_map, mariadb=self.mariadb)

    def as_json(self) -> dict[str, Any]:
        return {
            "event": self.index,
            "offset": self.offset,
            "database": self.table_map.database,
            "table": self.table_map.table,
            "columns": [column.as_json() for column in column_facts(self.table_map, mariadb=self.mariadb)],
        }


def schemas_of(data: bytes) -> Iterator[TableSchema]:
    """Every new definition in a file, those inside payloads too.  Raises FormatError."""
    seen: dict[int, TableMap] = {}
    for placed in read_events(data):
        body = placed.event.body
        inside = inner_events(body, placed.format) if isinstance(body, TransactionPayload) else (placed.event,)
        for event in inside:
            if isinstance(event.body, TableMap) and seen.get(event.body.table_id) != event.body:
                seen[event.body.table_id] = event.body
                yield TableSchema(placed.index, placed.offset, event.body, placed.format.mariadb)
