"""A testee of python-mysql-replication: its event classes over files, in the protocol of docs/conform.md.

The packets and the connection that its stream reader would hand to them are stood in for; everything else is its own
code, called as ``BinLogStreamReader.fetchone`` calls it.
"""

import datetime
import gc
import importlib.metadata
import inspect
import json
import logging
import os
import re
import sys

from pymysql.protocol import MysqlPacket
from pymysqlreplication.binlogstream import BinLogStreamReader
from pymysqlreplication.constants import FIELD_TYPE, NONE_SOURCE
from pymysqlreplication.event import FormatDescriptionEvent
from pymysqlreplication.json_binary import JsonDiff
from pymysqlreplication.packet import BinLogPacketWrapper
from pymysqlreplication.row_event import DeleteRowsEvent, RowsEvent, TableMapEvent, UpdateRowsEvent

#: How it shows values: Python's objects, which have no dates with a zero part and no order of a SET's members.
FORMS = {
    "integer": "number", "decimal": "value", "float": "value", "bits": "text", "year": "number",
    "date": "text zero=null", "datetime": "microseconds zero=null", "timestamp": "microseconds",
    "time": "microseconds", "enum": "text", "set": "texts", "text": "text-or-hex", "bytes": "text-or-hex",
    "json": "value", "geometry": "hex", "diffs": "value",
}  # fmt: skip
MAGIC = b"\xfebin"
FORMAT_DESCRIPTION, IN_USE, HEADER = 15, 1, 19
LARGE = 1 << 20
EPOCH = datetime.datetime(1970, 1, 1)
#: Releases differ.
KNOWN = frozenset(inspect.signature(BinLogPacketWrapper.__init__).parameters)


class Connection:
    """What event classes ask of a control connection: the dialect."""

    charset = "utf8mb4"

    def __init__(self, flavor):
        self.dbms = flavor

    def _get_dbms(self):
        return self.dbms


class Feed:
    """The state that BinLogStreamReader keeps between packets."""

    def __init__(self, flavor, checksum):
        self.connection = Connection(flavor)
        self.checksum = checksum
        self.tables = {}
        self.server = (0, 0, 0)
        self.post_header_lengths = None
        self.allowed = BinLogStreamReader._allowed_event_list(None, None, None, False)

    def event(self, raw):
        """The event of one packet, or None where the library drops it."""
        packet = MysqlPacket(b"\0" + raw, "utf8mb4")
        wanted = {
            "from_packet": packet, "table_map": self.tables, "ctl_connection": self.connection,
            "mysql_version": self.server, "use_checksum": self.checksum, "allowed_events": self.allowed,
            "verify_checksum": self.checksum, "optional_meta_data": True,
            "post_header_lengths": self.post_header_lengths,
        }  # fmt: skip
        nothing = dict.fromkeys(("only_tables", "ignored_tables", "only_schemas", "ignored_schemas"))
        off = dict.fromkeys(("freeze_schema", "ignore_decode_errors", "enable_logging", "use_column_name_cache"), False)
        given = {name: value for name, value in {**nothing, **off, **wanted}.items() if name in KNOWN}
        event = BinLogPacketWrapper(**given).event
        if isinstance(event, FormatDescriptionEvent):
            self.server, self.post_header_lengths = event.mysql_version, event.post_header_len
        elif isinstance(event, TableMapEvent):
            self.tables[event.table_id] = event.get_table()
        return event


def packets(file):
    """What a server would send of a file: its whole events, without the flag that it is in use."""
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("not a binary log")
    offset = len(MAGIC)
    while offset < end:
        header = file.read(HEADER)
        size = int.from_bytes(header[9:13], "little")
        if len(header) < HEADER or size < HEADER or offset + size > end:
            raise ValueError(f"no whole event at {offset}")
        raw = bytearray(header + file.read(size - HEADER))
        if raw[4] == FORMAT_DESCRIPTION:
            raw[17] &= ~IN_USE
        yield offset, bytes(raw)
        offset += size


