"""What the compiler is given: tables, and transactions of statements whose rows are already known.

Front ends (``forge.scenario``) make this; nothing here knows their syntax.  Rows are tuples with one entry a
column, in table order; an entry is a value of ``forge.values`` or None for NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import msgspec

from forge.compile.metadata_forms import MetadataForms
from forge.values.base import Value
from forge.values.sqltype import SqlType

Row = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class KeyExpression:
    """An expression that a key is on, which servers keep as a hidden column of the table.

    ``compute`` gives its value for a row (None for NULL; of a multi-valued key the tuple of its elements);
    ``collation`` is that of a value which is text.
    """

    sql: str
    compute: Callable[[Row], Any] = field(compare=False)
    collation: int | None = None
    #: Multi-valued: CAST(... AS type ARRAY).
    arrays: bool = False


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A column of a key; ``prefix`` is in characters (bytes for binary types), None for the whole column.

    Hidden columns, which have an ``expression``, are numbered after the table's own.
    """

    column: int
    prefix: int | None = None
    expression: KeyExpression | None = None


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    kind: Literal["primary", "unique", "index"]
    parts: tuple[KeyPart, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a declared table.

    ``default`` is the literal default (a value of forge.values); ``default_now`` / ``on_update_now`` mark
    DEFAULT CURRENT_TIMESTAMP and ON UPDATE CURRENT_TIMESTAMP.
    """

    name: str
    type: SqlType
    nullable: bool = True
    has_default: bool = False
    default: Value | None = None
    default_now: bool = False
    on_update_now: bool = False
    auto_increment: bool = False
    visible: bool = True
    generated: Literal["virtual", "stored"] | None = None
    #: DEFAULT (expression): the server computes it when the statement runs.
    computed_default: bool = False
    #: Names (lower-case) of the columns that a generated column is computed from.
    uses: frozenset[str] = frozenset()


ReferentialAction = Literal["restrict", "cascade", "set_null"]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """FOREIGN KEY of a child table: its columns, and the (database, name) of the parent with the columns' names."""

    name: str
    columns: tuple[int, ...]
    parent: tuple[str, str]
    parent_columns: tuple[str, ...]
    on_delete: ReferentialAction = "restrict"
    on_update: ReferentialAction = "restrict"
    #: Name of the key of the parent that the columns are.
    parent_key: str = "PRIMARY"


@dataclass(frozen=True, slots=True)
class Table:
    """One version of a table's definition: DDL makes a new Table with the next ``version``."""

    database: str
    name: str
    columns: tuple[TableColumn, ...]
    keys: tuple[Key, ...] = ()
    collation: int = 255
    engine: str = "InnoDB"
    version: int = 0
    #: The id of the partition that a row belongs to; None for a table without partitions.
    partition: Callable[[Row], int] | None = field(default=None, compare=False)
    #: The columns that this depends on.
    partition_columns: frozenset[int] = frozenset()

    foreign_keys: tuple[ForeignKey, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def column_index(self, name: str) -> int:
        """Index of the column of that name (case-insensitive, as servers compare column names); KeyError if none."""
        for index, column in enumerate(self.columns):
            if column.name.lower() == name.lower():
                return index
        raise KeyError(name)

    @property
    def hidden(self) -> int:
        """How many hidden columns keys on expressions have; no event shows them."""
        return sum(part.expression is not None for key in self.keys for part in key.parts)

    @property
    def has_generated_key(self) -> bool:
        """Whether the primary key is as servers generate one (table_has_generated_invisible_primary_key)."""
        key, first = self.primary_key, self.columns[0]
        alone = key is not None and [part.column for part in key.parts] == [0]
        like = first.name == "my_row_id" and first.auto_increment and not first.visible and not first.nullable
        return alone and like and first.type.name == "BIGINT" and first.type.unsigned

    def takes_null(self, part: KeyPart) -> bool:
        """Whether a part of a key can be NULL, as an expression always can."""
        return part.expression is not None or self.columns[part.column].nullable

    @property
    def primary_key(self) -> Key | None:
        """The declared primary key."""
        return next((key for key in self.keys if key.kind == "primary"), None)


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


Origin = Literal["literal", "unread", "converted", "default", "omitted"]


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
    calls: frozenset[Call] = frozenset()
    system_variables: frozenset[str] = frozenset()
    #: The text has a LIMIT: which rows it changes may differ elsewhere.
    limited: bool = False
    #: The first AUTO_INCREMENT value that was generated.
    insert_id: int | None = None
    #: The first of them that was stored, which LAST_INSERT_ID() gives afterwards.
    stored_id: int | None = None
    #: ON DUPLICATE KEY UPDATE changed a row.
    updated: bool = False
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
    #: The transaction has changes of transactional tables already.
    follows_changes: bool = False
    #: Between XA START and XA END.
    in_xa: bool = False
    #: A DELETE without WHERE.
    deletes_all: bool = False
    #: Values for user variables and RAND() that are set before the statement, as SQL.
    settings: tuple[str, ...] = ()


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
    #: CREATE TABLE ... LIKE.
    like: bool = False
    #: CREATE TABLE ... SELECT: the rows that the table gets, in the same group.
    selected: RowsStatement | None = None
    #: IF [NOT] EXISTS made the statement change nothing; it is logged all the same.
    no_effect: bool = False
    #: A statement of kind ``other``: it carries INVOKER, TIME_ZONE, MICROSECONDS (HRNOW), the number of a transaction.
    invoker: bool = False
    zone: bool = False
    fraction: bool = False
    atomic: bool = False
    #: The text that a client sends, where the server logs another; it may keep the statement out of the log.
    replayed: str | None = None
    unlogged: bool = False
    #: The server wrote it by itself (``empty_memory``); a data definition statement was the occasion.
    implicit: bool = False
    caused_by_ddl: bool = False
    #: (second, microsecond) that CURRENT_TIMESTAMP gave.
    time: tuple[int, int] | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Savepoint:
    """SAVEPOINT; it replaces an earlier one of the same name."""

    name: str


@dataclass(frozen=True, slots=True)
class RollbackTo:
    """ROLLBACK TO SAVEPOINT."""

    name: str


@dataclass(frozen=True, slots=True)
class ReleaseSavepoint:
    """RELEASE SAVEPOINT; never logged."""

    name: str


#: Where an event of a scenario's own stands: where it is written; between GTID and BEGIN; between the TABLE_MAP and
#: the rows of the next statement; after FORMAT_DESCRIPTION, before the first group, or at the very end of its file.
EventPlace = Literal["here", "begin", "rows", "description", "head", "end"]


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """An event that no statement logs, which the scenario places: informational, private, or of an unknown type.

    ``data`` is its body, or ``text`` what a body of that type says.  ``post_header_length`` puts the type into the
    list of FORMAT_DESCRIPTION.
    """

    type_code: int
    data: bytes = b""
    text: str | None = None
    flags: int = 0
    place: EventPlace = "here"
    timestamp: int | None = None
    server_id: int | None = None
    post_header_length: int | None = None


#: A statement inside a transaction, or an event that is placed there.
Step = RowsStatement | Savepoint | RollbackTo | ReleaseSavepoint | OwnEvent


@dataclass(frozen=True, slots=True)
class XaId:
    """Identifier of an XA transaction: global part, branch, format."""

    gtrid: bytes
    bqual: bytes = b""
    format_id: int = 1


#: How a transaction ends: of an XA one, ``prepare`` leaves it to a later XaEnd, ``commit`` is COMMIT ONE PHASE.
End = Literal["commit", "rollback", "prepare"]


@dataclass(frozen=True, slots=True)
class Transaction:
    """Statements that end together.  One statement without ``explicit`` runs in autocommit mode.

    It is what the client sends; what of it is logged, and in which groups, ``forge.compile.grouping`` says.
    """

    statements: tuple[Step, ...]
    current_database: str
    explicit: bool = False
    end: End = "commit"
    #: It runs between XA START and XA END.
    xa: XaId | None = None
    #: binlog_format=STATEMENT, in which MariaDB logs the rollback of a transaction that changed what stays.
    statement_format: bool = False

    @property
    def has_text(self) -> bool:
        """Whether a statement is logged as its text."""
        return any(statement.as_text for statement in self.rows_statements)

    @property
    def in_block(self) -> bool:
        """Whether the statements run between BEGIN and COMMIT, or XA START and XA END."""
        return self.explicit or self.xa is not None or self.end != "commit" or self._several

    @property
    def _several(self) -> bool:
        return sum(not isinstance(step, OwnEvent) for step in self.statements) > 1

    @property
    def rows_statements(self) -> tuple[RowsStatement, ...]:
        """The statements that change rows."""
        return tuple(step for step in self.statements if isinstance(step, RowsStatement))


@dataclass(frozen=True, slots=True)
class XaEnd:
    """XA COMMIT or XA ROLLBACK of a prepared transaction."""

    xa: XaId
    end: Literal["commit", "rollback"]
    current_database: str
    #: Its preparation was logged.
    logged: bool = True
    #: A transactional engine took part, and before the log did.
    engine_first: bool = True
    #: A statement changed tables that no rollback reaches.
    mixed: bool = False


Group = Transaction | DdlStatement | XaEnd

#: FLUSH BINARY LOGS, a shutdown, or a crash; the server is started again after the last two.
FileEnd = Literal["flush", "restart", "crash"]


@dataclass(frozen=True, slots=True)
class FileStep:
    """What ends a file and begins the next, after ``after`` groups of the plan."""

    kind: FileEnd
    after: int


@dataclass(frozen=True, slots=True)
class EventStep:
    """An event outside of all groups, after ``after`` groups of the plan and ``files`` of its file steps."""

    event: OwnEvent
    after: int
    files: int


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A BINLOG_CHECKPOINT that MariaDB's background thread wrote after ``after`` groups of its file."""

    after: int
    #: Header time.
    second: int
    #: The oldest file that crash recovery still needs.
    file: str


class FileFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of one file of a session; all optional."""

    #: Seconds: header time of FORMAT_DESCRIPTION.
    opened: int | None = None
    #: Seconds: its ``created`` field: ``opened`` in the first file after a server start, else 0.
    created: int | None = None
    #: Seconds: header time of PREVIOUS_GTIDS (GTID_LIST, BINLOG_CHECKPOINT), where it is another second.
    listed: int | None = None
    #: Seconds: header time of STOP or ROTATE.
    closed: int | None = None
    #: The session's connection; in later files where it is another one than before.
    thread_id: int | None = None
    #: MariaDB: the file that BINLOG_CHECKPOINT names at the file's start.
    checkpoint_file: str | None = None
    #: Seconds: header time of that BINLOG_CHECKPOINT, where it is another second than GTID_LIST's.
    checkpointed: int | None = None
    #: MariaDB: further BINLOG_CHECKPOINT events; where none are given, a later file has one after its first group.
    checkpoints: list[Checkpoint] | None = None


class RelayFileFacts(FileFacts, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of one file of a relay log: its own events, and those in which the source or the receiver has a say."""

    #: Seconds: header time of the artificial ROTATE that names the source's file.
    announced: int | None = None
    #: Seconds: header time of the ROTATE of server id 0 that notes a position.
    noted: int | None = None


class Facts(FileFacts, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of a session: what a scenario cannot decide and a recording can tell.  All optional.

    The fields of FileFacts are those of the first file.  Lists are in file order.  ``timestamps`` has one list a group
    (GTID to commit): the start second of each statement, then the second of the commit (DDL: one entry); MariaDB's
    have the end of the transaction after that.
    """

    server_version: str | None = None
    server_uuid: str | None = None
    timestamps: list[list[int]] | None = None
    #: Microseconds since the epoch, one a group: the immediate commit timestamp of its GTID event.
    commit_timestamps: list[int] | None = None
    #: Seconds of exec_time, one a QUERY event.
    exec_times: list[int] | None = None
    #: One a TABLE_MAP event.
    table_ids: list[int] | None = None
    #: One a LOAD DATA in statement format.
    file_ids: list[int] | None = None
    first_table_id: int | None = None
    #: One a group: of the XID event, or of the DDL's status variable; groups without one have 0.
    xids: list[int] | None = None
    first_xid: int | None = None
    #: Number of the first GTID (gno).
    first_gno: int | None = None
    #: Name of the next file in a closing ROTATE.
    next_file: str | None = None
    #: The second and later files of the session.
    later_files: list[FileFacts] = []
    #: The files of the relay log, where the session is seen in one.
    relay: list[RelayFileFacts] = []

    def file(self, number: int) -> FileFacts:
        """The facts of the session's file ``number``, from 0."""
        if number == 0:
            return self
        return self.later_files[number - 1] if number <= len(self.later_files) else FileFacts()

    def thread_in(self, number: int) -> int | None:
        """The connection's id in the session's file ``number``, from 0."""
        known = (self.file(at).thread_id for at in range(number, -1, -1))
        return next((thread for thread in known if thread is not None), None)


class PayloadForms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Compressed transactions in other forms than a server's, which readers take."""

    #: ``none``: a payload that is not compressed.
    compression: Literal["zstd", "none"] = "zstd"
    #: zstd frames, one after the other.
    frames: int = 1
    #: Whether frames tell the size of their content, and have a checksum of their own.
    content_size: bool = True
    frame_checksum: bool = False


class Torn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What a crash left of a session's last file."""

    #: Whole events that are there; a negative number leaves out so many at the end.
    events: int | None = None
    #: Bytes of the event behind them that are there too.
    bytes: int = 0
    #: The file has so many bytes, in the place of ``events`` and ``bytes``.
    size: int | None = None
    #: Zero bytes behind that, as a file system leaves them.
    zeros: int = 0


class RelayLog(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The replica of a session that is seen in its relay log."""

    server_id: int = 2
    #: Name of the files, before the point and the number.
    name: str = "relay"


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Settings of the server and the session that decide what is logged."""

    row_image: Literal["full", "minimal", "noblob"] = "full"
    #: binlog_row_value_options: UPDATE logs what JSON functions change in JSON columns (MySQL 8.0.3 on).
    row_value_options: Literal["PARTIAL_JSON"] | None = None
    #: Optional metadata of TABLE_MAP; "none" (NO_LOG) is MariaDB's default and unknown to MySQL.
    row_metadata: Literal["none", "minimal", "full"] = "minimal"
    rows_query: bool = False
    #: binlog_format: changes are logged as rows, as the statements' texts, or as texts unless that were unsafe.
    binlog_format: Literal["row", "statement", "mixed"] = "row"
    gtid: bool = False
    #: Tag of the GTIDs, ``uuid:tag:number`` (MySQL 8.3 on).
    gtid_tag: str | None = None
    #: MariaDB: the domain of the session's GTIDs.
    gtid_domain_id: int = 0
    #: By default crc32, where the server line has checksums.
    checksum: Literal["crc32", "none"] | None = None
    binlog_row_event_max_size: int = 8192
    #: A file that has reached this size after a transaction is rotated; None: one file.
    max_binlog_size: int | None = None
    #: Name of the files, before the point and the number.
    log_name: str = "binlog"
    #: Number of the first file (``RESET BINARY LOGS AND GTIDS TO``).
    first_file: int = 1
    server_id: int = 1
    #: Current database of the session; by default that of the first table.
    database: str | None = None
    #: ``SET timestamp``: all statements see this time, as text ``YYYY-MM-DD hh:mm:ss[.ffffff]`` in UTC.
    timestamp: str | None = None
    #: How the file ends: STOP (shutdown), ROTATE (FLUSH BINARY LOGS), or nothing (a crash or an active file).
    ends_with: Literal["stop", "rotate", "nothing"] = "stop"
    #: With ``ends_with: nothing``: the last file is not whole.
    torn: Torn | None = None
    #: Not the server's log is made, but the relay log of a replica that reads it; ``ends_with`` is the replica's end.
    relay_log: RelayLog | None = None
    #: ``binlog_transaction_compression``: the events of a transaction travel in one zstd payload (MySQL 8.0.20 on).
    compression: bool = False
    compression_level: int = 3
    #: With ``compression``: other forms of the payload than the server's own.
    payload: PayloadForms = PayloadForms()
    #: MariaDB: texts of statements and rows of at least ``log_bin_compress_min_len`` bytes are compressed one by one.
    log_bin_compress: bool = False
    log_bin_compress_min_len: int = 256
    #: ``sql_generate_invisible_primary_key``: tables without a key get the column my_row_id (8.0.30 on).
    generate_invisible_primary_key: bool = False
    foreign_key_checks: bool = True
    unique_checks: bool = True
    #: The session's sql_mode: "" clips values that a column cannot hold; without it, the server's default refuses them.
    sql_mode: str | None = None
    #: MariaDB: false makes tables whose TIME, DATETIME and TIMESTAMP have the forms of servers before 5.6.
    mysql56_temporal_format: bool = True
    #: The optional metadata of TABLE_MAP in other forms than the server's own.
    metadata: MetadataForms = MetadataForms()
    facts: Facts = Facts()


@dataclass(frozen=True, slots=True)
class Plan:
    """A scenario with everything filled in: the compiler's input."""

    name: str
    server: str
    session: Session
    groups: tuple[Group, ...]
    #: Rows that every table holds at the end, by full name: {"shop.orders": (row, ...)}.
    contents: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    #: The definition of every table at the end.
    tables: dict[str, Table] = field(default_factory=dict)
    #: What ends files before the session's end, in the order in which it happens.
    file_steps: tuple[FileStep, ...] = ()
    #: Events of the scenario's own that stand outside of all groups.
    event_steps: tuple[EventStep, ...] = ()
