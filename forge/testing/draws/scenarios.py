"""Scenarios: a server line, a session, a table of any columns and keys, and changes of its rows.

Most of them are what a server takes; planning refuses the others with ScenarioError, by two equal keys for example.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import count
from typing import Any

import msgspec

from forge.charsets import charset_names, collation, default_collation
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError
from forge.plan.requirements import column_features, session_features
from forge.plan.session import Session
from forge.plan.tables import TableColumn
from forge.scenario import build
from forge.scenario.model import Scenario
from forge.servers import ServerLine, server_line, server_names
from forge.sql.write.identifiers import identifier
from forge.sql.write.types import type_sql
from forge.testing.draws.cells import value_of
from forge.testing.draws.source import Source
from forge.testing.draws.tables import described, is_key_type, key_part
from forge.testing.draws.types import type_named, type_of
from forge.values.base import Column, Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, facts_of
from forge.values.text.column_charset import BINARY_COLLATION

#: Columns of a table, rows of an INSERT, changes after it.
_COLUMNS, _ROWS, _CHANGES = 6, 3, 3
#: Longest text and bytes: what is longer is in the shipped scenarios.
_LONGEST = 257
_LONGEST_COLUMN = 1024
_UTF8MB4_0900 = 255
#: Members of most ENUM and SET columns: the text of many takes long to read.
_MEMBERS = 9
_DATES = ("date", "moment")
_NAMES = ("c{}", "c{}", "c{}", "Column {}", "ü{}", "a`{}", "`{}`", "名{}")
_TABLES = ("db.t", "db.t", "shop.orders", "db.`a b`", "`ünï`.`表`")
_IMAGES = ("full", "minimal", "noblob")
_METADATA = ("full", "minimal", "none")

#: Cells of a row by the name of their column.
Cells = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a scenario is drawn from; an empty choice is any.  ``plain``: the server's default session."""

    servers: tuple[str, ...] = ()
    #: Names of column types, in upper case, and of character sets.
    types: tuple[str, ...] = ()
    charsets: tuple[str, ...] = ()
    plain: bool = False
    #: Columns of a table, rows of an INSERT, transactions after it.
    columns: int = _COLUMNS
    rows: int = _ROWS
    changes: int = _CHANGES


_ANY = Choices()


def scenario_of(source: Source, name: str, choices: Choices = _ANY) -> Scenario:
    """A scenario of one table."""
    server = source.one_of(choices.servers or _servers())
    line = server_line(server)
    most = choices.columns
    places = count()
    columns = source.several(lambda inner: column_of(inner, next(places), server, line, choices), 1, most)
    if not any(column.visible for column in columns):
        columns[0] = replace(columns[0], visible=True)
    key = key_of(source, columns)
    session = Session() if choices.plain else session_of(source, line)
    if any(column.type.fsp for column in columns):  # In the old forms no event says how many digits there are.
        session = msgspec.structs.replace(session, mysql56_temporal_format=True)
    table = source.one_of(_TABLES)
    text = create_table(table, columns, key)
    most = choices.rows if key is None or source.truth() else 1
    rows = source.several(lambda inner: _row(inner, columns, server), 1, most)
    change = (build.insert if source.integer(0, 7) else build.replace)(table, *rows)
    scenario = Scenario(name, server=server, session=session, tables=[text]).transaction(change)
    for _ in range(source.integer(0, choices.changes)):
        scenario = _changed(source, scenario, table, columns, rows, server)
    return scenario


@cache
def _servers() -> list[str]:
    """The lines that log rows."""
    return [name for name in sorted(server_names()) if server_line(name).knows("row_events")]


