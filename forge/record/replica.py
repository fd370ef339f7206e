"""A real replica that reads a real source's binary logs into its relay log."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forge.plan.session import RelayLog
from forge.record.builds import BUILDS, Build
from forge.record.client import RecordingError
from forge.record.server import RealServer

#: Seconds that the replica has to catch up.
_LIMIT = 30.0
_USER = "replica"
#: Column of both vendors' status that has the number of the last error; the next has its text.
_ERROR = 18


@dataclass(frozen=True, slots=True)
class _Words:
    """How a vendor calls it; ``{of}`` is the channel (MariaDB: connection)."""

    #: A name of the channel in a statement.
    of: str
    change: str
    receive: str
    start: str
    status: str
    #: The last file of the binary log, and its size.
    written: str
    #: Options of a replica that is not started yet, and of one that runs what it receives, on one thread.
    waits: tuple[str, ...]
    applies: tuple[str, ...]
    #: What such a replica needs to have.
    prepared: str = ""


#: By vendor.  A MariaDB applier writes a system table (mariadb_system_tables.sql): the throw-away server has none.
_WORDS = {
    "mysql": _Words(
        of=" FOR CHANNEL '{}'",
        change="CHANGE REPLICATION SOURCE TO {place}{of}",
        receive="START REPLICA IO_THREAD{of}",
        start="START REPLICA{of}",
        status="SHOW REPLICA STATUS{of}",
        written="SHOW BINARY LOG STATUS",
        waits=("--skip-replica-start",),
        applies=("--replica-parallel-workers=1",),
    ),
    "mariadb": _Words(
        of=" '{}'",
        change="CHANGE MASTER{of} TO {place}",
        receive="START SLAVE{of} IO_THREAD",
        start="START SLAVE{of}",
        status="SHOW SLAVE{of} STATUS",
        written="SHOW MASTER STATUS",
        waits=("--skip-slave-start",),
        applies=("--log-slave-updates",),
        prepared="""SET sql_log_bin = 0; CREATE DATABASE IF NOT EXISTS mysql;
CREATE TABLE mysql.gtid_slave_pos (domain_id INT UNSIGNED NOT NULL, sub_id BIGINT UNSIGNED NOT NULL,
server_id INT UNSIGNED NOT NULL, seq_no BIGINT UNSIGNED NOT NULL, PRIMARY KEY (domain_id, sub_id)) ENGINE=InnoDB;
""",
    ),
}
#: MySQL before 8.0.22: what MariaDB says, without channels (5.7 has them, and no build).
_MASTER = replace(_WORDS["mariadb"], of="", applies=(), prepared="")
#: Builds whose words are not those that the vendor has today.
_OLDER_WORDS = {
    "mysql55": _MASTER,
    "mysql56": _MASTER,
    "mysql5624": _MASTER,
    "mysql80": replace(_WORDS["mysql"], written="SHOW MASTER STATUS"),
}


def _words(build: Build) -> _Words:
    return _OLDER_WORDS.get(build.name) or _WORDS[build.vendor]


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
    words = _words(source.build)
    own = [
        *options, f"--server-id={relay.server_id}", f"--relay-log={relay.name}",
        f"--max-relay-log-size={relay.max_size or 1 << 30}", *words.waits,
    ]  # fmt: skip
    with RealServer(home, source.build.name, own) as replica:
        _point(replica, source, port, "", gtid=gtid)
        replica.run_sql(words.receive.format(of="") + ";\n")
        yield replica


@contextmanager
def applying_replica(build: str, home: Path | None, options: Sequence[str], log_name: str) -> Iterator[RealServer]:
    """A server that runs what its sources send, one applier thread each, and logs it as its own binary log."""
    words = _words(BUILDS[build])
    own = [*options, "--relay-log=relay", *words.waits, *words.applies]
    with RealServer(home, build, own, log_name=log_name) as replica:
        if words.prepared:
            replica.run_sql(words.prepared)
        yield replica


def follow(source: RealServer, port: int, replica: RealServer, channel: str, *, gtid: bool) -> None:
    """The replica reads and runs what the source has, over a channel (MariaDB: connection) of that name."""
    words = _words(source.build)
    _point(replica, source, port, channel, gtid=gtid)
    replica.run_sql(words.start.format(of=words.of.format(channel)) + ";\n")


def _point(replica: RealServer, source: RealServer, port: int, channel: str, *, gtid: bool) -> None:
    """Tell the replica where the source's first file is."""
    words = _words(source.build)
    of = words.of.format(channel) if channel else ""
    replica.run_sql(words.change.format(place=_place(source, port, gtid=gtid), of=of) + ";\n")


def _place(source: RealServer, port: int, *, gtid: bool) -> str:
    first = source.binlog_files()[0].name
    if source.build.vendor == "mysql":
        source.run_sql(
            f"SET sql_log_bin = 0; CREATE USER {_USER}@'%'; GRANT REPLICATION SLAVE ON *.* TO {_USER}@'%';\n"
        )
        place = "SOURCE_AUTO_POSITION=1" if gtid else f"SOURCE_LOG_FILE='{first}', SOURCE_LOG_POS=4"
        place = f"SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='{_USER}', SOURCE_SSL=0, {place}"
        return place.replace("SOURCE_", "MASTER_") if _words(source.build) is _MASTER else place
    return (
        f"MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=no, MASTER_SSL=0,"
        f" MASTER_LOG_FILE='{first}', MASTER_LOG_POS=4"
    )


def wait_until_stored(source: RealServer, replica: RealServer) -> None:
    """Until the replica has all that the source's last file has.  Raises RecordingError if that takes too long."""
    # Columns 6 and 7 of both vendors: the file and the position that are read up to.
    _wait(source, replica, "", (5, 6))


def wait_until_applied(source: RealServer, replica: RealServer, channel: str) -> None:
    """Until the replica has run all that the source has.  Raises RecordingError if it fails, or takes too long."""
    # Columns 10 and 22: Relay_Source_Log_File and Exec_Source_Log_Pos.
    _wait(source, replica, channel, (9, 21))


def _wait(source: RealServer, replica: RealServer, channel: str, columns: tuple[int, int]) -> None:
    words = _words(source.build)
    status = words.status.format(of=words.of.format(channel) if channel else "")
    limit = time.monotonic() + _LIMIT
    while time.monotonic() < limit:
        written = source.run_sql(words.written).split()[:2]
        fields = replica.run_sql(status).split("\t")
        if fields[_ERROR] not in ("", "0"):
            raise RecordingError(f"the replica stopped: {fields[_ERROR + 1]}")
        if [fields[column] for column in columns] == written:
            return
        time.sleep(0.02)
    raise RecordingError(f"the replica did not get to the end of the source's log within {_LIMIT:.0f} s")
