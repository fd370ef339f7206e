"""A testee of python-mysql-replication before 1.0, which asks the server for the columns of a table.

Here each column is told to be an INT whose character set is utf8mb4, or the one in CHARSET: types come from the log,
names and character sets do not.  So only cases without ENUM, SET and unsigned numbers are for it.
"""

import datetime
import decimal
import importlib.metadata
import inspect
import json
import os
import re
import sys

from pymysqlreplication import event as events
from pymysqlreplication import row_event
from pymysqlreplication.packet import BinLogPacketWrapper

FORMS = {
    "integer": "number signed", "decimal": "value", "float": "value", "bits": "text", "year": "number",
    "date": "text zero=null", "datetime": "microseconds zero=null", "timestamp": "microseconds",
    "time": "microseconds", "enum": "none", "set": "none", "text": "text", "bytes": "none", "json": "none",
    "geometry": "none",
}  # fmt: skip
MOST_COLUMNS = 4096
EPOCH = datetime.datetime(1970, 1, 1)


class Connection:
    """The control connection: what information_schema says of a table."""

    charset = "utf8mb4"

    @staticmethod
    def _get_table_information(schema, table):
        charset = os.environ.get("CHARSET", "utf8mb4")
        same = {"COLLATION_NAME": charset + "_general_ci", "CHARACTER_SET_NAME": charset, "COLUMN_COMMENT": ""}
        column = same | {"COLUMN_TYPE": "int(11)", "COLUMN_KEY": "", "DATA_TYPE": "int"}
        return [column | {"COLUMN_NAME": f"c{n}", "ORDINAL_POSITION": n} for n in range(1, MOST_COLUMNS)]


class Packet:
    """A packet of the connection, as pymysql gives it to the library."""

    def __init__(self, data):
        self._data, self._position = data, 0

    def read(self, size):
        self._position += size
        return self._data[self._position - size : self._position]

    def advance(self, size):
        self._position += size

    def read_all(self):
        return self.read(len(self._data) - self._position)

    def rewind(self, position=0):
        self._position = position


def packets(data):
    if data[:4] != b"\xfebin":
        raise ValueError("not a binary log")
    offset = 4
    while offset < len(data):
        size = int.from_bytes(data[offset + 9 : offset + 13], "little")
        if size < 19 or offset + size > len(data):
            raise ValueError(f"no whole event at {offset}")
        yield offset, data[offset : offset + size]
        offset += size


def has_checksums(raw):
    version = raw[21:71].split(b"\0")[0].decode("latin-1")
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    return raw[4] == 15 and numbers >= ((5, 3, 0) if "MariaDB" in version else (5, 6, 1)) and raw[-5] == 1


def spelled(value):
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, (dict, list)):
        return None
    return str(value) if isinstance(value, (float, decimal.Decimal, set)) else value


def image(values, present):
    cells = []
    for name, value in values.items():
        number = int(name[1:])
        if present[(number - 1) // 8] >> ((number - 1) % 8) & 1:
            cells.append({"column": number, "value": spelled(value)})
    return sorted(cells, key=lambda cell: cell["column"])


def rows(event):
    place = {"database": event.schema, "table": event.table}
    for row in event.rows:
        if isinstance(event, row_event.UpdateRowsEvent):
            before = image(row["before_values"], event.columns_present_bitmap)
            after = image(row["after_values"], event.columns_present_bitmap2)
            yield place | {"kind": "update", "before": before, "after": after}
            continue
        only = image(row["values"], event.columns_present_bitmap)
        if isinstance(event, row_event.DeleteRowsEvent):
            yield place | {"kind": "delete", "before": only, "after": None}
        else:
            yield place | {"kind": "insert", "before": None, "after": only}


def read(request):
    with open(request["file"], "rb") as file:
        data = file.read()
    wanted = tuple(
        kind for kind in vars(row_event).values() if inspect.isclass(kind) and issubclass(kind, events.BinLogEvent)
    )
    tables, checksum, offset = {}, None, 0
    known = inspect.signature(BinLogPacketWrapper.__init__).parameters
    try:
        for offset, raw in packets(data):
            checksum = has_checksums(raw) if checksum is None else checksum
            given = dict.fromkeys(known) | {
                "from_packet": Packet(b"\0" + raw), "table_map": tables, "ctl_connection": Connection(),
                "use_checksum": checksum, "allowed_events": wanted, "freeze_schema": False,
                "fail_on_table_metadata_unavailable": False, "ignore_decode_errors": False, "mysql_version": (0, 0, 0),
            }  # fmt: skip
            given = {name: value for name, value in given.items() if name in known and name != "self"}
            event = BinLogPacketWrapper(**given).event
            if isinstance(event, row_event.TableMapEvent):
                tables[event.table_id] = event.get_table()
            elif isinstance(event, row_event.RowsEvent):
                for row in rows(event):
                    print(json.dumps({"row": row | {"offset": offset}}))
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
        return {"end": "refused", "message": f"the event at {offset}: {type(error).__name__}: {error}"[:400]}
    return {"end": "ok"}


def main():
    hello = {
        "name": "python-mysql-replication", "version": importlib.metadata.version("mysql-replication"),
        "language": "Python", "levels": ["rows"], "forms": FORMS,
    }  # fmt: skip
    for request in map(json.loads, sys.stdin):
        done = {"hello": hello} if "hello" in request else read(request)
        print(json.dumps({"id": request["id"]} | done))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