def session_of(source: Source, line: ServerLine) -> Session:
    """Settings that the line has; each is the server's default half the time."""
    mysql = line.family == "mysql"
    drawn: dict[str, Any] = {
        "row_image": source.one_of(_IMAGES),
        "row_metadata": source.one_of(_METADATA[: 2 if mysql else 3]),
        "rows_query": source.truth(),
        "gtid": source.truth(),
        "checksum": source.one_of((None, "crc32", "none")),
        "compression": not source.integer(0, 3),
        "log_bin_compress": not source.integer(0, 3),
        "log_bin_compress_min_len": source.one_of((10, 256)),
        "generate_invisible_primary_key": not source.integer(0, 3),
        "binlog_row_event_max_size": source.one_of((256, 512, 8192, 8192)),
        "ends_with": source.one_of(("stop", "stop", "rotate", "nothing")),
        "unique_checks": bool(source.integer(0, 3)),
        "mysql56_temporal_format": mysql or bool(source.integer(0, 7)),
    }
    session = Session(**drawn)
    lacking = [setting for setting, feature in session_features(session, line) if not line.knows(feature)]
    defaults = Session()
    return msgspec.structs.replace(session, **{setting: getattr(defaults, setting) for setting in lacking})


def column_of(source: Source, place: int, server: str, line: ServerLine, choices: Choices = _ANY) -> TableColumn:
    """A column that the line has.  Raises ScenarioError if it has none of the types that are to be chosen from."""
    name = source.one_of(_NAMES).format(place)
    nullable = source.truth()
    visible = not nullable or bool(source.integer(0, 7))
    for _ in range(8):
        drawn = type_named(source, server, choices.types) if choices.types else type_of(source, server)
        chosen = _on_line(source, drawn, line, choices.charsets)
        column = TableColumn(name, chosen, nullable=nullable, visible=visible)
        if all(line.knows(feature) for feature in column_features(column) if feature != "invisible_columns"):
            return column if line.knows("invisible_columns") else replace(column, visible=True)
    if choices.types:
        raise ScenarioError(f"{server} has no column of the types {', '.join(choices.types)}")
    return TableColumn(name, SqlType("INT"), nullable=nullable)


def _on_line(source: Source, sql_type: SqlType, line: ServerLine, charsets: tuple[str, ...] = ()) -> SqlType:
    """The type with a collation that the line has, and the name that it goes by with that."""
    facts = facts_of(sql_type)
    if source.integer(0, 7):
        sql_type = replace(sql_type, members=sql_type.members[:_MEMBERS])
    if sql_type.length is not None and (facts.is_text or facts.is_bytes):
        sql_type = replace(sql_type, length=min(sql_type.length, _LONGEST_COLUMN))
    if sql_type.collation is None:
        return sql_type
    if sql_type.collation == BINARY_COLLATION and not facts.has_members:
        return replace(sql_type, name=_BINARY.get(sql_type.name, sql_type.name))
    chosen = sql_type.collation
    if charsets:
        chosen = default_collation(source.one_of(charsets), line.name).id
    elif not facts.has_members and source.truth():
        chosen = source.one_of(_collations(line.name))
    elif chosen == _UTF8MB4_0900 != line.ddl.default_collation:
        chosen = default_collation("utf8mb4", line.name).id
    return replace(sql_type, name=_TEXT.get(sql_type.name, sql_type.name), collation=chosen)


@cache
def _collations(server: str) -> tuple[int, ...]:
    """The default collation of every character set that the line has."""
    found = []
    for name in sorted(charset_names()):
        with suppress(ScenarioError):
            found.append(default_collation(name, server).id)
    return tuple(one for one in found if one != BINARY_COLLATION)


_SIZES = ("TINY", "", "MEDIUM", "LONG")
_TEXT = {"BINARY": "CHAR", "VARBINARY": "VARCHAR"} | {f"{size}BLOB": f"{size}TEXT" for size in _SIZES}
_BINARY = {text: binary for binary, text in _TEXT.items()}


