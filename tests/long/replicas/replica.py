"""A real server that is source and replica of cells: it logs what the source does, and applies that to other tables."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import pymysql  # type: ignore[import-untyped]

from forge.errors import ForgeError
from forge.record.builds import BUILD_OF_LINE
from tests.long.vendors.applier import Applier, ServerEnded
from tests.replay.cells import CLOCK, GLOBAL, Cell, EndRow, Result, assigned, in_order, source_variables

_QUICK = ("--replicate-same-server-id", "--binlog-format=ROW", "--default-time-zone=+00:00", "--sync-relay-log=0")
_OLD = (*_QUICK, "--skip-log-slave-updates", "--sync-relay-log-info=0", "--sync-master-info=0")
_MYSQL = (
    *_QUICK, "--skip-log-replica-updates", "--gtid-mode=OFF_PERMISSIVE", "--enforce-gtid-consistency=OFF",
)  # fmt: skip
_OPTIONS = {"mysql80": _MYSQL, "mysql97": _MYSQL, "maria101": _OLD}
#: Servers that count what is fetched through which index.
_COUNTING = "--performance-schema=1"
_COUNTED = "performance_schema.table_io_waits_summary_by_index_usage"
#: Sessions that make tables and rows: what they do is not logged.
_UNLOGGED = f"SET SESSION sql_log_bin = 0, sql_mode = '', foreign_key_checks = 0, timestamp = {CLOCK}"
#: What names a place on this machine.
_PATH = re.compile(r"/[^' ]+/share/[^' ]*")
#: A folder in memory.
_MEMORY = Path("/dev/shm")
#: ``replica_`` names that older servers and MariaDB know by another name.
_CONVERSIONS, _MODE = "type_conversions", "exec_mode"


class Refused(ForgeError):
    """The server does not take a statement of the cell: it says nothing of its line."""


class Server:
    """A server of a line, for the time of a ``with`` block.  Raises EnvironmentMissing if it is not unpacked."""

    def __init__(self, line: str) -> None:
        build = BUILD_OF_LINE[line]
        self.line = line
        counting = () if build in ("mysql55", "maria101") else (_COUNTING,)
        self._applier = Applier(build, (*_OPTIONS.get(build, _OLD), *counting))
        self._is_counting = bool(counting)
        self._prefix = "replica" if build in ("mysql80", "mysql97") else "slave"
        self._defaults: dict[str, str | int] = {}

    def __enter__(self) -> Self:
        self._applier.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._applier.__exit__(*raised)

    def log(self, cell: Cell) -> bytes:
        """What the source of a cell logs.  Raises Refused."""
        variables = source_variables(cell, self.line)
        of_server = {name: value for name, value in variables.items() if name.startswith(GLOBAL)}
        of_session = {name: value for name, value in variables.items() if name not in of_server}
        try:
            with self._session(_UNLOGGED) as making:
                _run(making, ["DROP DATABASE IF EXISTS x", "CREATE DATABASE x CHARACTER SET utf8mb4"])
                _run(making, cell.created("src"))
                _run(making, [f"INSERT INTO x.t VALUES {', '.join(cell.rows)}"] if cell.rows else [])
                # Some of them begin another file.
                _run(making, [f"SET {assigned(of_server)}"] if of_server else [])
            path = self._applier.new_log()
            with self._session(f"SET {assigned(of_session)}") as source:
                _run(source, ["USE x", *cell.dml])
            return path.read_bytes()
        finally:
            if of_server:
                self._query(f"SET {assigned(dict.fromkeys(of_server, None))}")

    def result(self, cell: Cell, log: bytes) -> Result:
        """What a replica with the cell's tables makes of the log.  Raises Refused, and ServerEnded."""
        settings = {f"{self._prefix}_{_CONVERSIONS}": cell.conv, f"{self._prefix}_{_MODE}": cell.mode, **cell.settings}
        changed = {name: self._default(name) for name in cell.settings}
        try:
            with self._session(_UNLOGGED) as making:
                _run(making, ["DROP DATABASE IF EXISTS x", "CREATE DATABASE x CHARACTER SET utf8mb4"])
                _run(making, cell.created("rep"))
                _run(making, [f"INSERT INTO x.t VALUES {', '.join(cell.rrows)}"] if cell.rrows else [])
                _run(making, [f"SET GLOBAL {assigned(settings)}"])
                _run(making, [f"TRUNCATE {_COUNTED}"] if self._is_counting else [])
            number, text = self._applier.apply_onto_what_is_there(log)
            fetched = self._fetched()
            others = {table: self._rows(f"SELECT * FROM x.{table}") for table in cell.tables}
            return Result(
                number, _PATH.sub("its folder", text), self._rows(self._select()), fetched,
                others or None,
            )  # fmt: skip
        finally:
            if changed:
                self._query(f"SET GLOBAL {assigned(changed)}")

    def _default(self, name: str) -> str | int:
        if name not in self._defaults:
            (row,) = self._query(f"SELECT @@GLOBAL.{name} AS v")
            self._defaults[name] = int(row["v"]) if row["v"].isdigit() else row["v"]
        return self._defaults[name]

    def _select(self) -> str:
        """All columns, with the invisible ones."""
        try:
            names = [row["Field"] for row in self._query("SHOW COLUMNS FROM x.t")]
        except pymysql.err.ProgrammingError:
            return "SELECT * FROM x.t"
        return f"SELECT {', '.join(f'`{name}`' for name in names)} FROM x.t"

    def _rows(self, select: str) -> tuple[EndRow, ...]:
        with self._session("SET NAMES utf8mb4") as session, session.cursor() as cursor:
            try:
                cursor.execute(select)
            except pymysql.err.ProgrammingError:
                return ()
            return in_order(tuple(map(_shown, row)) for row in cursor.fetchall())

    def _fetched(self) -> dict[str, int] | None:
        if not self._is_counting:
            return None
        rows = self._query(
            f"SELECT index_name AS i, count_fetch AS n FROM {_COUNTED}"
            " WHERE object_schema = 'x' AND object_name = 't' AND count_fetch"
        )
        return {row["i"] or "-": int(row["n"]) for row in rows}

    def _query(self, sql: str) -> Sequence[Mapping[str, Any]]:
        return self._applier.query(sql)

    @contextmanager
    def _session(self, begins: str) -> Iterator[Any]:
        session = pymysql.connect(
            unix_socket=str(self._applier.server.socket), user="root", charset="utf8mb4", autocommit=True,
            use_unicode=False, conv={}, read_timeout=20, ssl_disabled=True,
        )  # fmt: skip
        try:
            _run(session, [begins])
            yield session
        finally:
            session.close()


class Servers:
    """Servers by their line, each started when it is asked for, for the time of a ``with`` block."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: dict[str, Server] = {}

    def __enter__(self) -> Self:
        if _MEMORY.is_dir():
            # A cell takes a tenth of the time there.
            tempfile.tempdir = self._stack.enter_context(tempfile.TemporaryDirectory(dir=_MEMORY, prefix="replicas-"))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.close()
        tempfile.tempdir = None

    def __getitem__(self, line: str) -> Server:
        if line not in self._started:
            self._started[line] = self._stack.enter_context(Server(line))
        return self._started[line]


def _run(session: Any, statements: Iterable[str]) -> None:
    with session.cursor() as cursor:
        for statement in statements:
            try:
                cursor.execute(statement)
                cursor.fetchall()
            except pymysql.err.MySQLError as error:
                if error.args[0] in (2006, 2013):
                    raise ServerEnded(f"the server ended over {statement}") from None
                raise Refused(f"{statement}: {error.args[0]} {error.args[1]}") from None


def _shown(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")
