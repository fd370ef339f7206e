"""Data definition statements: a type for each kind, with what happened and what the log tells of it.

The names are those of changes (``TableCreation``); ``forge.sql.ast`` has the statements as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from msgspec import Struct

from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table, TableColumn

#: (database, name).
TableName = tuple[str, str]


class DefinitionText(Struct, frozen=True):
    """The text of a statement: ``sql`` is what is logged."""

    sql: str
    #: The session's current database when the statement ran, "" if none.
    current_database: str
    #: The text that a client sends, where the server logs another.
    sent: str | None = None
    #: It names a character set without a collation.
    names_charset: bool = False
    #: (second, microsecond) that CURRENT_TIMESTAMP gave.
    time: tuple[int, int] | None = None
    #: Its line in the scenario.
    line: int | None = None
    #: The session's settings, where they are no longer those that it began with.
    session: Session | None = None

    @property
    def replayed(self) -> str:
        """The text that a client sends."""
        return self.sent or self.sql


class DdlStatement(Struct, frozen=True):
    """What all data definition statements have in common."""

    #: How tags of the corpus call the kind.
    kind: ClassVar[str]

    text: DefinitionText
    #: The databases that its tables belong to, each once.
    databases: tuple[str, ...] = ()
    #: Tables that exist with a new definition after the statement.
    tables: tuple[Table, ...] = ()
    #: The table that the statement makes or changes is temporary; it has to do with one in any way.
    temporary: bool = False
    touches_temporary: bool = False
    #: It changed nothing (IF [NOT] EXISTS); it is logged all the same.
    no_effect: bool = False
    #: It is kept out of the log.
    unlogged: bool = False

    @property
    def current_database(self) -> str:
        """The session's current database when the statement ran, "" if none."""
        return self.text.current_database


class DatabaseCreation(DdlStatement, frozen=True, kw_only=True):
    """CREATE DATABASE."""

    kind: ClassVar[str] = "create_database"

    #: MariaDB: CREATE OR REPLACE dropped tables first.
    replaces: bool = False


class DatabaseAlteration(DdlStatement, frozen=True, kw_only=True):
    """ALTER DATABASE."""

    kind: ClassVar[str] = "alter_database"


class DroppedTable(Struct, frozen=True):
    """A table that a DROP statement names or takes with it."""

    name: TableName
    #: False: IF EXISTS passes over it.
    exists: bool = True
    #: The engine drops it in a transaction; of a temporary table: a rollback reaches its rows.
    transactional: bool = True
    temporary: bool = False
    #: The making of a temporary table was logged.
    logged: bool = True


class DatabaseDrop(DdlStatement, frozen=True, kw_only=True):
    """DROP DATABASE, with the tables inside in the order of their names."""

    kind: ClassVar[str] = "drop_database"

    inside: tuple[DroppedTable, ...] = ()


class TableCreation(DdlStatement, frozen=True, kw_only=True):
    """CREATE TABLE, and the table that its LIKE names."""

    kind: ClassVar[str] = "create_table"

    #: The columns that the text defines.
    defines: tuple[TableColumn, ...] = ()
    likeness: Table | None = None
    #: MariaDB: CREATE OR REPLACE dropped a table first.
    replaces: bool = False


class TableCreationSelect(DdlStatement, frozen=True, kw_only=True):
    """CREATE TABLE ... SELECT."""

    kind: ClassVar[str] = "create_table"

    #: The columns that the text defines, beside those of the SELECT.
    defines: tuple[TableColumn, ...] = ()
    #: The rows that the table gets, in the same group; None: the statement is logged as its text.
    selected: RowsStatement | None = None
    #: The first AUTO_INCREMENT value that was generated.
    insert_id: int | None = None


class TableChange(Struct, frozen=True):
    """What ALTER TABLE did."""

    #: The definition as it was before.
    before: Table
    #: The columns that the text adds or changes.
    defines: tuple[TableColumn, ...] = ()
    #: Nothing of the definition changes but names.
    touches_names_only: bool = False
    #: It adds, drops or reorganizes partitions and does nothing else.
    manages_partitions: bool = False


