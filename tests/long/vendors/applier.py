"""A real server that applies binary logs: they are put in the place of its relay log, and its applier runs them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pymysql  # type: ignore[import-untyped]
from pymysql.cursors import DictCursor  # type: ignore[import-untyped]

from forge.errors import ForgeError
from forge.record.builds import BUILDS
from forge.record.server import RealServer

#: Seconds that a log may take.
_LIMIT = 15.0
_POLL = 0.01
_SHORT_POLL = 0.002
_PATIENCE = 10.0
#: Errors of a connection that has ended.
_LOST = (2006, 2013)
#: Errors of what is there already: databases, tables, rows of system tables, accounts, tablespaces.
_LEFT_OVER = (1007, 1050, 1062, 1396, 1526, 3119, 3508)
_SYSTEM = frozenset(("mysql", "sys", "information_schema", "performance_schema"))
_ACCOUNTS = ("root", "mysql.sys", "mysql.session", "mysql.infoschema", "mariadb.sys", "PUBLIC", "")


@dataclass(frozen=True, slots=True)
class _Words:
    """How a vendor calls it."""

    point: str
    place: str
    start: str
    stop: str
    reset: tuple[str, ...]
    status: str
    running: str
    state: str
    options: tuple[str, ...]
    #: What its applier needs to have.
    prepared: tuple[str, ...] = ()
    #: MySQL hands transactions to a worker, whose errors its own status does not tell.
    has_worker: bool = False


_WORDS = {
    "mysql": _Words(
        point="CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1'",
        place="CHANGE REPLICATION SOURCE TO RELAY_LOG_FILE = '{}', RELAY_LOG_POS = 4",
        start="START REPLICA SQL_THREAD",
        stop="STOP REPLICA",
        reset=("RESET REPLICA ALL", "RESET BINARY LOGS AND GTIDS"),
        status="SHOW REPLICA STATUS",
        running="Replica_SQL_Running",
        state="Replica_SQL_Running_State",
        options=(
            "--gtid-mode=ON_PERMISSIVE", "--enforce-gtid-consistency=WARN", "--skip-replica-start",
            "--replica-parallel-workers=1", "--performance-schema=1",
        ),
        has_worker=True,
    ),
    "mariadb": _Words(
        point="CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_USE_GTID = no",
        place="CHANGE MASTER TO RELAY_LOG_FILE = '{}', RELAY_LOG_POS = 4",
        start="START SLAVE SQL_THREAD",
        stop="STOP SLAVE",
        reset=("RESET SLAVE ALL", "SET GLOBAL gtid_slave_pos = ''"),
        status="SHOW SLAVE STATUS",
        running="Slave_SQL_Running",
        state="Slave_SQL_Running_State",
        options=("--skip-slave-start",),
        prepared=(
            "CREATE DATABASE IF NOT EXISTS mysql",
            "CREATE TABLE IF NOT EXISTS mysql.gtid_slave_pos (domain_id INT UNSIGNED NOT NULL, sub_id BIGINT UNSIGNED"
            " NOT NULL, server_id INT UNSIGNED NOT NULL, seq_no BIGINT UNSIGNED NOT NULL,"
            " PRIMARY KEY (domain_id, sub_id))",
        ),
    ),
}  # fmt: skip
_MASTER = replace(
    _WORDS["mariadb"],
    point="CHANGE MASTER TO MASTER_HOST = '127.0.0.1'",
    reset=("RESET SLAVE ALL", "RESET MASTER"),
    options=("--skip-slave-start",),
    prepared=(),
)
#: Builds whose words are not those that the vendor has today.
_OLDER_WORDS = {
    "mysql55": _MASTER,
    "mysql56": _MASTER,
    "mysql5624": _MASTER,
    "mysql80": replace(
        _WORDS["mysql"],
        reset=("RESET REPLICA ALL", "RESET MASTER"),
        options=(
            "--gtid-mode=ON_PERMISSIVE", "--enforce-gtid-consistency=WARN", "--skip-replica-start",
            "--replica-parallel-workers=0",
        ),
        has_worker=False,
    ),
}  # fmt: skip


class ServerEnded(ForgeError):
    """The server's process ended while it applied a log, or read what came of it."""


@dataclass(frozen=True, slots=True)
class Applied:
    """How the applier got on: number and text of the error that it stopped with; 0 if it got to the end.

    The number is -1 if it does not come to an end, -2 if it stops without one.

    ``selected`` is the first error of a SELECT of the tables that are there then.  ``place`` is the file, from 0, and
    the offset up to which it has come: where the group begins that it stops in.
    """

    number: int = 0
    error: str = ""
    selected: str = ""
    place: tuple[int, int] = (0, 4)


