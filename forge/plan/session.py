"""Settings of a session and its server that decide what is logged."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from forge.plan.edits import Edit
from forge.plan.facts import Facts
from forge.plan.metadata_forms import MetadataForms
from forge.servers import ServerLine


class PayloadForms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Compressed transactions in other forms than a server's, which readers take."""

    #: ``none``: a payload that is not compressed.
    compression: Literal["zstd", "none"] = "zstd"
    #: zstd frames, one after the other.
    frames: int = 1
    #: Whether frames tell the size of their content (by default as the line's server does), and have a checksum of
    #: their own.
    content_size: bool | None = None
    frame_checksum: bool = False


class Torn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What a crash left of a session's last file."""

    #: Whole events that are there; a negative number leaves out so many at the end.
    events: int | None = None
    #: Bytes of the event behind them that are there too.
    bytes: int = 0
    #: The size of the file in bytes, instead of ``events`` and ``bytes``.
    size: int | None = None
    #: Zero bytes behind that, as a file system leaves them.
    zeros: int = 0


class RelayLog(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The replica of a session that is seen in its relay log."""

    server_id: int = 2
    #: Name of the files, before the point and the number.
    name: str = "relay"
    #: ``max_relay_log_size``: a file that has become larger is rotated; None: never for its size.
    max_size: int | None = None


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The server that committed transactions before the one whose log is made, its replica, did so."""

    server_id: int
    #: MySQL: that of its GTIDs; in group replication the group's name.
    uuid: str | None = None
    #: MySQL 8.0.14 on: its version, where it is not the replica's.
    server_version: str | None = None


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
    #: binlog_transaction_dependency_history_size: how many keys are remembered for last_committed; by default the
    #: line's.
    dependency_history: int | None = None
    #: What last_committed follows (MySQL 5.7.22 to 8.3); by default the line's.
    binlog_transaction_dependency_tracking: Literal["COMMIT_ORDER", "WRITESET", "WRITESET_SESSION"] | None = None
    #: How written keys are gathered for it (MySQL 5.7.6 to 8.2): no byte shows which hash it is.
    transaction_write_set_extraction: Literal["OFF", "MURMUR32", "XXHASH64"] | None = None
    #: Row events are of version 1, which 5.5 reads (MySQL 5.6.6 to 8.2).
    log_bin_use_v1_row_events: bool = False
    #: By default the line's: crc32 from MySQL 5.6.6 and MariaDB 10.2.1 on.
    checksum: Literal["crc32", "none"] | None = None
    #: By default the line's: 8192 from MySQL 5.6.6 and MariaDB 10.2 on, 1024 before.
    binlog_row_event_max_size: int | None = None
    #: A file that has reached this size after a transaction is rotated; None: one file.
    max_binlog_size: int | None = None
    #: Name of the files, before the point and the number.
    log_name: str = "binlog"
    #: Number of the first file (``RESET BINARY LOGS AND GTIDS TO``).
    first_file: int = 1
    server_id: int = 1
    #: The transactions are those of this server, which the session's own one runs as a replica (log_replica_updates).
    source: Source | None = None
    #: Tables, ``database.table``, whose changes the replica passes over (replicate_ignore_table); MySQL with GTIDs.
    replicate_ignore_table: list[str] = []
    #: Current database of the session; by default that of the first table.
    database: str | None = None
    #: ``SET timestamp``: all statements see this time, as text ``YYYY-MM-DD hh:mm:ss[.ffffff]`` in UTC.
    timestamp: str | None = None
    #: How the file ends: STOP (shutdown), ROTATE (FLUSH BINARY LOGS), or nothing (a crash or an active file).
    ends_with: Literal["stop", "rotate", "nothing"] = "stop"
    #: With ``ends_with: nothing``: the last file is not whole.
    torn: Torn | None = None
    #: Changes that are made to the finished files, in this order.
    edits: list[Edit] = []
    #: Not the server's log is made, but the relay log of a replica that reads it; ``ends_with`` is the replica's end.
    relay_log: RelayLog | None = None
    #: ``binlog_transaction_compression``: the events of a transaction travel in one zstd payload (MySQL 8.0.20 on).
    compression: bool = False
    compression_level: int = 3
    #: With ``compression``: other forms of the payload than the server's own.
    payload: PayloadForms = PayloadForms()
    #: MariaDB: texts of statements and rows of at least ``log_bin_compress_min_len`` bytes are compressed one by one.
    log_bin_compress: bool = False
    #: MariaDB 11.4 on: events of transactions have their positions, as before 11.4.
    binlog_legacy_event_pos: bool = False
    log_bin_compress_min_len: int = 256
    #: ``sql_generate_invisible_primary_key``: tables without a key get the column my_row_id (8.0.30 on).
    generate_invisible_primary_key: bool = False
    #: Tables need a primary key (MySQL 8.0.13 on).
    sql_require_primary_key: bool = False
    #: MySQL: new databases are encrypted where they do not say.
    default_table_encryption: bool = False
    #: False: TIMESTAMP columns are NOT NULL and have defaults without a word of it, and NULL in them is the time.  By
    #: default the line's: true from MySQL 8.0.2 and MariaDB 10.10 on.
    explicit_defaults_for_timestamp: bool | None = None
    #: The engine of a table whose definition names none.
    default_storage_engine: str = "InnoDB"
    #: 1: the server keeps the names of databases and tables in lower case, whatever a statement writes.
    lower_case_table_names: Literal[0, 1] = 0
    #: MariaDB 10.8 on: ALTER TABLE is two groups, its start and its end.
    binlog_alter_two_phase: bool = False
    #: MariaDB: CHECK constraints refuse no rows.
    check_constraint_checks: bool = True
    foreign_key_checks: bool = True
    unique_checks: bool = True
    #: AUTO_INCREMENT numbers are ``offset``, ``offset + increment`` and so on.
    auto_increment_increment: int = 1
    auto_increment_offset: int = 1
    #: The language of names of months and days.
    lc_time_names: str = "en_US"
    #: The session's time zone: ``SYSTEM`` (the server's, which is UTC) or an offset (``+02:00``), in which TIMESTAMP
    #: is read and CURRENT_TIMESTAMP gives the time.
    time_zone: str = "+00:00"
    #: SET NAMES: a character set, or one of its collations, of the client's texts and the connection.
    names: str | None = None
    #: The same one by one; ``character_set_results`` changes nothing that is logged.
    character_set_client: str | None = None
    character_set_results: str | None = None
    character_set_connection: str | None = None
    character_set_server: str | None = None
    #: Collations of the connection, of the server (the session's, for new databases) and of the current database.
    collation_connection: str | None = None
    collation_server: str | None = None
    collation_database: str | None = None
    #: MySQL: the collation of ``CHARACTER SET utf8mb4``; None: the server's.
    default_collation_for_utf8mb4: Literal["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"] | None = None
    sql_auto_is_null: bool = False
    #: MariaDB: replicas pass over the events (flag SKIP_REPLICATION), or do not run them beside others.
    skip_replication: bool = False
    skip_parallel_replication: bool = False
    #: NDB: row events have the extra row info that ``ndb_log_transaction_id`` gives them, with this number.
    ndb_transaction_id: Annotated[int, msgspec.Meta(ge=0)] | None = None
    #: sql_mode, names with commas: one that is not strict clips values that a column cannot hold; without it, the
    #: server's default.
    sql_mode: str | None = None
    #: MariaDB: false makes tables whose TIME, DATETIME and TIMESTAMP have the forms of servers before 5.6.
    mysql56_temporal_format: bool = True
    #: The optional metadata of TABLE_MAP in other forms than the server's own.
    metadata: MetadataForms = MetadataForms()
    facts: Facts = Facts()

    @property
    def is_own_log(self) -> bool:
        """Whether its files are whole, and a server's own: no changed ones, no relay log, none of a replica."""
        return self.torn is None and not self.edits and self.relay_log is None and self.source is None


def on_line(session: Session, line: ServerLine) -> Session:
    """The session with the defaults of its line in the place of what it does not say."""
    unsaid = [name for name in line.settings.__struct_fields__ if getattr(session, name) is None]
    return msgspec.structs.replace(session, **{name: getattr(line.settings, name) for name in unsaid})


def row_event_limit(session: Session, line: ServerLine) -> int:
    """Bytes that the rows of one event may have."""
    return session.binlog_row_event_max_size or line.settings.binlog_row_event_max_size
