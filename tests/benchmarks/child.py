"""What is timed in a process of its own; ``python -P child.py WORK ARGUMENT...``.

It imports the ``forge`` of PYTHONPATH, so that another revision can be timed by the same program.  It makes a pass for
every line that it reads, and prints what each cost as a JSON object: seconds by the clock and of the processor, rows,
and the most memory it has held so far.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: How often :func:`spin` sums its MiB.
_SPINS = 2000


def decode(path: str, table: str, options: str = "{}") -> int:
    """Rows of a table as record batches, dropped one by one; ``options`` is a JSON object."""
    import forge

    return sum(batch.num_rows for batch in forge.read_rows(path, table=table, **json.loads(options)))


def first_rows(path: str, table: str) -> int:
    """The first batch alone: what a user waits for."""
    import forge

    return int(next(iter(forge.read_rows(path, table=table))).num_rows)


def encode(parquet: str, definition: str, rows_per_transaction: str = "") -> int:
    """The rows of a Parquet file, which is read once, written to a closed file; in one transaction unless told.

    The disk is not waited for: the server that it is compared with runs with ``sync_binlog=0``.
    """
    import forge

    rows = _source(parquet)
    with tempfile.TemporaryDirectory(dir=Path(parquet).parent) as folder:
        target = Path(folder) / "encoded"
        of_each = int(rows_per_transaction) if rows_per_transaction else None
        forge.write_rows(rows, definition, target, server="mysql-9.7", rows_per_transaction=of_each, sync=False)
    return int(rows.num_rows)


def parquet(path: str, table: str, target: str) -> int:
    """``forge rows --format parquet``, without the start of a process."""
    Path(target).unlink(missing_ok=True)
    return command("0", "rows", path, "--table", table, "--format", "parquet", "-o", target)


def load_module(name: str) -> int:
    """An import: once for each process."""
    __import__(name)
    return 0


def canonical(path: str) -> int:
    """Rows of the canonical decode."""
    from forge.decode.decode import canonical_events

    return sum(len(event.get("rows", ())) for event in canonical_events(Path(path).read_bytes()))


def command(rows: str, *arguments: str) -> int:
    """A command of forge that has to do with so many rows, its output thrown away."""
    from forge.cli.app import run

    with Path(os.devnull).open("w") as null, contextlib.redirect_stdout(null):
        code = run(arguments)
    if code:
        raise SystemExit(code)
    return int(rows)


def python_mysql_replication(path: str) -> int:
    """Rows that python-mysql-replication reads when it is fed the packets that a server would send; sums verified."""
    from pymysqlreplication.event import FormatDescriptionEvent
    from pymysqlreplication.row_event import RowsEvent, TableMapEvent

    feed = _Packets()
    rows = 0
    for raw in _events(Path(path).read_bytes()):
        event = feed.event(raw)
        if isinstance(event, FormatDescriptionEvent):
            feed.version, feed.post_header_lengths = event.mysql_version, event.post_header_len
        elif isinstance(event, TableMapEvent):
            feed.tables[event.table_id] = event.get_table()
        elif isinstance(event, RowsEvent):
            rows += len(event.rows)
    return rows


def spark_read(source: str, path: str, table: str, rows: str) -> int:
    """The rows of a table through Spark on two cores, from the log (``binlog``) or out of its workers (``memory``)."""
    from tests.benchmarks.spark_memory import read_through

    read_through(_spark(), source, path, table)
    return int(rows)


def spark_write(sink: str, parquet: str, definition: str) -> int:
    """The rows of a Parquet file through Spark on two cores, as a log (``binlog``) or to nowhere (``dropped``)."""
    from tests.benchmarks.spark_dropped import write_through

    return write_through(_spark(), sink, Path(parquet), definition)


def _spark() -> Any:
    from forge.spark.session import spark_session

    if "spark" not in _SOURCES:
        _SOURCES["spark"] = _RESOURCES.enter_context(spark_session("local[2]"))
    return _SOURCES["spark"]


def spin() -> int:
    """Work that needs a processor and no memory to speak of."""
    data = bytes(1 << 20)
    for _ in range(_SPINS):
        zlib.crc32(data)
    return 0


class _Connection:
    """What the library asks of a connection."""

    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"


class _Packets:
    """What BinLogStreamReader keeps between packets (1.0.17)."""

    def __init__(self) -> None:
        import logging

        from pymysqlreplication.binlogstream import BinLogStreamReader

        # It warns that names of columns are not in the log.
        logging.getLogger("pymysqlreplication").setLevel(logging.CRITICAL)
        self.connection = _Connection()
        self.allowed = BinLogStreamReader._allowed_event_list(None, None, None, False)
        self.tables: dict[int, Any] = {}
        self.version: tuple[int, ...] = (0, 0, 0)
        self.post_header_lengths: Any = None

    def event(self, raw: bytes) -> Any:
        from pymysql.protocol import MysqlPacket  # type: ignore[import-untyped]
        from pymysqlreplication.packet import BinLogPacketWrapper

        packet = MysqlPacket(b"\0" + raw, "utf8mb4")
        return BinLogPacketWrapper(
            packet, self.tables, self.connection, self.version, True, self.allowed, None, None, None, None, False,
            False, True, True, False, False, self.post_header_lengths,
        ).event  # fmt: skip


def _events(data: bytes) -> list[bytes]:
    """The events of a closed binary log: 19 bytes of header with the event's size at 9."""
    events, start = [], 4
    while start < len(data):
        (size,) = struct.unpack_from("<I", data, start + 9)
        events.append(data[start : start + size])
        start += size
    return events


_SOURCES: dict[str, Any] = {}
#: What is closed at the end.
_RESOURCES = contextlib.ExitStack()


def _source(parquet: str) -> Any:
    import pyarrow.parquet as pq

    if parquet not in _SOURCES:
        _SOURCES[parquet] = pq.read_table(parquet)
    return _SOURCES[parquet]


_WORK: dict[str, Callable[..., int]] = {
    work.__name__.replace("_", "-"): work
    for work in (
        decode, first_rows, encode, parquet, load_module, canonical, command, python_mysql_replication, spark_read,
        spark_write, spin,
    )
}  # fmt: skip


def _peak() -> int:
    """Bytes (proc_pid_status(5)); 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def _processor() -> float:
    """Seconds of the processor, with those of Spark's processes (proc_pid_stat(5)); 0 where the system does not say."""
    own = time.process_time()
    if "spark" not in _SOURCES:
        return own
    ticks = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            ticks[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    found, parents = 0, {os.getpid()}
    while parents:
        parents = {pid for pid, (parent, _) in ticks.items() if parent in parents}
        found += sum(ticks[pid][1] for pid in parents)
    return own + found / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str]) -> None:
    name, *details = arguments
    work = _WORK[name]
    out = os.fdopen(os.dup(1), "w")
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), _processor()
        rows = work(*details)
        cost = {"wall": time.perf_counter() - wall, "cpu": _processor() - cpu, "rows": rows, "peak": _peak()}
        print(json.dumps(cost), file=out, flush=True)


if __name__ == "__main__":
    with _RESOURCES:
        main(sys.argv[1:])