class TableAlteration(DdlStatement, frozen=True, kw_only=True):
    """ALTER TABLE, CREATE INDEX, DROP INDEX; ``change`` is None if nothing was left to do."""

    form: Literal["alter_table", "create_index", "drop_index"] = "alter_table"
    change: TableChange | None = None
    #: It has no number of a transaction.
    unnumbered: bool = False
    #: MariaDB: its start is a group of its own (binlog_alter_two_phase).
    two_phase: bool = False

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.form

    @property
    def adds_versions(self) -> bool:
        """Whether rows begin to have versions, at the statement's time."""
        has = any(table.row_end is not None for table in self.tables)
        return has and self.change is not None and self.change.before.row_end is None


class AlterationStart(DdlStatement, frozen=True, kw_only=True):
    """START ALTER: the group that a statement of two phases writes before it changes the table."""

    kind: ClassVar[str] = "alter_table"

    alteration: TableAlteration


class TableDrop(DdlStatement, frozen=True, kw_only=True):
    """DROP TABLE, with the tables that it names in the order of the statement."""

    kind: ClassVar[str] = "drop_table"

    named: tuple[DroppedTable, ...] = ()
    if_exists: bool = False
    #: Row format logs the end of temporary tables that were made as text.
    in_row_format: bool = False
    #: A comment that stands directly before the names.
    comment: str = ""

    @property
    def dropped(self) -> tuple[DroppedTable, ...]:
        """Those that were there."""
        return tuple(table for table in self.named if table.exists)

    @property
    def missing(self) -> tuple[DroppedTable, ...]:
        """Those that were not."""
        return tuple(table for table in self.named if not table.exists)

    @property
    def irrevocable(self) -> tuple[DroppedTable, ...]:
        """Those that no rollback reaches."""
        return tuple(table for table in self.dropped if not table.transactional)


class SessionEndDrop(DdlStatement, frozen=True, kw_only=True):
    """DROP TABLE of the temporary tables that a session leaves behind, which the server writes by itself."""

    kind: ClassVar[str] = "drop_table"

    #: It is written in the server's own character set.
    own_charset: bool = False


class TableRename(DdlStatement, frozen=True, kw_only=True):
    """RENAME TABLE."""

    kind: ClassVar[str] = "rename_table"


class TableTruncation(DdlStatement, frozen=True, kw_only=True):
    """TRUNCATE TABLE."""

    kind: ClassVar[str] = "truncate_table"


class MemoryEmptied(DdlStatement, frozen=True, kw_only=True):
    """What the server writes by itself of a MEMORY table that lost its rows, when the table is opened."""

    kind: ClassVar[str] = "empty_memory"

    #: A data definition statement was the occasion.
    caused_by_ddl: bool = False


class ObjectDefinition(DdlStatement, frozen=True, kw_only=True):
    """A statement on views, triggers or sequences."""

    kind: ClassVar[str] = "other"

    #: It carries INVOKER, MICROSECONDS (HRNOW).
    invoker: bool = False
    fraction: bool = False
    #: MariaDB: CREATE OR REPLACE SEQUENCE of one that was there; DROP SEQUENCE.
    replaces: bool = False
    #: It has the number of a transaction, and MariaDB's GTID says DDL; not so ALTER SEQUENCE.
    numbered: bool = True


class TableUpkeep(DdlStatement, frozen=True, kw_only=True):
    """ANALYZE, OPTIMIZE, REPAIR TABLE and FLUSH."""

    kind: ClassVar[str] = "other"

    #: It commits by itself before it is logged: all but FLUSH.
    commits: bool = False
    #: It carries TIME_ZONE.
    zone: bool = False


def dropped_tables(statement: DdlStatement) -> Iterator[str]:
    """The full names of the base tables that a statement drops."""
    match statement:
        case TableDrop():
            tables = statement.dropped
        case DatabaseDrop():
            tables = statement.inside
        case _:
            return
    yield from (".".join(table.name) for table in tables if not table.temporary)


DatabaseDefinition = DatabaseCreation | DatabaseAlteration | DatabaseDrop
AnyTableCreation = TableCreation | TableCreationSelect
#: What the server writes by itself.
ImplicitStatement = SessionEndDrop | MemoryEmptied
