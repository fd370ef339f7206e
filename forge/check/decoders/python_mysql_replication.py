"""python-mysql-replication (``pymysqlreplication``): its event classes fed from the file, in this process.

The packets and the connection that its stream reader would hand to them are stood in for; everything else is its own
code, called as ``BinLogStreamReader.fetchone`` calls it (1.0.17).  Values are its Python objects as text.
"""

from __future__ import annotations

import codecs
import importlib.metadata
import importlib.util
import struct
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from forge.binlog.reader import MAGIC, frames, has_magic
from forge.check.decoder import (
    NOT_SHOWN,
    DecodedRow,
    DecodedStatement,
    DecodedTable,
    Decoder,
    DecodingEnded,
    Expected,
    ExpectedKey,
    Form,
    Image,
    Item,
)
from forge.check.decoders.library.values import expected_diffs, expected_json, form_of
from forge.check.time_limit import TimeLimitPassed, time_limit
from forge.decode.cells import Cell, Kind, MappedTable, unprefixed
from forge.decode.reference import Place
from forge.errors import FormatError
from forge.events.column_kinds import is_enum, is_set
from forge.events.event import IN_USE, decode_event
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.values.base import Column
from forge.values.wire_types import WireType

#: Seconds for a file.
TIME_LIMIT = 20.0
#: What the library calls MySQL's character sets where it has a name of its own for them.
_CODECS = {"utf8mb4": "utf8", "utf8mb3": "utf8", "latin1": "cp1252", "koi8r": "koi8_r", "koi8u": "koi8_u"}
_CHARACTER = frozenset((WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.BLOB))
_INTEGERS = frozenset((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG))


class PythonMysqlReplication(Decoder):
    name = "python-mysql-replication"
    capabilities = (
        "without FULL metadata: integers are signed, strings UTF-8, ENUM and SET are not shown",
        "strings in character sets whose name Python does not know are bytes",
        "dates with a zero year, month or day are not shown",
        "an empty SET is not told from NULL but for a mark beside the row, JSON null not at all",
        "DATE inside JSON looks like DATETIME",
        "the prefixes of a primary key are not shown",
    )

    def available(self) -> str | None:
        if sys.modules.get("pymysqlreplication") is None and importlib.util.find_spec("pymysqlreplication") is None:
            return "the package mysql-replication is not installed (pip install mysql-replication)"
        return None

    def version(self) -> str:
        return _version()

    def decode(self, data: bytes) -> Iterator[Item]:
        # Its loops do not end on some malformed events, so everything is decoded inside the limit.
        items: list[Item] = []
        ended: DecodingEnded | None = None
        try:
            with time_limit(TIME_LIMIT):
                items.extend(_items(data))
        except DecodingEnded as error:
            ended = error
        except TimeLimitPassed:
            ended = DecodingEnded("timeout", f"it had not ended after {TIME_LIMIT:.0f} s")
        yield from items
        if ended is not None:
            raise ended

    def normalise(self, cell: Cell) -> Expected:
        if cell.raw is None:
            return None
        if cell.partial:
            return expected_diffs(cell)
        return _expected(cell, cell.column, cell.raw)

    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        if mapped.columns is None or any(column.name is None for column in mapped.columns):
            return None
        visible = str(mapped.body.records().get("visibility", "")).ljust(len(mapped.columns), "0")
        return tuple(_describe(column, bit == "1") for column, bit in zip(mapped.columns, visible, strict=False))

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        key = mapped.body.primary_key() or ()
        columns = mapped.columns
        if columns is None or any(prefix or index >= len(columns) for index, prefix in key):
            return NOT_SHOWN
        if any(column.name is None for column in columns):
            return NOT_SHOWN
        # It keeps the columns of a key, not their order.
        return ", ".join(str(columns[index].name) for index in sorted(index for index, _ in key)) or None


@cache
def _version() -> str:
    return importlib.metadata.version("mysql-replication")


class _Connection:
    """What event classes ask of a control connection: the dialect."""

    charset = "utf8mb4"

    def __init__(self, dbms: str) -> None:
        self.dbms = dbms

    def _get_dbms(self) -> str:
        return self.dbms