def key_of(source: Source, columns: list[TableColumn]) -> str | None:
    """The text of a primary or unique key, of which columns may be parts; its columns become NOT NULL."""
    can = [place for place, column in enumerate(columns) if is_key_type(column.type)]
    chosen = source.some(can, 3) if source.integer(0, 3) else []
    if not chosen:
        return None
    parts = []
    for place in chosen:
        columns[place] = replace(columns[place], nullable=False, visible=True)
        part = key_part(source, columns[place].type, place)
        parts.append(identifier(columns[place].name) + ("" if part.prefix is None else f"({min(part.prefix, 100)})"))
    return f"{source.one_of(('PRIMARY KEY', 'PRIMARY KEY', 'UNIQUE KEY k'))} ({', '.join(parts)})"


def create_table(table: str, columns: list[TableColumn], key: str | None) -> str:
    """The statement."""
    lines = [_column_text(column) for column in columns]
    return f"CREATE TABLE {table} ({', '.join(lines if key is None else [*lines, key])})"


def _column_text(column: TableColumn) -> str:
    null = "" if column.nullable else " NOT NULL"
    if column.nullable and column.type.name == "TIMESTAMP":
        null = " NULL"
    return f"{identifier(column.name)} {_type_text(column.type)}{null}{'' if column.visible else ' INVISIBLE'}"


@lru_cache(maxsize=1 << 12)
def _type_text(sql_type: SqlType) -> str:
    text = type_sql(sql_type, None)
    if sql_type.compressed:
        text += " COMPRESSED"
    if sql_type.srid is not None:
        text += f" SRID {sql_type.srid}"
    facts = facts_of(sql_type)
    if sql_type.collation is None or not (facts.has_charset or facts.has_members):
        return text
    found = collation(sql_type.collation)
    return f"{text} CHARACTER SET {found.charset} COLLATE {found.name}"


def _row(source: Source, columns: list[TableColumn], server: str) -> Cells:
    return {column.name: cell_of(source, column, server) for column in columns}


def cell_of(source: Source, column: TableColumn, server: str) -> Any:
    """A literal for the column."""
    if column.nullable and not source.integer(0, 3):
        return None
    shape = described(column.type, server)
    for _ in range(8):
        value = value_of(source, shape, _LONGEST)
        if not _is_refused(column.type, value):
            return literal(shape, value)
    return None


def _is_refused(sql_type: SqlType, value: Value) -> bool:
    """Whether strict mode refuses a value that columns can hold: the member that is none, dates with a zero month."""
    if sql_type.name == "ENUM":
        return bool(value == 0)
    return isinstance(value, str) and facts_of(sql_type).kind in _DATES and "-00" in value


def literal(column: Column, value: Value) -> Any:
    """A value as a scenario declares it."""
    if isinstance(value, (int, float, Decimal)) and facts_of(_declared(column)).kind in (
        "integer",
        "decimal",
        "approximate",
    ):
        return value
    text = codec_for(column).text(column, value)
    return value if text is None else text


def _declared(column: Column) -> SqlType:
    assert column.declared is not None
    return column.declared


def _changed(
    source: Source, scenario: Scenario, table: str, columns: list[TableColumn], rows: list[Cells], server: str
) -> Scenario:
    """The scenario with one more transaction."""
    statements: list[Statement] = []
    for _ in range(source.integer(1, 2)):
        where = _where(source, columns, rows)
        if source.integer(0, 3):
            changed = source.some(columns, 3) or columns[:1]
            statements.append(
                build.update(table, set={one.name: cell_of(source, one, server) for one in changed}, where=where)
            )
        else:
            statements.append(build.delete(table, where=where))
    if source.integer(0, 7):
        return scenario.transaction(*statements)
    return msgspec.structs.replace(
        scenario, transactions=[*scenario.transactions, Transaction(statements=statements, end="rollback")]
    )


def _where(source: Source, columns: list[TableColumn], rows: list[Cells]) -> Cells | None:
    """A condition on one column, that one of the rows fulfils; None for all rows."""
    plain = [one for one in columns if facts_of(one.type).kind in ("integer", "decimal") and not one.type.zerofill]
    if not plain or not source.integer(0, 3):
        return None
    name = source.one_of(plain).name
    return {name: source.one_of(rows)[name]}
