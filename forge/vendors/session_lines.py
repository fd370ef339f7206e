"""What the vendors' programs print in front of a statement: the settings of its session, where they changed.

What counts is what the output said last, over files; a replay of the output has then the same settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from forge.charsets import collation
from forge.errors import ScenarioError
from forge.events.event import SUPPRESS_USE
from forge.events.plain import to_bytes
from forge.events.status_vars import UNREAD
from forge.vendors.column_forms import Flavour
from forge.vendors.quoting import in_backticks

DELIMITER = b"/*!*/;"
THREAD_SPECIFIC = 0x0004
_NO_THREAD = 999999999
#: Texts for which the database does not matter.
OF_TRANSACTIONS = (b"BEGIN", b"COMMIT", b"SAVEPOINT", b"ROLLBACK")
OF_XA = (b"XA ",)
#: Modes that MySQL 8.0 took away.
_REMOVED_MODES = 0x1003FF00
#: (bit of FLAGS2, variable, whether the bit says that it is off)
_FLAGS = (
    (1 << 26, "foreign_key_checks", True),
    (1 << 14, "sql_auto_is_null", False),
    (1 << 27, "unique_checks", True),
    (1 << 19, "autocommit", True),
)
MARIADB_FLAGS = (
    *_FLAGS,
    (1 << 15, "check_constraint_checks", True),
    (1 << 28, "sql_if_exists", False),
    (1 << 24, "explicit_defaults_for_timestamp", False),
    (1 << 20, "system_versioning_insert_history", False),
)
#: Status variables that a program does not know.
_OF_MYSQL = frozenset((
    "updated_databases", "microseconds", "commit_timestamp", "commit_timestamps", "explicit_defaults_for_timestamp",
    "ddl_xid", "default_collation_for_utf8mb4", "sql_require_primary_key", "default_table_encryption",
    "enable_cascade_triggers",
))  # fmt: skip
_OF_MARIADB = frozenset(("hrnow", "mariadb_ddl_xid", "mariadb_gtid_flags", "character_set_collations", "dummy"))
_OF_OTHERS = frozenset(("commit_gcn", "prepare_gcn", UNREAD))
_UNKNOWN: dict[Flavour, frozenset[str]] = {
    "mysql": _OF_MARIADB | _OF_OTHERS,
    "mariadb-11.8": _OF_MYSQL | _OF_OTHERS,
    "mariadb-10.11": _OF_MYSQL | _OF_OTHERS | {"character_set_collations"},
}


@dataclass(slots=True)
class SessionLines:
    """What the output said last of each setting; None before it said anything."""

    flavour: Flavour
    delimiter: bytes = DELIMITER
    #: With --short-form, threads have no numbers of their own.
    short_form: bool = False
    #: Whether no thread may be named.
    without_thread: bool = False
    #: Bits of FLAGS2 that servers of the file cannot have.
    absent_flags: int = 0
    database: bytes = b""
    thread_id: int | None = None
    flags2: int | None = None
    sql_mode: int | None = None
    auto_increment: tuple[int, int] | None = None
    charset: tuple[int, int, int] | None = None
    once: dict[str, Any] = field(default_factory=dict)
    #: Character sets that the program does not know, and whether it has said so.
    unknown_charsets: dict[int, bool] = field(default_factory=dict)

    @property
    def mysql(self) -> bool:
        return self.flavour == "mysql"

    def use(self, flags: int, database: bytes, *, trivial: bool) -> Iterator[bytes]:
        """The line that changes the database; ``trivial``: for the text it does not matter."""
        if flags & SUPPRESS_USE:
            if not trivial:
                self.database = b""
        elif database != self.database and (self.mysql or not trivial):
            if database:
                yield b"use " + in_backticks(database)
            self.database = database

    def settings(self, timestamp: int, flags: int, body: Any) -> Iterator[bytes]:
        """The statements that set what the event of ``body`` says of its session."""
        status = self.status(body)
        yield self._timestamp(timestamp, status)
        yield from self._thread(flags, body.thread_id)
        if "flags2" in status:
            yield from self._flags(status["flags2"])
        if "sql_mode" in status and self.sql_mode != status["sql_mode"]:
            self.sql_mode = mode = status["sql_mode"]
            removed = b"/*!80005 &~0x%x*/" % _REMOVED_MODES if self.mysql and mode & _REMOVED_MODES else b""
            yield b"SET @@session.sql_mode=%d" % mode + removed
        increment = tuple(status.get("auto_increment", (1, 1)))
        if self.auto_increment != increment:
            self.auto_increment = increment
            yield b"SET @@session.auto_increment_increment=%d, @@session.auto_increment_offset=%d" % increment
        if "charset" in status and self.charset != tuple(status["charset"]):
            self.charset = tuple(status["charset"])
            yield from self.charset_lines(self.charset)
        if not self.mysql and "character_set_collations" in status:
            yield self._collations(status["character_set_collations"])
        yield from self._locale(status)
        if self.mysql:
            yield from self._of_mysql(status)

    def status(self, body: Any) -> dict[str, Any]:
        """The status variables that the program reads: those up to the first that it does not know."""
        read = takewhile(lambda variable: variable[0] not in _UNKNOWN[self.flavour], body.status_variables)
        return dict(read)

    def _timestamp(self, timestamp: int, status: dict[str, Any]) -> bytes:
        micro = status.get("microseconds" if self.mysql else "hrnow")
        return b"SET TIMESTAMP=%d" % timestamp + (b".%06d" % micro if micro else b"")

    def _thread(self, flags: int, number: int) -> Iterator[bytes]:
        if self.without_thread:
            return
        if self.thread_id is None or (flags & THREAD_SPECIFIC and self.thread_id != number):
            self.thread_id = number
            yield b"SET @@session.pseudo_thread_id=%d" % (_NO_THREAD if self.short_form else number)

    def _flags(self, flags: int) -> Iterator[bytes]:
        changed = ~0 if self.flags2 is None else self.flags2 ^ flags
        self.flags2 = flags
        parts = [
            f"@@session.{name}={int(bool(flags & bit) != inverted)}"
            for bit, name, inverted in (_FLAGS if self.mysql else MARIADB_FLAGS)
            if changed & bit & ~self.absent_flags
        ]
        if parts:
            yield b"SET " + ", ".join(parts).encode()

    def charset_lines(self, charset: tuple[int, int, int]) -> Iterator[bytes]:
        """The client's character set as the client's own command and as a statement."""
        form = b"SET @@session.character_set_client=%s,@@session.collation_connection=%d,@@session.collation_server=%d"
        try:
            name = to_bytes(collation(charset[0], self.flavour).charset)
        except ScenarioError:
            self.unknown_charsets.setdefault(charset[0], False)
            yield b"# Ignored (Unknown charset) " + form % (b"Unknown", *charset[1:])
            return
        yield rb"/*!\C " + name + b" */"
        yield form % (b"%d" % charset[0] if self.mysql else name, *charset[1:])

    def _collations(self, pairs: Any) -> bytes:
        names = (
            f"{collation(charset, self.flavour).charset}={collation(chosen, self.flavour).name}"
            for charset, chosen in pairs
        )
        return b"SET @@session.character_set_collations='" + ",".join(names).encode() + b"'"

    def _locale(self, status: dict[str, Any]) -> Iterator[bytes]:
        zone = status.get("time_zone")
        if zone and self._changes("time_zone", zone):
            yield b"SET @@session.time_zone='" + to_bytes(zone) + b"'"
        names = status.get("lc_time_names", 0)
        if self._changes("lc_time_names", names):
            yield b"SET @@session.lc_time_names=%d" % names
        number = status.get("charset_database", 0)
        if self._changes("charset_database", number):
            yield b"SET @@session.collation_database=" + (b"%d" % number if number else b"DEFAULT")

    def _of_mysql(self, status: dict[str, Any]) -> Iterator[bytes]:
        if "explicit_defaults_for_timestamp" in status:
            value = status["explicit_defaults_for_timestamp"]
            yield b"SET @@session.explicit_defaults_for_timestamp=%d" % value
        if "default_collation_for_utf8mb4" in status:
            value = status["default_collation_for_utf8mb4"]
            if self._changes("default_collation_for_utf8mb4", value):
                yield b"/*!80011 SET @@session.default_collation_for_utf8mb4=%d*/" % value
        if "sql_require_primary_key" in status:
            yield b"/*!80013 SET @@session.sql_require_primary_key=%d*/" % status["sql_require_primary_key"]
        if "default_table_encryption" in status:
            yield b"/*!80016 SET @@session.default_table_encryption=%d*/" % status["default_table_encryption"]

    def _changes(self, name: str, value: Any) -> bool:
        changed = bool(self.once.get(name) != value)
        self.once[name] = value
        return changed
