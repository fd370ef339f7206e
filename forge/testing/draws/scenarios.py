"""Scenarios: a server line, a session, a table of any columns and keys, and changes of its rows.

Most of them are what a server takes; planning refuses the others with ScenarioError, by two equal keys for example.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from forge.charsets import charset_names, collation, default_collation
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError
from forge.plan.requirements import column_features, session_features
from forge.plan.session import Session
from forge.plan.tables import KeyPart, TableColumn
from forge.scenario import build
from forge.scenario.model import Scenario
from forge.servers import ServerLine, server_line
from forge.sql.write import identifier, type_sql
from forge.testing.draws.rows import Cells, cell_of, row_of
from forge.testing.draws.source import Source
from forge.testing.draws.tables import is_key_type, key_part
from forge.testing.draws.types import in_charset, type_named, type_of
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import facts_of
from forge.values.text.column_charset import BINARY_COLLATION

#: Columns of a table, rows of an INSERT, changes after it.
_COLUMNS, _ROWS, _CHANGES = 6, 3, 3
_LONGEST_COLUMN = 1024
_LONGEST_PREFIX = 100
_UTF8MB4_0900 = 255
#: Members of most ENUM and SET columns: the text of many takes long to read.
_MEMBERS = 9
_NAMES = ("c{}", "c{}", "c{}", "Column {}", "ü{}", "a`{}", "`{}`", "名{}")
TABLES = ("db.t", "db.t", "shop.orders", "db.`a b`", "`ünï`.`表`")
KEYS = ("PRIMARY KEY", "PRIMARY KEY", "UNIQUE KEY k")
_IMAGES = ("full", "minimal", "noblob")
_METADATA = ("full", "minimal", "none")


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
    server = source.one_of(choices.servers or lines_with_rows())
    line = server_line(server)
    places = count()
    most = choices.columns
    columns = source.several(lambda inner: column_of(inner, next(places), server, line, choices), 1, most)
    if not any(column.visible for column in columns):
        columns[0] = replace(columns[0], visible=True)
    parts = key_parts(source, columns)
    key = key_text(columns, parts, source.one_of(KEYS)) if parts else None
    session = Session() if choices.plain else session_of(source, line)
    session = with_fractions(session, columns)
    table = source.one_of(TABLES)
    text = create_table(table, columns, key)
    most = choices.rows if key is None or source.truth() else 1
    rows = source.several(lambda inner: row_of(inner, columns, server), 1, most)
    change = (build.replace if source.once_in(8) else build.insert)(table, *rows)
    scenario = Scenario(name, server=server, session=session, tables=[text]).transaction(change)
    for _ in range(source.integer(0, choices.changes)):
        scenario = _changed(source, scenario, table, columns, rows, server)
    return scenario


def with_fractions(session: Session, columns: Sequence[TableColumn]) -> Session:
    """The session with the new temporal forms if a column has a fraction: no event has the digits of the old."""
    if not any(column.type.fsp for column in columns):
        return session
    return msgspec.structs.replace(session, mysql56_temporal_format=True)


#: The lines that log rows, one of each series.
_DRAWN = (
    "mariadb-10.11", "mariadb-10.2", "mariadb-10.6", "mariadb-11.4", "mariadb-11.8",
    "mysql-5.1", "mysql-5.5", "mysql-5.6", "mysql-5.7", "mysql-8.0", "mysql-8.4", "mysql-9.7",
)  # fmt: skip


@cache
def lines_with_rows() -> list[str]:
    """The lines whose logs are drawn: with another list, every seed would stand for another case."""
    return sorted(_DRAWN)


def session_of(source: Source, line: ServerLine) -> Session:
    """Settings that the line has; each is the server's default half the time."""
    mysql = line.family == "mysql"
    drawn: dict[str, Any] = {
        "row_image": source.one_of(_IMAGES),
        "row_metadata": source.one_of(_METADATA[: 2 if mysql else 3]),
        "rows_query": source.truth(),
        "gtid": source.truth(),
        "checksum": source.one_of((None, "crc32", "none")),
        "compression": source.once_in(4),
        "log_bin_compress": source.once_in(4),
        "log_bin_compress_min_len": source.one_of((10, 256)),
        "generate_invisible_primary_key": source.once_in(4),
        "binlog_row_event_max_size": source.one_of((256, 512, 8192, 8192)),
        "ends_with": source.one_of(("stop", "stop", "rotate", "nothing")),
        "unique_checks": not source.once_in(4),
        "mysql56_temporal_format": mysql or not source.once_in(8),
    }
    session = Session(**drawn)
    lacking = [setting for setting, feature in session_features(session, line) if not line.knows(feature)]
    defaults = Session()
    return msgspec.structs.replace(session, **{setting: getattr(defaults, setting) for setting in lacking})


def column_of(source: Source, place: int, server: str, line: ServerLine, choices: Choices = _ANY) -> TableColumn:
    """A column that the line has.  Raises ScenarioError if it has none of the types that are to be chosen from."""
    name = source.one_of(_NAMES).format(place)
    nullable = source.truth()
    visible = not nullable or not source.once_in(8)
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
    if not source.once_in(8):
        sql_type = replace(sql_type, members=sql_type.members[:_MEMBERS])
    if sql_type.length is not None and (facts.is_text or facts.is_bytes):
        sql_type = replace(sql_type, length=min(sql_type.length, _LONGEST_COLUMN))
    if sql_type.collation is None:
        return sql_type
    if sql_type.collation == BINARY_COLLATION and not facts.has_members:
        return replace(sql_type, name=_BINARY.get(sql_type.name, sql_type.name))
    chosen = sql_type.collation
    if charsets:
        chosen = in_charset(source, sql_type, line.name, charsets).collation or chosen
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


def key_parts(source: Source, columns: list[TableColumn]) -> list[KeyPart]:
    """The parts of the table's key, if it has one; their columns become NOT NULL and visible."""
    can = [place for place, column in enumerate(columns) if is_key_type(column.type)]
    chosen = source.some(can, 3) if source.integer(0, 3) else []
    for place in chosen:
        columns[place] = replace(columns[place], nullable=False, visible=True)
    return [key_part(source, columns[place].type, place) for place in chosen]


def key_text(columns: Sequence[TableColumn], parts: Sequence[KeyPart], kind: str) -> str:
    """The text of a key in CREATE TABLE."""
    texts = [
        identifier(columns[part.column].name)
        + ("" if part.prefix is None else f"({min(part.prefix, _LONGEST_PREFIX)})")
        for part in parts
    ]
    return f"{kind} ({', '.join(texts)})"


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
    if not source.once_in(8):
        return scenario.transaction(*statements)
    return msgspec.structs.replace(
        scenario, transactions=[*scenario.transactions, Transaction(statements=statements, end="rollback")]
    )


def _where(source: Source, columns: list[TableColumn], rows: list[Cells]) -> Cells | None:
    """A condition on one column, that one of the rows fulfils; None for all rows."""
    plain = [one for one in columns if is_condition(one)]
    if not plain or source.once_in(4):
        return None
    name = source.one_of(plain).name
    return {name: source.one_of(rows)[name]}


def is_condition(column: TableColumn) -> bool:
    """Whether rows are found by a value of the column as it is declared."""
    return facts_of(column.type).kind in ("integer", "decimal") and not column.type.zerofill
