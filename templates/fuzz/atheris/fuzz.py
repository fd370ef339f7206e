"""A fuzz target for python-mysql-replication; to try your reader, put it into the place of ``read``.

    python fuzz.py -dict=binlog.dict -timeout=5 -rss_limit_mb=1024 seeds

An exception is fine, but for an unchanged seed of rows.txt, which has that many rows. RecursionError, MemoryError, a
log that takes over five seconds, memory beyond 1 GiB are not. With binlog-forge installed (``pip install
binlog-forge``), any log that our strict reader reads must have as many rows, if the reader does not refuse it.
"""

import hashlib
import logging
import struct
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["pymysqlreplication"]):
    from pymysqlreplication.binlogstream import BinLogStreamReader
    from pymysqlreplication.event import FormatDescriptionEvent
    from pymysqlreplication.packet import BinLogPacketWrapper
    from pymysqlreplication.row_event import RowsEvent, TableMapEvent

from pymysql.protocol import MysqlPacket

try:
    import forge
except ImportError:
    forge = None

logging.getLogger("pymysqlreplication").setLevel(logging.CRITICAL)


class Connection:
    """What events ask of the connection to a server."""

    charset = "utf8mb4"

    def __init__(self, log):
        self.dbms = "mariadb" if b"MariaDB" in log[:100] else "mysql"

    def _get_dbms(self):
        return self.dbms


def read(log):
    """The numbers of rows of each event of rows, as BinLogStreamReader reads them off a connection."""
    tables, version, lengths, counts = {}, (0, 0, 0), None, []
    connection = Connection(log)
    allowed = BinLogStreamReader._allowed_event_list(None, None, None, False)
    offset = 4
    checksum = log[4 + struct.unpack_from("<I", log, 13)[0] - 5] == 1  # The algorithm, behind FORMAT_DESCRIPTION.
    while offset + 19 <= len(log):
        (size,) = struct.unpack_from("<I", log, offset + 9)
        if size < 19 or offset + size > len(log):
            raise ValueError("no whole event")
        packet = MysqlPacket(b"\0" + log[offset : offset + size], "utf8mb4")
        event = BinLogPacketWrapper(
            packet, tables, connection, version, checksum, allowed, None, None, None, None, False, False, False, True,
            False, False, lengths,
        ).event  # fmt: skip
        if isinstance(event, FormatDescriptionEvent):
            version, lengths = event.mysql_version, event.post_header_len
        elif isinstance(event, TableMapEvent):
            tables[event.table_id] = event.get_table()
        elif isinstance(event, RowsEvent):
            counts.append(len(event.rows))
        offset += size
    return counts


ROWS = Path(__file__).with_name("rows.txt")
#: The rows of each seed, by what its SHA-256 begins with.
SEEDS = {line.split()[2]: int(line.split()[1]) for line in (ROWS.read_text().splitlines() if ROWS.exists() else ())}


def one_log(log):
    right = SEEDS.get(hashlib.sha256(log).hexdigest()[:16])
    try:
        rows = sum(read(log))
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        if right is not None:
            raise AssertionError("a correct log is refused") from error
        return
    if right is None and forge is not None:
        expected = forge.read(log, "lenient")
        right = len(expected.rows) if expected.problem is None else None
    if right is not None and rows != right:
        raise AssertionError(f"it gives {rows} rows without a word, there are {right}")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_log)
    atheris.Fuzz()
