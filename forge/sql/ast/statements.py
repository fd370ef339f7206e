"""Data definition statements, and the upkeep of tables, as their text says them.

``offset`` is the place in the statement's text, for errors; ``exists`` is IF [NOT] EXISTS.  A ``definer`` is an
account, (user, host), or None for the session's own.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from forge.sql.ast.actions import Action
from forge.sql.ast.definitions import (
    CharsetClause,
    ColumnDraft,
    PartitionClause,
    SelectDraft,
    TableOptions,
    TablePart,
    TableRef,
)

RowEvent = Literal["insert", "update", "delete"]
Account = tuple[str, str]


class CreateTable(Struct, frozen=True):
    """CREATE TABLE, also with ``like`` another or of a ``select``."""

    table: TableRef
    columns: tuple[ColumnDraft, ...] = ()
    parts: tuple[TablePart, ...] = ()
    options: TableOptions = field(default_factory=TableOptions)
    if_not_exists: bool = False
    partitions: PartitionClause | None = None
    select: SelectDraft | None = None
    like: TableRef | None = None
    temporary: bool = False
    replaces: bool = False


class AlterTable(Struct, frozen=True):
    """ALTER TABLE, CREATE INDEX and DROP INDEX."""

    table: TableRef
    actions: tuple[Action, ...]
    statement: Literal["alter_table", "create_index", "drop_index"] = "alter_table"
    if_exists: bool = False


class DropTables(Struct, frozen=True):
    """DROP TABLE; ``temporary``: DROP TEMPORARY TABLE, which sees no other tables.

    ``comment``: the one directly before the names, which MariaDB keeps (recorded on 10.11 and 11.8).
    """

    tables: tuple[TableRef, ...]
    if_exists: bool
    temporary: bool = False
    comment: str = ""


class RenameTables(Struct, frozen=True):
    pairs: tuple[tuple[TableRef, TableRef], ...]
    if_exists: bool = False


class TruncateTable(Struct, frozen=True):
    table: TableRef


class DatabaseStatement(Struct, frozen=True):
    """CREATE, ALTER and DROP DATABASE; ``name`` is None if ALTER leaves it out; ``exists``: IF [NOT] EXISTS."""

    statement: Literal["create_database", "alter_database", "drop_database"]
    name: str | None
    offset: int
    charset: CharsetClause = field(default_factory=CharsetClause)
    exists: bool = False
    replaces: bool = False


class ViewStatement(Struct, frozen=True):
    """CREATE and ALTER VIEW: ``columns`` are the names that it lists, ``body`` is the SELECT as servers log it."""

    verb: Literal["create", "alter"]
    name: TableRef
    columns: tuple[str, ...]
    body: str
    algorithm: str = "UNDEFINED"
    definer: Account | None = None
    security: str = "DEFINER"
    exists: bool = False
    replaces: bool = False


class CreateTrigger(Struct, frozen=True):
    """CREATE TRIGGER: ``text`` is the statement from the word TRIGGER on, ``body`` what runs for each row."""

    name: TableRef
    timing: Literal["before", "after"]
    event: RowEvent
    table: TableRef
    body: str
    text: str
    offset: int
    definer: Account | None = None
    exists: bool = False


class DropObjects(Struct, frozen=True):
    """DROP VIEW, DROP TRIGGER, and MariaDB's DROP SEQUENCE."""

    kind: Literal["view", "trigger", "sequence"]
    names: tuple[TableRef, ...]
    exists: bool = False


class SequenceStatement(Struct, frozen=True):
    """CREATE and ALTER SEQUENCE of MariaDB; its options leave no trace but the text."""

    verb: Literal["create", "alter"]
    name: TableRef
    exists: bool = False
    replaces: bool = False


class Upkeep(Struct, frozen=True):
    """ANALYZE, OPTIMIZE (``remakes``), REPAIR and CHECK TABLE, FLUSH of what is no log.

    ``local``: the statement is kept out of the log; ``zone``: it reads the time in the session's zone;
    ``flushes``: FLUSH.
    """

    names: tuple[TableRef, ...] = ()
    offset: int = 0
    remakes: bool = False
    local: bool = False
    zone: bool = False
    flushes: bool = False


#: What a data definition statement says.
Ddl = (
    CreateTable | AlterTable | DropTables | RenameTables | TruncateTable | DatabaseStatement
    | ViewStatement | CreateTrigger | DropObjects | SequenceStatement | Upkeep
)  # fmt: skip
