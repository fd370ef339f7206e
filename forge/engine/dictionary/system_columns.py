"""Columns that MariaDB keeps by itself: the begin and end of a row's time, and the hashes of long UNIQUE keys.

Those that no statement declares stand behind all others; TABLE_MAP and row events have them like any column
(recorded on 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import key_limit
from forge.engine.dictionary.partition_hash import key_hash
from forge.events.column_kinds import is_character, longest_value
from forge.plan.tables import Row, TableColumn
from forge.servers import server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import KeyDraft, PartDraft, SystemRole
from forge.sql.errors import SqlError, SqlUnsupported
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.temporal.current import timestamp_text
from forge.values.text.column_charset import charset_of

ROW_START: Final = "row_start"
ROW_END: Final = "row_end"
_TIME = SqlType("TIMESTAMP", fsp=6)
_HASH = SqlType("BIGINT", unsigned=True)


class RowHash(Struct, frozen=True):
    """The hash that a long UNIQUE key keeps of a row: NULL if one of its columns is."""

    columns: tuple[ColumnDefinition, ...]
    #: The places of the columns, and the lengths of prefixes.
    parts: tuple[tuple[int, int | None], ...]

    def __call__(self, row: Row) -> int | None:
        """Raises UnsupportedError for a value whose hash is not known here."""
        columns = [self.columns[index] for index, _ in self.parts]
        values = [_cut(row[index], prefix) for index, prefix in self.parts]
        return None if None in values else key_hash(columns, values, "a long UNIQUE key")


def _cut(value: Value | None, prefix: int | None) -> Value | None:
    return value[:prefix] if prefix is not None and isinstance(value, (str, bytes)) else value


def hidden_columns(definition: Definition) -> tuple[ColumnDefinition, ...]:
    """The columns behind those that a table declares."""
    hidden: list[ColumnDefinition] = []
    if definition.versioned and not any(column.column.system for column in definition.columns):
        hidden += [_hidden(ROW_START, _TIME, ROW_START, definition), _hidden(ROW_END, _TIME, ROW_END, definition)]
    whole = replace(definition, columns=(*definition.columns, *hidden))
    stored = dict(zip(definition.keys, stored_keys(definition), strict=True))
    for number, key in enumerate(hashed_keys(definition), 1):
        parts = tuple((whole.index_of(part.column, part.offset), part.prefix) for part in stored[key].parts)
        column = _hidden(f"DB_ROW_HASH_{number}", _HASH, "hash", definition)
        hidden.append(replace(column.replace(generated="virtual"), row_hash=RowHash(whole.columns, parts)))
    return tuple(hidden)


def _hidden(name: str, sql_type: SqlType, role: SystemRole, definition: Definition) -> ColumnDefinition:
    nullable = role == "hash"
    wire = column_for(sql_type, name=name, nullable=nullable, server=definition.server)
    column = TableColumn(name, sql_type, nullable=nullable, visible=False, system=role)
    return ColumnDefinition(column, wire, codec_for(wire))


def hashed_keys(definition: Definition) -> Iterator[KeyDraft]:
    """The UNIQUE keys that MariaDB keeps as hashes: of whole BLOBs, longer than keys may be, or USING HASH."""
    if not server_line(definition.server).ddl.unique_hashes:
        return
    columns = {column.name.lower(): column for column in definition.columns}
    for key in definition.keys:
        parts = [(columns.get(part.column.lower()), part.prefix) for part in key.parts if part.expression is None]
        known = [(column, prefix) for column, prefix in parts if column is not None]
        long = any(column.type_facts.is_lob and prefix is None for column, prefix in known)
        long = long or sum(part_bytes(column, prefix) for column, prefix in known) > key_limit(definition.engine)
        if key.kind == "unique" and (long or (key.using == "HASH" and definition.engine != "MEMORY")):
            yield key


def part_bytes(column: ColumnDefinition, prefix: int | None) -> int:
    """Bytes of a key's part, as they count for the limit of a key."""
    if prefix is not None:
        charset = charset_of(column.wire)
        return prefix * (charset.max_length if charset else 1)
    if column.type_facts.is_varying:
        return int.from_bytes(column.wire.metadata, "little")
    if is_character(column.wire):
        return longest_value(column.wire) or 0
    return column.codec.width(column.wire, bytes(64), 0)


def last_moment(dialect: Dialect) -> str:
    """``row_end`` of a row that is still there: the last TIMESTAMP."""
    return timestamp_text(dialect.last_timestamp, 999999, 6)


def with_periods(definition: Definition) -> Definition:
    """The definition in which the columns of periods are NOT NULL.

    Raises SqlError for columns that are not there, SqlUnsupported for versioning by transactions.
    """
    names = {column.name.lower() for column in definition.columns if column.column.system}
    for period in definition.periods:
        if not period.is_system:
            ends = [definition.index_of(name, period.offset) for name in (period.start, period.end)]
            names |= {definition.columns[index].name.lower() for index in ends}
    for column in definition.columns:
        if column.column.system and column.type.name == "BIGINT":
            # Its statements are logged as their texts (recorded on 10.5 and 11.4).
            problem = "system versioning by transactions is not supported yet"
            raise SqlUnsupported(problem, column.offset, expected="TIMESTAMP(6) columns")
    columns = tuple(
        column.replace(nullable=False) if column.name.lower() in names else column for column in definition.columns
    )
    return replace(definition, columns=columns)


def stored_keys(definition: Definition) -> tuple[KeyDraft, ...]:
    """The keys as the server keeps them: WITHOUT OVERLAPS is the period's end and begin, and ``row_end`` is in every
    unique key of a versioned table.
    """
    declared = next((column.name for column in definition.columns if column.column.system == ROW_END), ROW_END)
    return tuple(_stored_key(key, definition, declared) for key in definition.keys)


def _stored_key(key: KeyDraft, definition: Definition, row_end: str) -> KeyDraft:
    parts: list[PartDraft] = []
    ends = [PartDraft(row_end, None, key.offset)] if definition.versioned and key.kind != "index" else []
    for part in key.parts:
        if not part.without_overlaps:
            parts.append(part)
            continue
        period = next((one for one in definition.periods if one.name.lower() == part.column.lower()), None)
        if period is None:
            raise SqlError(f"table {definition.name} has no period {part.column!r}", part.offset)
        period_parts = [PartDraft(name, None, part.offset) for name in (period.end, period.start)]
        return replace(key, parts=(*parts, *ends, *period_parts))
    return replace(key, parts=(*parts, *ends))
