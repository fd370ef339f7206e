"""SHOW BINLOG EVENTS as each family's servers answer it, in the form of the client's batch output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from forge.binlog.reader import FIRST
from forge.binlog.window import LogWindow
from forge.charsets import find_collation
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import SUPPRESS_USE
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.incident import Incident
from forge.events.intvar import VARIABLES, Intvar
from forge.events.load_files import AppendBlock, DeleteFile
from forge.events.mariadb_compressed import QueryCompressed
from forge.events.mariadb_gtid import COMMIT_ALTER, START_ALTER, MariadbGtid
from forge.events.plain import to_bytes
from forge.events.previous_gtids import PreviousGtids, gtid_set_text
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.rows import AnyRows
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.table_map import TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, NONE, UNCOMPRESSED_SIZE, TransactionPayload
from forge.events.user_var import REAL, STRING, UserVar
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.vendors.mysql_forms import gtid_text, row_flag_names
from forge.vendors.printer import xa_id
from forge.vendors.quoting import in_backticks
from forge.vendors.shown_events import ShownEvent, ShownEvents, inner_events

HEAD = b"Log_name\tPos\tEvent_type\tServer_id\tEnd_log_pos\tInfo\n"
_NAMES = {
    2: "Query", 3: "Stop", 4: "Rotate", 5: "Intvar", 9: "Append_block", 11: "Delete_file", 13: "RAND", 14: "User var",
    15: "Format_desc", 16: "Xid", 17: "Begin_load_query", 18: "Execute_load_query", 19: "Table_map",
    23: "Write_rows_v1", 24: "Update_rows_v1", 25: "Delete_rows_v1", 26: "Incident", 27: "Heartbeat", 28: "Ignorable",
    29: "Rows_query", 30: "Write_rows", 31: "Update_rows", 32: "Delete_rows", 33: "Gtid", 34: "Anonymous_Gtid",
    35: "Previous_gtids", 37: "View_change", 38: "XA_prepare", 39: "Update_rows_partial", 40: "Transaction_payload",
    42: "Gtid_tagged_log_event", 160: "Annotate_rows", 161: "Binlog_checkpoint", 162: "Gtid", 163: "Gtid_list",
    164: "Start_encryption", 165: "Query_compressed", 166: "Write_rows_compressed_v1",
    167: "Update_rows_compressed_v1", 168: "Delete_rows_compressed_v1", 169: "Write_rows_compressed",
    170: "Update_rows_compressed", 171: "Delete_rows_compressed",
}  # fmt: skip
_ESCAPES = {b"\\": rb"\\", b"\n": rb"\n", b"\t": rb"\t", b"\0": rb"\0"}
_STANDALONE, _PREPARED = 1, 0x40
_ROLLBACK_ALTER = 8


def binlog_events(window: LogWindow, name: bytes) -> Iterator[bytes]:
    """The rows of the answer for a log that the server calls ``name``."""
    mariadb = False
    for shown in ShownEvents(window, FIRST):
        if isinstance(shown.body, FormatDescription):
            mariadb = "mariadb" in shown.body.server_version.lower()
        yield _row(shown, name, mariadb)
        if isinstance(shown.body, TransactionPayload):
            for inner in inner_events(shown, shown.body):
                yield _row(inner, name, mariadb)


def _row(shown: ShownEvent, name: bytes, mariadb: bool) -> bytes:
    info = next((form(shown, mariadb) for kind, form in _FORMS.items() if isinstance(shown.body, kind)), b"")
    for plain, escaped in _ESCAPES.items():
        info = info.replace(plain, escaped)
    kind = _NAMES.get(shown.type_code, "Unknown").encode()
    server = shown.event.server_id
    return b"%s\t%d\t%s\t%d\t%d\t%s\n" % (name, shown.position, kind, server, shown.end, info)


def _body(shown: ShownEvent) -> Any:
    """The body, whose class the table of forms knows."""
    return shown.body


def _format(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    version = to_bytes(body.server_version).split(b"\0")[0]
    return b"Server ver: %s, Binlog ver: %d" % (version, body.binlog_version)


def _mariadb_gtid(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    gtid: bytes = b"GTID " + body.gtid(shown.event.server_id).encode()
    extra = body.flags_extra
    if body.flags2 & _PREPARED and body.xid is not None:
        format_id, gtrid, bqual = body.xid
        return b"XA START %s %s" % (xa_id(gtrid, bqual, format_id), gtid)
    if not body.flags2 & _STANDALONE:
        gtid = b"BEGIN " + gtid
    if extra & START_ALTER:
        gtid += b" START ALTER"
    for bit, word in ((COMMIT_ALTER, b"COMMIT"), (_ROLLBACK_ALTER, b"ROLLBACK")):
        if extra & bit:
            gtid += b" %s ALTER id=%d" % (word, body.start_alter or 0)
    return gtid


def _gtid_list(shown: ShownEvent, mariadb: bool) -> bytes:
    gtids = sorted(_body(shown).gtids, key=lambda gtid: (gtid[0], gtid[2]))
    return b"[" + b",".join(b"%d-%d-%d" % gtid for gtid in gtids) + b"]"


def _use(shown: ShownEvent) -> bytes:
    database = to_bytes(_body(shown).database)
    return b"use " + in_backticks(database) + b"; " if database and not shown.event.flags & SUPPRESS_USE else b""


def _query(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    xid = None if mariadb else dict(body.status_variables).get("ddl_xid")
    return _use(shown) + to_bytes(body.text()) + (b"" if xid is None else b" /* xid=%d */" % xid)


def _user_var(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    name = b"@" + in_backticks(to_bytes(body.name)) + b"="
    if body.value is None:
        return name + b"NULL"
    kind, number, raw = body.value
    if kind != STRING:
        return name + _number(kind, body.number() or "")
    collation = find_collation(number, "mariadb" if mariadb else "mysql")
    if collation is None:
        return name + b"???"
    digits = raw.hex().upper().encode()
    text = (b"X'" + digits + b"'" if mariadb else b"0x" + digits) if raw else b'""'
    return name + b"_%s %s COLLATE %s" % (collation.charset.encode(), text, collation.name.encode())


def _number(kind: int, text: str) -> bytes:
    """A number in full."""
    if kind == REAL and "e-" in text:
        digits = len(text.partition("e")[0].partition(".")[2].rstrip("0")) + int(text.partition("e-")[2])
        if float(text) and abs(float(text)) > 1e-15:
            return f"{float(text):.{digits}f}".encode()
    return text.encode()


def _rows(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    names = (b" flags: STMT_END_F" if body.row_flags & 1 else b"") if mariadb else row_flag_names(body.row_flags)
    return b"table_id: %d%s" % (body.table_id, names)


def _xa_prepare(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    xid = xa_id(body.gtrid, body.bqual, body.format_id)
    return b"XA COMMIT %s ONE PHASE" % xid if body.one_phase else b"XA PREPARE %s" % xid


def _payload(shown: ShownEvent, mariadb: bool) -> bytes:
    body = _body(shown)
    kind = b"NONE" if body.number(COMPRESSION_TYPE) == NONE else b"ZSTD"
    return b"compression='%s', decompressed_size=%d bytes" % (kind, body.number(UNCOMPRESSED_SIZE, 0))


def _gtid(shown: ShownEvent, mariadb: bool) -> bytes:
    return b"SET @@SESSION.GTID_NEXT= '%s'" % gtid_text(_body(shown))


_FORMS: dict[Any, Callable[[ShownEvent, bool], bytes]] = {
    FormatDescription: _format,
    PreviousGtids: lambda shown, _: gtid_set_text(_body(shown).gtid_set[1]).replace(",", ",\n").encode(),
    AnonymousGtid: _gtid,
    GtidTagged: _gtid,
    MariadbGtid: _mariadb_gtid,
    GtidList: _gtid_list,
    BinlogCheckpoint: lambda shown, _: to_bytes(_body(shown).file_name),
    Query: _query,
    QueryCompressed: _query,
    ExecuteLoadQuery: lambda shown, _: (
        _use(shown) + to_bytes(_body(shown).query) + b" ;file_id=%d" % _body(shown).file_id
    ),
    Intvar: lambda shown, _: f"{VARIABLES.get(_body(shown).variable, '')}={_body(shown).value}".encode(),
    Rand: lambda shown, _: b"rand_seed1=%d,rand_seed2=%d" % (_body(shown).seed1, _body(shown).seed2),
    UserVar: _user_var,
    AppendBlock: lambda shown, _: b";file_id=%d;block_len=%d" % (_body(shown).file_id, len(_body(shown).block)),
    DeleteFile: lambda shown, _: b";file_id=%d" % _body(shown).file_id,
    RowsQuery: lambda shown, _: b"# " + to_bytes(_body(shown).query),
    AnnotateRows: lambda shown, _: to_bytes(_body(shown).query),
    TableMap: lambda shown, _: to_bytes(
        f"table_id: {_body(shown).table_id} ({_body(shown).database}.{_body(shown).table})"
    ),
    AnyRows: _rows,
    TransactionPayload: _payload,
    Xid: lambda shown, _: b"COMMIT /* xid=%d */" % _body(shown).xid,
    XaPrepare: _xa_prepare,
    Rotate: lambda shown, _: to_bytes(f"{_body(shown).next_file};pos={_body(shown).position or 4}"),
    Incident: lambda shown, _: b"#%d (LOST_EVENTS)" % _body(shown).incident,
}
