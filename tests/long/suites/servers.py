"""A real server that scripts are run on one after the other, each with a log of its own."""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from forge.plan.plan import Plan
from forge.record.builds import BUILD_OF_LINE
from forge.record.client import RecordingError
from forge.record.server import RealServer
from forge.record.session import options_for
from forge.scenario import Scenario, plan

#: Seconds that one statement may take.
_STATEMENT_LIMIT = 6.0
_DELIMITER = "/-forge-/"
_DONE = "forge: done"
_SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")


class Stuck(Exception):
    """A statement waits for another client; the script is left."""


class ScriptServer:
    """One server for many scripts.  Use it in a ``with`` block; Stuck from :meth:`run` leaves it usable."""

    def __init__(self, line: str) -> None:
        self.opening: Plan = plan(Scenario("suites", server=line, tables=["CREATE TABLE d.t (a INT)"]))
        self.running = RealServer(None, BUILD_OF_LINE[line], options_for(self.opening), patience=10)
        self.is_mysql = line.startswith("mysql")
        self._variables = ""

    def __enter__(self) -> ScriptServer:
        self.running.__enter__()
        self._variables = self._asked_variables()
        return self

    def __exit__(self, *error: object) -> None:
        self.running.__exit__(None, None, None)

    def _asked_variables(self) -> str:
        shown = self.running.run_sql("SHOW GLOBAL VARIABLES;\n")
        moving = ("gtid", "timestamp", "server_uuid", "log_bin_basename", "innodb_buffer_pool_load")
        return "\n".join(line for line in shown.splitlines() if not line.startswith(moving))

    def clean(self) -> None:
        """No database, account or setting of a script before, and a log that begins."""
        if self._asked_variables() != self._variables:
            self.running.stop()
            self.running.start()
        names = self.running.run_sql("SHOW DATABASES;\n").split("\n")
        drops = [f"DROP DATABASE `{name}`;\n" for name in names if name and name not in _SYSTEM]
        if self.is_mysql:
            accounts = "SELECT CONCAT('DROP USER ', QUOTE(user), '@', QUOTE(host)) FROM mysql.user WHERE user <> 'root'"
            users = self.running.run_sql(f"{accounts} AND user NOT LIKE 'mysql.%';\n").splitlines()
            drops += [f"{drop};\n" for drop in users]
        reset = "RESET BINARY LOGS AND GTIDS;\n" if self.is_mysql else "RESET MASTER;\n"
        self.running.run_sql(f"SET foreign_key_checks=0;\n{''.join(drops)}{reset}")

    def run(self, statements: Sequence[tuple[str, str]]) -> tuple[list[str | None], bytes]:
        """What (connection, SQL) make: the error of each, or None; and the log's first file.

        Raises Stuck where one waits, RecordingError if the server dies.
        """
        self.clean()
        errors: list[str | None] = []
        with ExitStack() as stack:
            clients: dict[str, _Client] = {}
            for connection, sql in statements:
                if connection not in clients:
                    clients[connection] = stack.enter_context(_client(self.running))
                errors.append(clients[connection].run(sql))
        self.running.run_sql("FLUSH BINARY LOGS;\n")
        return errors, _first(self.running).read_bytes()


def _first(running: RealServer) -> Path:
    return running.binlog_files()[0]


class _Client:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def run(self, sql: str) -> str | None:
        """The error of a statement, or None."""
        assert self._process.stdin is not None
        text = f"{sql}\n{_DELIMITER}\nSELECT '{_DONE}'{_DELIMITER}\n"
        try:
            self._process.stdin.write(text.encode("utf-8", "surrogateescape"))
        except BrokenPipeError:
            raise RecordingError("the connection ended") from None
        printed, said = b"", b""
        limit = time.monotonic() + _STATEMENT_LIMIT
        out, err = self._process.stdout, self._process.stderr
        assert out is not None
        assert err is not None
        while _DONE.encode() not in printed:
            ready = select.select([out, err], [], [], max(limit - time.monotonic(), 0))[0]
            if not ready:
                raise Stuck(sql)
            for stream in ready:
                more = stream.read(65536)
                if not more:
                    raise RecordingError(f"the connection ended: {said.decode('utf-8', 'replace')}")
                if stream is out:
                    printed = (printed + more)[-65600:]
                else:
                    said += more
        while select.select([err], [], [], 0)[0] and (more := err.read(65536)):
            said += more
        return next((line for line in said.decode("utf-8", "replace").split("\n") if line.startswith("ERROR")), None)


@contextmanager
def _client(running: RealServer) -> Iterator[_Client]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*running.client_command, "--unbuffered", "--force"], stdin=pipe, stdout=pipe, stderr=pipe,
        cwd=running.client_folder, bufsize=0,
    ) as process:  # fmt: skip
        try:
            client = _Client(process)
            process.stdin.write(f"DELIMITER {_DELIMITER}\n".encode())  # type: ignore[union-attr]
            client.run("SET SESSION lock_wait_timeout = 2")
            client.run("SET SESSION innodb_lock_wait_timeout = 2")
            yield client
        finally:
            process.kill()
