"""A fuzz target for python-mysql-replication; to try your reader, put it into the place of ``read``.

    python fuzz.py -dict=binlog.dict -timeout=5 -rss_limit_mb=1024 seeds

An exception is fine. RecursionError, MemoryError, a log that takes over five seconds, memory beyond 1 GiB are not.
With binlog-forge installed (``pip install binlog-forge``), a log that our strict reader reads must have as many rows.
"""

import logging
import struct
import sys

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


def one_log(log):
    try:
        counts = read(log)
    except (RecursionError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - an error is an answer
        return
    if forge is not None:
        expected = forge.read(log, "lenient")
        if expected.problem is None and sum(counts) != len(expected.rows):
            raise AssertionError(f"it gives {sum(counts)} rows without a word, there are {len(expected.rows)}")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_log)
    atheris.Fuzz()
