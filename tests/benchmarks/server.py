"""The real server of the workloads: its settings, and what one run of statements costs it."""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.record.server import RealServer
from tests.benchmarks.measure import Cost
from tests.benchmarks.tables import COLUMNS, DATABASE, DEFINITIONS

#: No commit waits for a disk, and no table is larger than the buffer pool.  The first two are MySQL's own defaults,
#: which the servers of the tests do without.
SETTINGS = (
    "--innodb-flush-method=O_DIRECT", "--performance-schema=1",
    "--innodb-buffer-pool-size=4G", "--innodb-redo-log-capacity=2G", "--innodb-log-buffer-size=64M",
    "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--sync-binlog=0", "--max-binlog-size=1G",
    "--binlog-format=ROW", "--binlog-row-image=FULL", "--binlog-checksum=CRC32", "--binlog-row-metadata=MINIMAL",
    "--binlog-row-event-max-size=8192", "--default-time-zone=+00:00", "--secure-file-priv=", "--local-infile=1",
)  # fmt: skip

#: Seconds that one run of statements may take.
STATEMENTS_LIMIT = 1800.0


class WorkloadServer:
    """MySQL with the settings of the workloads and an empty database ``perf``."""

    def __init__(self, server: RealServer) -> None:
        self._server = server
        self._process = int((server.folder / "pid").read_text())
        self.run(f"CREATE DATABASE {DATABASE} DEFAULT CHARACTER SET utf8mb4;\n", database=None)

    @property
    def version(self) -> str:
        return self._server.version()

    def run(self, statements: str, *, database: str | None = DATABASE) -> Cost:
        """What the statements cost: one session of the server's client."""
        processors = self._processors()
        start = time.perf_counter()
        self._server.run_sql(statements, database=database, limit=STATEMENTS_LIMIT)
        return Cost(time.perf_counter() - start, self._processors() - processors)

    def create(self, table: str) -> None:
        """The table, empty."""
        self.run(f"DROP TABLE IF EXISTS {table};\n{DEFINITIONS[table]};\n")

    def record(self, statements: str, path: Path) -> Cost:
        """Run the statements; their binary log, in a file of its own, becomes ``path``."""
        self._server.flush()
        log = self._server.binlog_files()[-1]
        cost = self.run(statements)
        self._server.flush()
        draft = path.with_name(path.name + ".draft")
        shutil.copyfile(log, draft)
        draft.rename(path)
        self.forget()
        return cost

    def forget(self) -> None:
        """Remove the binary logs up to now."""
        self._server.flush()
        name = self._server.binlog_files()[-1].name
        self._server.run_sql(f"PURGE BINARY LOGS TO '{name}';\n")

    def _processors(self) -> float:
        # proc_pid_stat(5): the name in parentheses may hold spaces; utime and stime are fields 14 and 15.
        fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        server = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        clients = resource.getrusage(resource.RUSAGE_CHILDREN)
        return server + clients.ru_utime + clients.ru_stime


@contextmanager
def workload_server() -> Iterator[WorkloadServer]:
    """A fresh server, gone afterwards.  Raises EnvironmentMissing if it is not unpacked."""
    with RealServer(options=SETTINGS) as server:
        yield WorkloadServer(server)


#: The columns whose text is not what a server reads for their type, and what makes their value of it.
_MADE_OF_TEXT = {
    "w3": {"b": "UNHEX(@b)"},
    "w5": {
        "slot": "SEC_TO_TIME(@slot)", "marks": "@marks + 0", "flags": "@flags + 0", "token": "UNHEX(@token)",
        "picture": "UNHEX(@picture)",
    },
}  # fmt: skip


def load_statement(table: str, text: Path) -> str:
    """LOAD DATA of a tab-separated file that the server reads itself."""
    columns = ""
    if made := _MADE_OF_TEXT.get(table):
        names = ", ".join(f"@{name}" if name in made else name for name in COLUMNS[table])
        columns = f" ({names}) SET " + ", ".join(f"{name} = {value}" for name, value in made.items())
    return f"LOAD DATA INFILE '{text}' INTO TABLE {table} CHARACTER SET utf8mb4{columns};\n"
