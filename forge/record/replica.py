"""A real replica that reads a real source's binary logs into its relay log."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from forge.plan.session import RelayLog
from forge.record.client import RecordingError
from forge.record.server import RealServer

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
        replica.run_sql(_change(source, port, gtid=gtid))
        yield replica


def _change(source: RealServer, port: int, *, gtid: bool) -> str:
    first = source.binlog_files()[0].name
    if source.build.vendor == "mysql":
        source.run_sql(
            f"SET sql_log_bin = 0; CREATE USER {_USER}@'%'; GRANT REPLICATION SLAVE ON *.* TO {_USER}@'%';\n"
        )
        place = "SOURCE_AUTO_POSITION=1" if gtid else f"SOURCE_LOG_FILE='{first}', SOURCE_LOG_POS=4"
        return (
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='{_USER}',"
            f" SOURCE_SSL=0, {place};\nSTART REPLICA IO_THREAD;\n"
        )
    return (
        f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=no,"
        f" MASTER_LOG_FILE='{first}', MASTER_LOG_POS=4;\nSTART SLAVE IO_THREAD;\n"
    )


def wait_until_stored(source: RealServer, replica: RealServer) -> None:
    """Until the replica has all that the source's last file has.  Raises RecordingError if that takes too long."""
    mysql = source.build.vendor == "mysql"
    limit = time.monotonic() + _LIMIT
    while time.monotonic() < limit:
        name, position = source.run_sql("SHOW BINARY LOG STATUS" if mysql else "SHOW MASTER STATUS").split()[:2]
        fields = replica.run_sql("SHOW REPLICA STATUS" if mysql else "SHOW SLAVE STATUS").split("\t")
        # Columns 6 and 7 of both vendors: the file and the position that are read up to.
        if fields[5:7] == [name, position]:
            return
        time.sleep(0.05)
    raise RecordingError(f"the replica did not store all of {name} within {_LIMIT:.0f} s")
