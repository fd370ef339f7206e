"""Statements with what they did: rows that changed, definitions that came and went.

Front ends (``forge.scenario``) make them; nothing here knows their syntax.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from forge.plan.tables import Row, Table, TableColumn

ChangeKind = Literal["insert", "update", "delete"]


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row before and after: insert has no ``before``, delete no ``after``.

    ``after_duplicate`` marks what REPLACE and ON DUPLICATE KEY UPDATE do to a row that was there already, and what
    comes after it if it was updated: some servers treat all columns as used there (write_record in sql_insert.cc, which
    restores the columns only where a row was inserted in the end; recorded on 9.7).  So they do for rows that foreign
    keys change, and in DELETE of several tables.
    """

    before: Row | None
    after: Row | None
    after_duplicate: bool = False
    #: UPDATE of JSON columns by JSON functions: column to the diffs that the server noted, in bytes; None: it gave up.
    diffs: Mapping[int, bytes | None] = field(default_factory=dict, compare=False)

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return "insert"
        return "delete" if self.after is None else "update"


#: "now" is NULL where MariaDB makes the current time of it.
Origin = Literal["literal", "unread", "converted", "default", "omitted", "now"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function that a statement's text calls: ``name`` in upper case, ``digits`` the first whole number among its
    arguments, ``has_text`` whether a string literal is among them.
    """

    name: str
    is_empty: bool = True
    digits: int = 0
    has_text: bool = False


@dataclass(frozen=True, slots=True)
class UserVariable:
    """A user variable that a statement reads.  ``value`` is None, an int, a Decimal, a float, text or bytes;
    ``unsigned`` is of integers, ``collation`` of text (None: that of the connection).
    """

    name: str
    value: int | Decimal | float | str | bytes | None
    unsigned: bool = False
    collation: int | None = None


@dataclass(frozen=True, slots=True)
class LoadFile:
    """What LOAD DATA reads: the file, and how it is taken apart; ``@name`` among the columns is a variable."""

    name: str
    content: bytes
    columns: tuple[str, ...]
    #: The assignments of SET, ```column`=expression``.
    sets: tuple[str, ...] = ()
    #: Bytes that were looked at for the first row, and for the first row that got a number.
    looked_at: tuple[int, int] = (0, 0)
    #: What the variables among the columns hold afterwards.
    variables: tuple[UserVariable, ...] = ()
    local: bool = False
    duplicates: Literal["error", "ignore", "replace"] = "error"
    charset: str | None = None
    fields_terminated: str = "\t"
    enclosed: str = ""
    optionally: bool = False
    escaped: str = "\\"
    lines_starting: str = ""
    lines_terminated: str = "\n"
    ignored_lines: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """What the text of a statement depends on beside rows: what statement format has to log with its text.

    ``matched`` counts the rows that it found, changed or not; ``reads`` are the columns that it had to read for that.
    ``origins`` has a set a column: where its values that are not NULL come from, in all rows.
    """

    matched: int = 0
    reads: frozenset[int] = frozenset()
    #: Columns that WHERE compares with literals, and did compare in some row.
    reached: frozenset[int] = frozenset()
    origins: tuple[frozenset[Origin], ...] = ()
    #: What the text calls; what of it was evaluated, at all and when the first row was logged.
    calls: frozenset[Call] = frozenset()
    evaluated_calls: frozenset[Call] = frozenset()
    first_calls: frozenset[Call] = frozenset()
    system_variables: frozenset[str] = frozenset()
    #: The text has a LIMIT: which rows it changes may differ elsewhere.
    limited: bool = False
    #: The first AUTO_INCREMENT value that was generated.
    insert_id: int | None = None
    #: The first of them that was stored, which LAST_INSERT_ID() gives afterwards.
    stored_id: int | None = None
    #: ON DUPLICATE KEY UPDATE changed a row.
    updated: bool = False
    #: It found one, changed or not.
    met: bool = False
    #: What LAST_INSERT_ID() gave, if the text asks for it.
    last_insert_id: int | None = None
    #: The state of RAND(), if the text asks for it.
    rand_seeds: tuple[int, int] | None = None
    user_variables: tuple[UserVariable, ...] = ()
    #: Rows are INSERTed from a SELECT, and that reads a table.
    selects: bool = False
    reads_tables: bool = False
    #: INSERT IGNORE, UPDATE IGNORE, REPLACE.
    ignores: bool = False
    #: No row can meet the WHERE clause, and the server sees it: the statement is not logged (recorded).
    impossible: bool = False
    #: The table of an UPDATE or DELETE has no row.
    empty: bool = False
    #: Kinds of the keys by which its rows could be chosen.
    keys_read: frozenset[str] = frozenset()
    #: The transaction has changes of transactional tables already.
    follows_changes: bool = False
    #: Between XA START and XA END.
    in_xa: bool = False
    #: Between BEGIN and COMMIT, or those.
    in_block: bool = False
    #: A DELETE without WHERE.
    deletes_all: bool = False
    #: The databases of all tables that the statement opens, each once.
    databases: tuple[str, ...] = ()
    #: One of them is the parent of a foreign key, or its rows are checked against one: MySQL names no databases.
    isolated: bool = False
    #: UPDATE or DELETE in the form for several tables, or made into it by the server.
    several: bool = False
    #: A table is read that the statement does not write.
    reads_others: bool = False
    #: A table with AUTO_INCREMENT is opened for the sake of triggers and foreign keys.
    numbers_further: bool = False
    #: What the texts of triggers call; ``fires``: they ran, ``fires_update``: one of an UPDATE did.
    trigger_calls: frozenset[Call] = frozenset()
    fires: bool = False
    fires_update: bool = False
    #: Values for user variables and RAND() that are set before the statement, as SQL.
    settings: tuple[str, ...] = ()
    #: The time zone was asked for before the first row, otherwise than by the values of columns.
    uses_zone: bool = False
    #: The text reads a temporary table, or another one that no rollback reaches.
    reads_temporary: bool = False
    reads_irrevocable: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A row that a statement computed, by VALUES (``insert``) or SET (``update``), and where its values come from.

    An origin is a ``literal``, the DEFAULT keyword (``default``), or nothing in the statement's text (``omitted``);
    ``unread`` is NULL, a value of another column, or text that is no date to a server which clips it; ``converted`` the
    value of a TIMESTAMP column (``VALUES(column)``), which expressions see in local time.
    """

    kind: Literal["insert", "update"]
    row: Row
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Further:
    """What triggers and foreign keys, or a statement of several tables, change besides the statement's own table.

    ``at``: how many of the statement's own changes come before.
    """

    at: int
    statement: RowsStatement


@dataclass(frozen=True, slots=True)
class RowsStatement:
    """An INSERT (REPLACE too), UPDATE or DELETE with the rows that it changed, in the order of logging.

    ``sql`` is the statement's text as a client would send it.  ``assigned`` are the indexes of the columns that
    the statement names (INSERT's column list, UPDATE's SET clause); None for an INSERT without a list.  ``updates``
    are those that ON DUPLICATE KEY UPDATE names.  ``evaluated`` are the rows that the server had computed when it
    logged the first one.  ``compared`` are the columns that the WHERE clause compares with literals.

    ``further`` are changes of other tables, in order; ``locked`` the tables that the server opened for writing, in its
    order and as often as it did, where that is not just the tables that changed.
    """

    kind: ChangeKind
    table: Table
    changes: tuple[RowChange, ...]
    sql: str
    assigned: frozenset[int] | None = None
    updates: frozenset[int] | None = None
    evaluated: tuple[Evaluation, ...] = ()
    compared: frozenset[int] = frozenset()
    further: tuple[Further, ...] = ()
    locked: tuple[Table, ...] = ()
    #: Full names of the tables that have triggers.
    triggered: frozenset[str] = frozenset()
    #: What the first BEFORE trigger of its kind does first: change rows, or another thing; None: there is no trigger.
    before_trigger: Literal["rows", "other"] | None = None
    #: There are triggers of its kind, before or after rows.
    has_triggers: bool = False
    #: A foreign key made the changes: the server checked none, and marked all columns as used.
    cascaded: bool = False
    #: foreign_key_checks=1: the parents of new rows count for the logical timestamp.
    checks_parents: bool = True
    #: The table is the parent of a foreign key.
    is_parent: bool = False
    #: The server opened a parent of a foreign key for writing, or a child whose keys it checks.
    is_related: bool = False
    #: UPDATE: bits of the tables that it changes, in the order of its table references.
    update_tables: int = 1
    #: (second, microsecond) that CURRENT_TIMESTAMP gave.
    time: tuple[int, int] | None = None
    #: The columns that it compares with several literals at once: BETWEEN, IN.
    compared_together: frozenset[int] = frozenset()
    #: Those of them that BETWEEN gives the same literal twice: MySQL makes an equality of it (recorded).
    compared_twice: frozenset[int] = frozenset()
    line: int | None = None
    context: Context = Context()
    #: LOAD DATA.
    load: LoadFile | None = None
    #: Logged as its text (binlog_format), not as rows.
    as_text: bool = False
    #: Its text is logged beside its rows or not, whatever the session's setting is.
    rows_query: bool | None = None

    def logged(self) -> Iterator[tuple[RowsStatement, RowChange]]:
        """All changes in the order of the log, with the statement that each is part of."""
        waiting = list(self.further)
        for number, change in enumerate(self.changes):
            while waiting and waiting[0].at <= number:
                yield from waiting.pop(0).statement.logged()
            yield self, change
        for later in waiting:
            yield from later.statement.logged()

    @property
    def touches_temporary(self) -> bool:
        """Whether it changes or reads a temporary table."""
        return self.context.reads_temporary or any(part.table.temporary for part in self.parts())

    @property
    def first(self) -> RowsStatement | None:
        """The part that logs the first change; None if nothing changed."""
        return next((part for part, _ in self.logged()), None)

    @property
    def logged_sql(self) -> str:
        """The text that is logged: of the statement that logs the first change, which may stand in a trigger."""
        for further in self.further:
            if further.at == 0 and further.statement.first is not None:
                return self.sql if further.statement.cascaded else further.statement.logged_sql
        return self.sql

    def parts(self) -> Iterator[RowsStatement]:
        """The statement, and all that belongs to it."""
        yield self
        for further in self.further:
            yield from further.statement.parts()

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that TABLE_MAP events are written of, in order."""
        return self.locked or tuple({part.table.full_name: part.table for part in self.parts()}.values())


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