def has_checksums(raw):
    """What a client asks the server for before it reads: @@binlog_checksum, here out of FORMAT_DESCRIPTION."""
    version = raw[21:71].split(b"\0")[0].decode("latin-1")
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    since = (5, 3, 0) if "MariaDB" in version else (5, 6, 1)
    return raw[4] == FORMAT_DESCRIPTION and numbers >= since and raw[-5] == 1


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def document(value):
    """Its JSON value as JSON: keys and strings are bytes there."""
    if isinstance(value, dict):
        return {key.decode("utf-8", "backslashreplace"): document(member) for key, member in value.items()}
    if isinstance(value, list):
        return [document(member) for member in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, datetime.time):
        return value.isoformat("microseconds")
    return value if value is None or isinstance(value, (bool, int, float, str)) else float(value)


def spelled(value, column, source):
    """One value; ``source`` is the library's remark on one that is None."""
    if column.type == FIELD_TYPE.JSON:
        if source == NONE_SOURCE.JSON_PARTIAL_UPDATE:
            return []
        if not isinstance(value, JsonDiff):
            return None if value is None else json.dumps(document(value))
        diff = {"operation": value.op.name.upper(), "path": text(value.path)}
        return [diff if value.op.name == "Remove" else diff | {"value": json.dumps(document(value.value))}]
    if value is None:
        return [] if source == NONE_SOURCE.EMPTY_SET else None
    if isinstance(value, bytes):
        return value.hex() if column.type == FIELD_TYPE.GEOMETRY else {"hex": value.hex()}
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, float):
        return str(value)  # JSON has no NaN and no infinity.
    return value if isinstance(value, (int, str)) else str(value)


def image(event, values, sources, present):
    cells = []
    for index, column in enumerate(event.columns):
        if present[index // 8] >> (index % 8) & 1:
            name = column.name or f"UNKNOWN_COL{index}"
            cells.append({"column": index + 1, "value": spelled(values[name], column, sources.get(name))})
    return cells


def rows(event):
    place = {"database": event.schema, "table": event.table}
    for row in event.rows:
        if isinstance(event, UpdateRowsEvent):
            before = image(event, row["before_values"], row["before_none_sources"], event.columns_present_bitmap)
            after = image(event, row["after_values"], row["after_none_sources"], event.columns_present_bitmap2)
            yield place | {"kind": "update", "before": before, "after": after}
            continue
        only = image(event, row["values"], row["none_sources"], event.columns_present_bitmap)
        if isinstance(event, DeleteRowsEvent):
            yield place | {"kind": "delete", "before": only, "after": None}
        else:
            yield place | {"kind": "insert", "before": None, "after": only}


def answer(line):
    print(json.dumps(line))


def read(request):
    if not request.get("coverage"):
        return rows_of(request)
    with reached:
        done = rows_of(request)
    return done | {"coverage": reached.fresh()}


def rows_of(request):
    feed, offset = None, 0
    try:
        with open(request["file"], "rb") as file:
            for offset, raw in packets(file):
                feed = feed or Feed(request.get("flavor", "mysql"), has_checksums(raw))
                event = feed.event(raw)
                # A wrong checksum is only logged.
                if event is not None and event._is_event_valid is False:
                    raise ValueError("the checksum is wrong")
                if isinstance(event, RowsEvent):
                    for row in rows(event):
                        answer({"row": row | {"offset": offset}})
                if len(raw) >= LARGE:
                    event = None
                    gc.collect()  # A packet and its event hold each other.
    except NotImplementedError as error:
        return {"end": "unsupported", "message": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
        return {"end": "refused", "message": f"the event at {offset}: {type(error).__name__}: {error}"[:400]}
    return {"end": "ok"}


try:
    from reached import Reached  # What forge fuzz asks for: a copy of forge/testing/reached.py, made by build.
except ImportError:
    reached = None
else:
    reached = Reached("pymysqlreplication")


def main():
    logging.getLogger("pymysqlreplication").setLevel(logging.CRITICAL)
    hello = {
        "name": "python-mysql-replication", "version": importlib.metadata.version("mysql-replication"),
        "language": "Python", "levels": ["rows"], "forms": FORMS, "coverage": reached is not None,
    }  # fmt: skip
    for request in map(json.loads, sys.stdin):
        done = {"hello": hello} if "hello" in request else read(request)
        answer({"id": request["id"]} | done)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