class _Feed:
    """The state that BinLogStreamReader keeps between packets."""

    def __init__(self, format: FormatContext) -> None:
        from pymysqlreplication.binlogstream import BinLogStreamReader

        self.connection = _Connection("mariadb" if format.mariadb else "mysql")
        self.use_checksum = format.checksum
        self.table_map: dict[int, Any] = {}
        self.mysql_version: tuple[int, ...] = (0, 0, 0)
        self.post_header_lengths: Any = None
        self.allowed = BinLogStreamReader._allowed_event_list(None, None, None, False)

    def event(self, raw: bytes) -> Any:
        """The event object of one packet, or None where the library drops it.  Raises what the library raises."""
        from pymysql.protocol import MysqlPacket  # type: ignore[import-untyped]
        from pymysqlreplication.packet import BinLogPacketWrapper

        wrapped = BinLogPacketWrapper(
            MysqlPacket(b"\0" + raw, "utf8mb4"), self.table_map, self.connection, self.mysql_version,
            self.use_checksum, self.allowed, None, None, None, None, False, False, self.use_checksum, True, False,
            False, self.post_header_lengths,
        )  # fmt: skip
        return wrapped.event


def _items(data: bytes) -> Iterator[Item]:
    import logging

    from pymysqlreplication.event import FormatDescriptionEvent
    from pymysqlreplication.row_event import RowsEvent, TableMapEvent

    logging.getLogger("pymysqlreplication").setLevel(logging.CRITICAL)
    feed = _Feed(_format_of(data))
    end = 4
    for frame in frames(data):
        end = frame.offset + len(frame.raw)
        try:
            event = feed.event(_as_sent(frame.raw))
            if event is None:
                continue
            # A wrong checksum is only logged; what it reads from such an event is nobody's truth.
            if event._is_event_valid is False:
                raise DecodingEnded("refused", f"the event at {frame.offset} fails its CRC32")
            if isinstance(event, FormatDescriptionEvent):
                feed.mysql_version = event.mysql_version
                feed.post_header_lengths = event.post_header_len
            elif isinstance(event, TableMapEvent):
                feed.table_map[event.table_id] = event.get_table()
                yield _table((frame.offset, 0), event)
            elif isinstance(event, RowsEvent):
                yield from _rows((frame.offset, 0), event)
            elif (text := _statement(event)) is not None:
                yield DecodedStatement((frame.offset, 0), text)
        except (DecodingEnded, TimeLimitPassed):
            raise
        except NotImplementedError as error:
            raise DecodingEnded("unsupported", f"the event at {frame.offset}: {error}") from None
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            shown = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise DecodingEnded("refused", f"the event at {frame.offset}: {shown[:300]}") from None
    if end < len(data):
        raise DecodingEnded("refused", f"no whole event at {end}: no server would send it")


def _as_sent(raw: bytes) -> bytes:
    """The event as a server sends it: FORMAT_DESCRIPTION without IN_USE (sql/rpl_binlog_sender.cc)."""
    if raw[4] == FormatDescription.type_code and raw[17] & IN_USE:
        return raw[:17] + bytes([raw[17] & ~IN_USE]) + raw[18:]
    return raw


def _statement(event: Any) -> str | None:
    """What an event says beside rows, as :meth:`forge.events.layout.Body.statement` has it."""
    match type(event).__name__:
        case "QueryEvent":
            return str(event.query)
        case "XidEvent":
            return f"XID {event.xid}"
        case "GtidEvent":
            return f"GTID {event.gtid.lower()}"
        case "MariadbGtidEvent":
            return f"GTID {event.gtid}"
        case "IntvarEvent":
            return f"{'LAST_' if event.type == 1 else ''}INSERT_ID {event.value}"
        case "RandEvent":
            return f"RAND {event.seed1} {event.seed2}"
    return None


def _format_of(data: bytes) -> FormatContext:
    """What a client learns before it reads events (from the server's variables, on a live connection)."""
    first = next(frames(data), None) if has_magic(data) else None
    if data == MAGIC:
        return FormatContext()
    if first is None:
        raise DecodingEnded("refused", "not a binary log: no server would send it")
    try:
        body = decode_event(first.raw, first.offset, FormatContext()).body
    except FormatError as error:
        raise DecodingEnded("refused", f"no server would send it: {error}") from None
    return body.context() if isinstance(body, FormatDescription) else FormatContext()


def _table(place: Place, event: Any) -> DecodedTable:
    columns = event.columns
    name = f"{event.schema}.{event.table}"
    if any(column.name is None for column in columns):
        return DecodedTable(place, name)
    shown = []
    for column in columns:
        members = column.enum_values[1:] if column.enum_values else column.set_values
        shown.append(_description(column.name, column.unsigned, column.collation_name, members, column.visibility))
    key = ", ".join(column.name for column in columns if column.is_primary)
    return DecodedTable(place, name, tuple(shown), key or None)


