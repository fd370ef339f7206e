"""A real replica that reads a real source's binary logs into its relay log."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.plan.session import RelayLog
from forge.record.client import RecordingError
from forge.record.server import BUILDS, RealServer

#: The system table that a MariaDB applier writes (mariadb_system_tables.sql): the throw-away server has none.
_POSITIONS = """SET sql_log_bin = 0; CREATE DATABASE IF NOT EXISTS mysql;
CREATE TABLE mysql.gtid_slave_pos (domain_id INT UNSIGNED NOT NULL, sub_id BIGINT UNSIGNED NOT NULL,
server_id INT UNSIGNED NOT NULL, seq_no BIGINT UNSIGNED NOT NULL, PRIMARY KEY (domain_id, sub_id)) ENGINE=InnoDB;
"""
#: Seconds that the replica has to catch up.
_LIMIT = 30.0
_USER = "replica"


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def source_options(port: int) -> list[str]:
    """What a server needs to be a source."""
    return ["--skip-networking=0", f"--port={port}", "--bind-address=127.0.0.1"]


@contextmanager
def replica_of(
    source: RealServer, port: int, relay: RelayLog, home: Path | None, options: Sequence[str], *, gtid: bool
) -> Iterator[RealServer]:
    """A server of the same build that stores what the source sends, from its first file on, and executes nothing.

    MySQL asks by GTIDs if ``gtid``, else, as MariaDB, by file and position.  Raises RecordingError.
    """
    mysql = source.build.vendor == "mysql"
    own = [
        *options, f"--server-id={relay.server_id}", f"--relay-log={relay.name}",
        f"--max-relay-log-size={relay.max_size or 1 << 30}",
        "--skip-replica-start" if mysql else "--skip-slave-start",
    ]  # fmt: skip
    with RealServer(home, source.build.name, own) as replica:
        words = _words(source, _change(source, port, gtid=gtid))
        replica.run_sql(f"{words.change};\n{words.receive};\n")
        yield replica


@contextmanager
def applying_replica(build: str, home: Path | None, options: Sequence[str], log_name: str) -> Iterator[RealServer]:
    """A server that runs what its sources send, one applier thread each, and logs it as its own binary log."""
    mysql = BUILDS[build].vendor == "mysql"
    own = ["--skip-replica-start", "--replica-parallel-workers=1"] if mysql else ["--skip-slave-start"]
    own += ["--relay-log=relay"] if mysql else ["--relay-log=relay", "--log-slave-updates"]
    with RealServer(home, build, [*options, *own], log_name=log_name) as replica:
        if not mysql:
            replica.run_sql(_POSITIONS)
        yield replica


def follow(source: RealServer, port: int, replica: RealServer, channel: str, *, gtid: bool) -> None:
    """The replica reads and runs what the source has, over a channel (MariaDB: connection) of that name."""
    words = _words(source, _change(source, port, gtid=gtid), channel)
    replica.run_sql(f"{words.change};\n{words.start};\n")


def wait_until_applied(source: RealServer, replica: RealServer, channel: str) -> None:
    """Until the replica has run all that the source has.  Raises RecordingError if it fails, or takes too long."""
    words = _words(source, "", channel)
    limit = time.monotonic() + _LIMIT
    while time.monotonic() < limit:
        name, position = _written(source)
        fields = replica.run_sql(words.status).split("\t")
        # Last_Errno and Last_Error; Relay_Source_Log_File and Exec_Source_Log_Pos, in both vendors' order.
        if fields[18] not in ("", "0"):
            raise RecordingError(f"the replica stopped: {fields[19]}")
        if [fields[9], fields[21]] == [name, position]:
            return
        time.sleep(0.02)
    raise RecordingError(f"the replica did not run all of {name} within {_LIMIT:.0f} s")


@dataclass(frozen=True, slots=True)
class _Words:
    """What a vendor calls it."""

    change: str
    receive: str
    start: str
    status: str


def _words(source: RealServer, place: str, channel: str = "") -> _Words:
    if source.build.vendor == "mysql":
        of = f" FOR CHANNEL '{channel}'"
        starts = (f"START REPLICA IO_THREAD{of}", f"START REPLICA{of}")
        return _Words(f"CHANGE REPLICATION SOURCE TO {place}{of}", *starts, f"SHOW REPLICA STATUS{of}")
    of = f"'{channel}' " if channel else ""
    starts = (f"START SLAVE {of}IO_THREAD", f"START SLAVE {of}")
    return _Words(f"CHANGE MASTER {of}TO {place}", *starts, f"SHOW SLAVE {of}STATUS")


def _change(source: RealServer, port: int, *, gtid: bool) -> str:
    """Where the replica finds the source's first file."""
    first = source.binlog_files()[0].name
    if source.build.vendor == "mysql":
        source.run_sql(
            f"SET sql_log_bin = 0; CREATE USER {_USER}@'%'; GRANT REPLICATION SLAVE ON *.* TO {_USER}@'%';\n"
        )
        place = "SOURCE_AUTO_POSITION=1" if gtid else f"SOURCE_LOG_FILE='{first}', SOURCE_LOG_POS=4"
        return f"SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='{_USER}', SOURCE_SSL=0, {place}"
    return (
        f"MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=no,"
        f" MASTER_LOG_FILE='{first}', MASTER_LOG_POS=4"
    )


def wait_until_stored(source: RealServer, replica: RealServer) -> None:
    """Until the replica has all that the source's last file has.  Raises RecordingError if that takes too long."""
    mysql = source.build.vendor == "mysql"
    limit = time.monotonic() + _LIMIT
    while time.monotonic() < limit:
        name, position = _written(source)
        fields = replica.run_sql("SHOW REPLICA STATUS" if mysql else "SHOW SLAVE STATUS").split("\t")
        # Columns 6 and 7 of both vendors: the file and the position that are read up to.
        if fields[5:7] == [name, position]:
            return
        time.sleep(0.05)
    raise RecordingError(f"the replica did not store all of {name} within {_LIMIT:.0f} s")


def _written(source: RealServer) -> list[str]:
    """The name of the source's last file, and its size."""
    mysql = source.build.vendor == "mysql"
    return source.run_sql("SHOW BINARY LOG STATUS" if mysql else "SHOW MASTER STATUS").split()[:2]