class Applier:
    """A server for the time of a ``with`` block.  Raises EnvironmentMissing and RecordingError as RealServer does."""

    def __init__(self, build: str, options: Sequence[str] = ("--skip-log-bin", "--replicate-same-server-id")) -> None:
        self.build = BUILDS[build]
        self._words = _OLDER_WORDS.get(build) or _WORDS[self.build.vendor]
        self._options = options
        self._server: RealServer | None = None
        self._connection: Any = None
        self._is_fresh = False

    def __enter__(self) -> Self:
        self.renew()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def server(self) -> RealServer:
        assert self._server is not None
        return self._server

    def apply(self, files: Sequence[bytes], *, before: str = "") -> Applied:
        """Apply the files, one after the other, on a server that has nothing but what the script ``before`` makes.

        Once more on a fresh one if it stops at what other files may have left.
        Raises ServerEnded, and the next call finds a fresh server; RecordingError if the script is refused.
        """
        if self._server is None or not self._cleared():
            self.renew()
        was_fresh, self._is_fresh = self._is_fresh, False
        try:
            if before:
                self.server.run_sql(before)
            number, error = self._applied(files)
            if number in _LEFT_OVER and not was_fresh:
                self.renew()
                return self.apply(files, before=before)
            return Applied(number, error, self._selected(), self._place())
        except pymysql.err.MySQLError as problem:
            if problem.args[0] not in _LOST or self._is_alive():
                raise
            self._end()
            raise ServerEnded(f"{self.build.title} ended: {problem}") from None

    def apply_onto_what_is_there(self, data: bytes) -> tuple[int, str]:
        """Number and text of the error that one file of whole groups ends with, as :class:`Applied` has them.

        What is there is neither made nor cleared.  The applier is told where to stop: then its worker is done too.
        """
        for statement in (self._words.stop, *self._words.reset):
            self.query(statement)
        self._put([data])
        began = (self.server.folder / "error.log").stat().st_size
        self.query(f"{self._words.start} UNTIL RELAY_LOG_FILE = 'relay.000001', RELAY_LOG_POS = {len(data)}")
        limit = time.monotonic() + _LIMIT
        while (status := self.query(self._words.status)[0])[self._words.running] != "No":
            if time.monotonic() > limit:
                return -1, f"it had not ended after {_LIMIT:.0f} s"
            time.sleep(_SHORT_POLL)
        complaint = self._complaint() or (int(status["Last_SQL_Errno"]), str(status["Last_SQL_Error"]))
        with (self.server.folder / "error.log").open("rb") as log:
            log.seek(began)
            # MariaDB says no number for a type of column that it does not know.
            is_silent = not complaint[0] and b"SQL thread aborted" in log.read()
        return (-2, "it stopped without an error") if is_silent else complaint

    def new_log(self) -> Path:
        """The server's next binary log."""
        if self._words is _WORDS["mariadb"]:
            # RESET MASTER takes half a second there.
            self.query("FLUSH BINARY LOGS")
        else:
            self.query("RESET MASTER" if self._words is not _WORDS["mysql"] else "RESET BINARY LOGS AND GTIDS")
        return self.server.binlog_files()[-1]

    def query(self, sql: str) -> list[Mapping[str, Any]]:
        """The rows of a statement, in texts whose characters are bytes.  Raises pymysql's errors."""
        with self._connection.cursor(DictCursor) as cursor:
            cursor.execute(sql)
            rows = cursor.fetchall()
        return [
            {name: value.decode("latin-1") if isinstance(value, bytes) else value for name, value in row.items()}
            for row in rows
        ]

    def renew(self) -> None:
        """A fresh server in the place of this one."""
        self._end()
        options = [
            *self._words.options, *self._options, "--relay-log=relay", "--server-id=77",
            "--event-scheduler=OFF",
        ]  # fmt: skip
        server = RealServer(None, self.build.name, options, patience=_PATIENCE)
        self._server = server.__enter__()
        self._connect()
        for statement in self._words.prepared:
            self.query(statement)
        self._is_fresh = True

    def _connect(self) -> None:
        self._connection = pymysql.connect(
            unix_socket=str(self.server.socket), user="root", charset="utf8mb4", autocommit=True, read_timeout=_LIMIT,
            use_unicode=False, conv={}, init_command="SET lock_wait_timeout = 5, foreign_key_checks = 0",
        )  # fmt: skip
        # What a server quotes of a log may be no UTF-8: texts are bytes here, a character each.
        self._connection.encoding = "latin-1"

    def _end(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None
        if self._server is not None:
            self._server.__exit__(None, None, None)
            self._server = None

    def _is_alive(self) -> bool:
        for _ in range(20):
            try:
                self._connect()
            except pymysql.err.MySQLError:
                time.sleep(0.1)
                continue
            return True
        return False

    def _cleared(self) -> bool:
        """Take away what the files before have made; False if that cannot be done."""
        try:
            self.query(self._words.stop)
            for statement in self._words.reset:
                # Servers before 8.0 refuse it without a log.
                if self._words is not _MASTER or statement != "RESET MASTER" or "--skip-log-bin" not in self._options:
                    self.query(statement)
            if self.query("XA RECOVER"):
                return False
            for database in [next(iter(row.values())) for row in self.query("SHOW DATABASES")]:
                if database not in _SYSTEM:
                    self.query(f"DROP DATABASE {_quoted(database)}")
            if self._words.has_worker:
                users = [row["user"] for row in self.query("SELECT user FROM mysql.user")]
                return all(user in _ACCOUNTS for user in users)
        except pymysql.err.MySQLError:
            return False
        return True

    def _put(self, files: Sequence[bytes]) -> None:
        """The files in the place of the first relay logs, which the server has closed."""
        data = self.server.folder / "data"
        self.query(self._words.point)
        for _ in files:
            self.query("FLUSH RELAY LOGS")
        names = [Path(line).name for line in (data / "relay.index").read_text().split()]
        for name, content in zip(names, files, strict=False):
            (data / name).write_bytes(content)
        self.query(self._words.place.format(names[0]))

    def _applied(self, files: Sequence[bytes]) -> tuple[int, str]:
        """Number and text of the error that the applier stops with, or does not even start with."""
        try:
            self._put(files)
            self.query(self._words.start)
        except pymysql.err.MySQLError as error:
            if error.args[0] in _LOST:
                raise
            return error.args[0], str(error.args[1])
        limit = time.monotonic() + _LIMIT
        while True:
            status = self.query(self._words.status)[0]
            if status[self._words.running] != "Yes":
                return self._complaint() or (int(status["Last_SQL_Errno"]) or -2, str(status["Last_SQL_Error"]))
            state = status.get(self._words.state) or self._states()
            if "has read all relay log" in state and self._is_idle():
                return self._complaint() or (0, "")
            if time.monotonic() > limit:
                return -1, f"it had not ended after {_LIMIT:.0f} s: {state}"
            time.sleep(_POLL)

    def _states(self) -> str:
        """What the threads do: MySQL 5.5's status does not tell it of the applier."""
        return ", ".join(str(thread["State"]) for thread in self.query("SHOW PROCESSLIST"))

    def _is_idle(self) -> bool:
        """Whether the worker that MySQL's applier hands transactions to has done them."""
        return not self._words.has_worker or "Waiting for an event from Coordinator" in self._states()

    def _place(self) -> tuple[int, int]:
        status = self.query(self._words.status)[0]
        names = [Path(line).name for line in (self.server.folder / "data" / "relay.index").read_text().split()]
        name = Path(str(status["Relay_Log_File"])).name
        return (names.index(name) if name in names else 0), int(status["Relay_Log_Pos"])

    def _complaint(self) -> tuple[int, str] | None:
        """The error of MySQL's worker, which its status does not tell."""
        if not self._words.has_worker:
            return None
        workers = self.query(
            "SELECT last_error_number AS number, last_error_message AS text"
            " FROM performance_schema.replication_applier_status_by_worker WHERE last_error_number"
        )
        return next(((int(row["number"]), str(row["text"])) for row in workers), None)

    def _selected(self) -> str:
        """The first error of a SELECT of all tables."""
        tables = self.query(
            "SELECT table_schema AS d, table_name AS t FROM information_schema.tables WHERE table_type LIKE '%TABLE'"
        )
        for table in tables:
            if table["d"] in _SYSTEM:
                continue
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute(f"SELECT * FROM {_quoted(table['d'])}.{_quoted(table['t'])}")
            except pymysql.err.MySQLError as error:
                if error.args[0] in _LOST:
                    raise
                return str(error.args[0])
        return ""


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