def _describe(column: Column, visible: bool) -> str | None:
    from forge.charsets import find_collation
    from forge.values.text.enums import member_texts

    collation = None if column.collation is None else find_collation(column.collation, "mysql")
    members = member_texts(column.members, column.collation) if column.members is not None else None
    name = None if collation is None else collation.name
    return _description(str(column.name), bool(column.unsigned), name, members, visible)


def _description(name: str, unsigned: bool, collation: str | None, members: Any, visible: bool) -> str:
    # MariaDB does not tell of visibility, which the library takes for invisible.
    text = name + (" UNSIGNED" if unsigned else "") + (f" COLLATE {collation}" if collation else "")
    text += " visible" if visible else ""
    return text + (f" {list(members)!r}" if members is not None else "")


def _rows(place: Place, event: Any) -> Iterator[Item]:
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent

    kind: Kind = "insert"
    bitmaps: tuple[Any, ...] = (None, event.columns_present_bitmap)
    if isinstance(event, UpdateRowsEvent):
        kind, bitmaps = "update", (event.columns_present_bitmap, event.columns_present_bitmap2)
    elif isinstance(event, DeleteRowsEvent):
        kind, bitmaps = "delete", (event.columns_present_bitmap, None)
    while event.packet.read_bytes < event.event_size:
        before = event.packet.read_bytes
        row = event._fetch_one_row()
        if event.packet.read_bytes == before:
            raise DecodingEnded("timeout", f"its loop over the rows of the event at {place[0]} does not end")
        images: list[Image | None] = []
        for word, bitmap in zip(("before_", "after_"), bitmaps, strict=True):
            prefix = word if kind == "update" else ""
            if bitmap is None:
                images.append(None)
            else:
                images.append(_image(event, row[f"{prefix}values"], row[f"{prefix}none_sources"], bitmap))
        yield DecodedRow(place, event.schema, event.table, kind, *images)


def _image(event: Any, values: Any, sources: Any, bitmap: bytes) -> dict[int, Form]:
    image: dict[int, Form] = {}
    for index, column in enumerate(event.columns):
        if not bitmap[index // 8] >> (index % 8) & 1:
            continue
        name = column.name or f"UNKNOWN_COL{index}"
        source = sources.get(name, "null")
        image[index + 1] = form_of(values[name], column, source)
    return image


def _expected(cell: Cell, column: Column, raw: bytes) -> Expected:
    """What the library should give for a cell that is not NULL."""
    full = column.name is not None
    code = column.type_code
    if code in _INTEGERS:
        signed = not (full and column.unsigned)
        return str(int.from_bytes(raw, "little", signed=signed))
    if code in (WireType.FLOAT, WireType.DOUBLE):
        return repr(struct.unpack("<f" if code == WireType.FLOAT else "<d", raw)[0])
    if code == WireType.BIT:
        count = 8 * column.metadata[1] + column.metadata[0]
        return f"{int.from_bytes(raw, 'big') & ((1 << count) - 1):0{count}b}"
    if is_enum(column) or is_set(column):
        if not full:
            return None
        text = cell.text()
        return "(empty set)" if is_set(column) and text == "" else text
    if code in _CHARACTER:
        return _expected_string(cell, column, unprefixed(column, raw)) if full else _as_utf8(unprefixed(column, raw))
    if code in (WireType.DATE, WireType.DATETIME2):
        return _expected_date(cell, full)
    if code == WireType.JSON:
        return expected_json(cell)
    if code == WireType.GEOMETRY:
        return unprefixed(column, raw)
    if code == WireType.VECTOR:
        return NOT_SHOWN
    return cell.text()


def _expected_string(cell: Cell, column: Column, stored: bytes) -> Form:
    """Text, unless Python has no codec of the character set's name: then the bytes as they are."""
    from forge.charsets import find_collation

    text = cell.text()
    if not text:
        return ""  # nothing to decode: no codec is looked for, and bytes are text as well
    collation = None if column.collation is None else find_collation(column.collation, "mysql")
    if collation is not None and collation.charset != "binary":
        try:
            codecs.lookup(_CODECS.get(collation.charset, collation.charset))
        except LookupError:
            return stored
    return text


def _as_utf8(value: bytes) -> Form:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _expected_date(cell: Cell, full: bool) -> Form:
    text = str(cell.text())
    year, month, day = text[:10].split("-")
    if int(year) and int(month) and int(day):
        return text
    kind = "date" if cell.column.type_code == WireType.DATE else "datetime2"
    return f"(out of {kind} range)" if full else None
