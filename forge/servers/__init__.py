"""Facts about server lines, as data: what each writes, and the quirks it is known for.

One TOML file a line in ``lines/``, and one table of what came when (``features.toml``).  Code asks the line
("null_padding", ``knows("row_images")``), never the version number; adding a line means adding a file.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from forge.errors import ScenarioError, nearest
from forge.servers.features import Family, Release, feature, features_of_statement, release


class ServerLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What servers of one line write.  Evidence for each fact stands beside it in the TOML files."""

    name: str
    family: Family
    #: The version string that FORMAT_DESCRIPTION has where no recording gives another.
    server_version: str
    #: Post-header lengths of FORMAT_DESCRIPTION, type 1 first, in hexadecimal.
    post_header_lengths: str
    #: Types that readers of the line do not decode in a file, older ones than the line among them.
    unread_types: tuple[int, ...] = ()
    #: SQL_MODE status variable of a default session.
    sql_mode: int
    #: Collation ids of a default client: character_set_client, collation_connection, collation_server.
    client_charset: tuple[int, int, int]
    #: DEFAULT_COLLATION_FOR_UTF8MB4 status variable.
    default_collation_for_utf8mb4: int | None = None
    #: FLAGS2 status variable of a default session.
    flags2: int = 0
    #: The default sql_mode refuses what a column cannot hold; without, it is clipped.
    strict: bool = True
    #: A DATETIME literal may have an offset, so that reading one asks for the session's time zone (8.0.19 on).
    datetime_zone: bool = True
    #: Tables with partitions may have columns of spatial types (recorded).
    spatial_partitions: bool = False
    #: DROP TABLE is logged in the server's own words.
    rewrites_drop: bool = True
    #: Row-logged UPDATE says TABLE_MAP_FOR_UPDATE in its BEGIN.
    table_map_for_update: bool = True
    #: The first byte of ROWS_QUERY is the low byte of the text's length (else 0).
    rows_query_length: bool = False
    #: GTID events of transactions of rows say that they may have statements in them.
    gtid_may_have_statements: bool = False
    #: PREVIOUS_GTIDS has the flag IGNORABLE.
    previous_gtids_ignorable: bool = True
    #: Collation of a database that names none.
    default_collation: int
    #: Version of the row events: 1 (no extra row info) or 2.
    rows_version: Literal[1, 2] = 2
    #: TIME, DATETIME and TIMESTAMP have the forms of before 5.6.
    old_temporals: bool = False
    #: Row-event flags of every row event.
    row_flags: int
    #: Unused bits of the null bitmap in row images are 1.
    null_padding: bool
    #: Unused bits of a columns-present bitmap with all columns are 1.
    present_padding: bool
    #: Without a key, after images are complete in every image mode, as before images are everywhere; so are those of
    #: INSERT () VALUES ().
    keyless_images_whole: bool = False
    #: In NOBLOB images after images have the blobs of the key that stands for the row, as before images do everywhere.
    noblob_keeps_key: bool = False
    #: BEGIN of a statement that writes a parent of a foreign key, or a checked child, claims all databases.
    foreign_keys_isolate: bool = False
    #: REFERENCES on a column declares a foreign key (9.0 on); others read and forget it.
    column_references: bool = True
    #: A foreign key refers to a unique key (restrict_fk_on_non_standard_key); without, an index does.
    foreign_keys_to_unique: bool = False
    #: MariaDB: TABLE_MAP says whether the table has triggers.
    flags_triggers: bool = False
    #: How foreign keys change child rows: "logged": as changes of their own; "silent": inside the storage engine.
    cascades: Literal["logged", "silent"] = "silent"
    #: Where REPLACE or ON DUPLICATE KEY UPDATE found a row, after images are complete in every mode.
    duplicate_images_whole: bool = False
    #: Generated columns in images that are not complete: "followed": INSERT has all, UPDATE those which use a written
    #: column and virtual ones with a key; "kept": the stored ones, and virtual ones with a key; "inserted": the same in
    #: images of INSERT, and no generated column in those of UPDATE and DELETE, complete ones too, and in what the same
    #: statement inserts after one (REPLACE, ON DUPLICATE KEY UPDATE).
    generated_images: Literal["followed", "kept", "inserted"] = "followed"
    #: Types of optional metadata in binlog_row_metadata = MINIMAL and FULL, in writing order.
    minimal_metadata: tuple[str, ...]
    full_metadata: tuple[str, ...]
    #: How last_committed is found: the previous transaction, or the last one that wrote the same keys.
    dependency_tracking: Literal["commit_order", "writeset"] = "commit_order"
    #: Events inside a transaction have their position in log_pos (MariaDB 11.4 on: 0).
    cached_positions: bool = True
    #: MariaDB 11.2 on: pairs of a character set's compiled-in default collation and the one in force.
    character_set_collations: tuple[tuple[int, int], ...] = ()
    #: Starting again after a crash leaves the IN_USE flag in the crashed file (MySQL clears it).
    crash_leaves_in_use: bool = False
    #: Statement format: functions unsafe on this line beside those of forge.compile.query.statement_format.
    unsafe_functions: tuple[str, ...] = ()
    #: Statement format: XA transactions are unsafe, so that MIXED logs their rows.
    unsafe_xa: bool = False
    #: XA PREPARE frees the session for other statements (xa_detach_on_prepare, 8.0.29 on).
    detaches_xa: bool = False
    #: MIXED looks for ON DUPLICATE KEY UPDATE over several keys when columns are marked already: only keys whose
    #: columns are all written count, and after images have the marked columns alone in every image mode.
    late_duplicate_check: bool = False
    #: Statement format: ENABLE_CASCADE_TRIGGERS status variable of changes; None: not written.
    enable_cascade_triggers: int | None = None
    #: Statement format: collation that USER_VAR has with numbers; None: that of the connection.
    number_collation: int | None = None
    #: Statement format: UPDATE and DELETE of an empty table whose engine counts its rows are not logged: "hashes": in
    #: MEMORY by a key that is not unique; "keys": by any key; "all": all but DELETE without WHERE.
    sees_empty_tables: Literal["hashes", "keys", "all"] = "hashes"
    #: Statement format: USER_VAR is logged of variables that the text names, whether they were read or not.
    logs_unread_variables: bool = False
    #: Statement format: USER_VAR says whether an integer is unsigned.
    user_variable_flags: bool = True
    #: Subqueries that make a statement one of several tables: "all" of a DELETE (MySQL 8.0.21 on), "in" of UPDATE and
    #: DELETE (MariaDB 11.1 on).
    joins_subqueries: Literal["", "all", "in"] = ""
    #: UPDATE of several tables asks the engine to change a row that stays the same.
    updates_on_the_fly: bool = False
    #: What is logged of temporary tables is known (8.0 on: nothing in row format).
    temporary_tables: bool = False
    #: Collation of names, in which a server writes by itself what a session's end drops: utf8mb3_general_ci.
    system_collation: int = 33
    #: MIXED logs what is done to temporary tables as texts, as STATEMENT does.
    mixed_logs_temporary: bool = False
    #: CREATE TABLE ... SELECT is one group of table and rows, as recorded (MySQL: WL#13355, 8.0.21 on).
    create_select: bool = False
    #: Statement format: the text of LOAD DATA has one space behind OPTIONALLY, and an escape for 0x1a.
    load_text_tidy: bool = False
    #: Statement format: DEFAULT CURRENT_TIMESTAMP of a TIMESTAMP without fraction digits uses the fraction (HRNOW).
    timestamp_now_has_fraction: bool = False
    #: Statement format: a TIMESTAMP literal in WHERE uses the time zone only where a row is compared with it.
    compares_lazily: bool = False
    #: Statement format: COMMIT of one statement that changed nothing has the status variables of the statement.
    commit_has_variables: bool = True
    #: Statement format: bytes of a block of LOAD DATA LOCAL, which its client sends at once.
    local_block_size: int = 16384
    #: (user, host) of the session: INVOKER status variable, and definer of what names none.
    session_user: tuple[str, str] = ("root", "localhost")
    #: What an account without a plugin has, and thousands of rounds of caching_sha2_password.
    authentication_plugin: str = "caching_sha2_password"
    password_rounds: int = 5
    #: REPAIR TABLE of InnoDB reads the defaults of the table's columns, as ALTER TABLE does.
    repair_remakes: bool = False
    #: Comment in the TRUNCATE TABLE that empties a MEMORY table after a start of the server.
    memory_comment: str = "/* generated by server, implicitly emptying in-memory table */"
    #: MariaDB: the GTID event says the thread.
    gtid_thread_id: bool = False

    @property
    def post_header_bytes(self) -> bytes:
        return bytes.fromhex(self.post_header_lengths)

    @property
    def release(self) -> Release:
        """The release that stands for the line, e.g. (5, 7, 44)."""
        return release(self.server_version)

    def knows(self, name: str) -> bool:
        """Whether servers of this line have the feature of ``features.toml``."""
        return feature(name).is_in(self.family, self.release)

    def require(self, name: str) -> None:
        """Raises ScenarioError, which says since when the feature exists, if the line does not have it."""
        if not self.knows(name):
            raise ScenarioError(
                f"{self.name} does not have {feature(name).title}", expected=feature(name).history(self.family)
            )

    def require_statement(self, text: str) -> None:
        """Raises ScenarioError for a statement of data definition with words that the line does not parse."""
        for name in features_of_statement(text):
            if feature(name).reaction(self.family).effect == "refuse":
                self.require(name)


@cache
def server_names() -> tuple[str, ...]:
    """The known lines, e.g. ``mysql-9.7``."""
    found = (entry.name for entry in files("forge.servers").joinpath("lines").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@cache
def server_line(name: str) -> ServerLine:
    """The line of that name.  Raises ScenarioError with the nearest known name."""
    if name not in server_names():
        raise ScenarioError(
            f"unknown server line {name!r}",
            expected=f"one of {', '.join(server_names())}",
            suggestion=nearest(name, server_names()),
        )
    text = files("forge.servers").joinpath("lines", f"{name}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), ServerLine)


@cache
def locale_names() -> tuple[str, ...]:
    """The names of lc_time_names; their places are their numbers."""
    found = tomllib.loads(files("forge.servers").joinpath("locales.toml").read_text("utf-8"))
    return tuple(found["names"])
