"""Columns that MariaDB keeps by itself: the begin and end of a row's time, and the hashes of long UNIQUE keys.

Those that no statement declares stand behind all others; TABLE_MAP and row events have them like any column
(recorded on 10.11 and 11.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from forge.engine.dictionary.column_sizes import part_bytes
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import key_limit
from forge.engine.dictionary.partition_hash import key_hash
from forge.plan.tables import Row, TableColumn
from forge.servers import server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import KeyDraft, PartDraft, SystemRole
from forge.sql.errors import SqlError, SqlUnsupported
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.temporal.current import timestamp_text

ROW_START: Final = "row_start"
ROW_END: Final = "row_end"
_TIME = SqlType("TIMESTAMP", fsp=6)
_HASH = SqlType("BIGINT", unsigned=True)


@dataclass(frozen=True, slots=True)
class RowHash:
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


def last_moment(dialect: Dialect) -> str:
    """``row_end`` of a row that is still there: the last TIMESTAMP."""
    return timestamp_text(dialect.last_timestamp, 999999, 6)


def with_periods(definition: Definition) -> Definition:
    """The definition whose periods are checked: their columns are NOT NULL, and row_end is in every unique key.

    Raises SqlError for what a server would refuse, SqlUnsupported for versioning by transactions.
    """
    declared = {column.column.system: column for column in definition.columns if column.column.system}
    system = [period for period in definition.periods if period.is_system]
    if (system or declared) and not (definition.versioned and system and len(declared) == 2):
        offset = system[0].offset if system else next(iter(declared.values())).offset
        expected = "columns AS ROW START and AS ROW END, PERIOD FOR SYSTEM_TIME, WITH SYSTEM VERSIONING"
        raise SqlError("the declaration of a system-versioned table is not complete", offset, expected=expected)
    if system:
        named = [column.name.lower() for column in (declared["row_start"], declared["row_end"])]
        if named != [system[0].start.lower(), system[0].end.lower()]:
            raise SqlError("PERIOD FOR SYSTEM_TIME names other columns", system[0].offset, expected=", ".join(named))
    for column in declared.values():
        if column.type.name == "BIGINT":
            # Its statements are logged as their texts (recorded on 10.5 and 11.4).
            problem = "system versioning by transactions is not supported yet"
            raise SqlUnsupported(problem, column.offset, expected="TIMESTAMP(6) columns")
        if column.type != _TIME:
            problem = f"column {column.name!r} cannot hold the time of rows"
            raise SqlError(problem, column.offset, expected="TIMESTAMP(6)")
    application = [period for period in definition.periods if not period.is_system]
    if len(application) > 1:
        raise SqlError("the table has two periods", application[1].offset, expected="one beside SYSTEM_TIME")
    names = {column.name.lower() for column in declared.values()}
    for period in application:
        ends = [definition.columns[definition.index_of(name, period.offset)] for name in (period.start, period.end)]
        if ends[0].type != ends[1].type or not ends[0].type_facts.has_date or ends[0].name == ends[1].name:
            problem = f"the columns of period {period.name!r} are no begin and end"
            raise SqlError(problem, period.offset, expected="two DATE, DATETIME or TIMESTAMP columns of one type")
        names |= {column.name.lower() for column in ends}
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
        if period is None or key.kind == "index" or part is not key.parts[-1] or len(key.parts) == 1:
            expected = "a period of the table, behind the columns of a unique key"
            raise SqlError(f"WITHOUT OVERLAPS of {part.column!r} is impossible", part.offset, expected=expected)
        period_parts = [PartDraft(name, None, part.offset) for name in (period.end, period.start)]
        return replace(key, parts=(*parts, *ends, *period_parts))
    return replace(key, parts=(*parts, *ends))
