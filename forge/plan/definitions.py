"""Data definition statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forge.plan.statements import RowsStatement
from forge.plan.tables import Table, TableColumn

DdlKind = Literal[
    "create_database", "drop_database", "alter_database",
    "create_table", "drop_table", "alter_table", "rename_table", "truncate_table",
    "create_index", "drop_index", "empty_memory", "other",
]  # fmt: skip


#: How the server changes a table: its name only, metadata, the data in place, or a copy of the data.
AlterMethod = Literal["rename", "metadata", "in_place", "copy"]


@dataclass(frozen=True, slots=True)
class DroppedTemporary:
    """A temporary table that DROP TABLE named: (database, name), and whether a rollback reaches its rows."""

    name: tuple[str, str]
    transactional: bool
    #: Its making was logged.
    logged: bool = True


@dataclass(frozen=True, slots=True)
class DdlStatement:
    """A data definition statement; ``databases`` are those that its tables belong to, each once."""

    kind: DdlKind
    sql: str
    #: The session's current database when the statement ran, "" if none.
    current_database: str
    databases: tuple[str, ...] = ()
    #: Tables that exist with a new definition after the statement.
    tables: tuple[Table, ...] = ()
    #: The definition that ALTER TABLE changed, as it was before.
    altered: Table | None = None
    #: The columns that the statement's text defines (CREATE TABLE: all; ALTER TABLE: those added or changed).
    defines: tuple[TableColumn, ...] = ()
    #: ALTER TABLE, CREATE INDEX, DROP INDEX: how, and whether rows with moments in them are copied.
    method: AlterMethod | None = None
    copies_moments: bool = False
    #: ALTER TABLE that adds, drops or reorganizes partitions and does nothing else.
    manages_partitions: bool = False
    #: MariaDB asks the engine for a way without a copy, for which it evaluates CURRENT_TIMESTAMP.
    asks_engine: bool = True
    #: The keys that go are those that come: MySQL opens no transaction of the storage engine.
    unchanged: bool = False
    #: MariaDB: CREATE OR REPLACE dropped a table first; DROP SEQUENCE.
    replaces: bool = False
    #: MariaDB: its GTID does not say DDL.
    is_plain: bool = False
    #: It has no number of a transaction.
    unnumbered: bool = False
    #: Values of partitions by COLUMNS that are text are parsed: the statement's, or those of a table that it opens.
    partitioned_by_text: bool = False
    #: DROP TABLE: the tables named that existed, and those that did not (IF EXISTS), as (database, name).
    dropped: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    #: DROP TABLE: all of them, in the order of the statement.
    named: tuple[tuple[str, str], ...] = ()
    #: Those of ``dropped`` that are in an engine without transactions.
    irrevocable: tuple[tuple[str, str], ...] = ()
    if_exists: bool = False
    #: DROP TABLE: the temporary tables, in the order of the statement.
    dropped_temporary: tuple[DroppedTemporary, ...] = ()
    #: The table that the statement makes or changes is temporary; it has to do with one in any way.
    temporary: bool = False
    touches_temporary: bool = False
    #: CREATE TABLE ... LIKE, and the table that it names.
    like: bool = False
    likeness: Table | None = None
    #: CREATE TABLE ... SELECT: the rows that the table gets, in the same group.
    selected: RowsStatement | None = None
    #: It is logged as its text: the first AUTO_INCREMENT value that was generated.
    insert_id: int | None = None
    #: CREATE TEMPORARY TABLE ... SELECT.
    fills_temporary: bool = False
    #: IF [NOT] EXISTS made the statement change nothing; it is logged all the same.
    no_effect: bool = False
    #: A statement of kind ``other``: it carries INVOKER, TIME_ZONE, MICROSECONDS (HRNOW), the number of a transaction.
    invoker: bool = False
    zone: bool = False
    fraction: bool = False
    atomic: bool = False
    #: CREATE DATABASE and TABLESPACE that do not say it carry DEFAULT_TABLE_ENCRYPTION.
    encrypts: bool = False
    #: The text that a client sends, where the server logs another; it may keep the statement out of the log.
    replayed: str | None = None
    unlogged: bool = False
    #: The server wrote it by itself (``empty_memory``); a data definition statement was the occasion.
    implicit: bool = False
    caused_by_ddl: bool = False
    #: DROP TABLE of temporary tables, of which row format logs the end alone.
    in_row_format: bool = False
    #: It is written in the server's own character set.
    own_charset: bool = False
    #: (second, microsecond) that CURRENT_TIMESTAMP gave.
    time: tuple[int, int] | None = None
    line: int | None = None
