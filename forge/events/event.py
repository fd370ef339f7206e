"""An event: common header, body, checksum; and its bytes.

``event_size``, ``log_pos`` and ``checksum`` are derived when None and obeyed when given.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from construct import Int8ul, Int16ul, Int32ul, Struct

from forge.errors import FormatError, ScenarioError
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, OLD_HEADER_SIZE, FormatContext, checksummed
from forge.events.format_description import FormatDescription, is_checksum_aware
from forge.events.layout import Body, Surroundings
from forge.events.load_statement import LoadStatement
from forge.events.plain import Fields
from forge.events.registry import EVENT_TYPES, event_name
from forge.events.rows import PreGaRows
from forge.events.shapes import HEX, Shape, object_of
from forge.events.start_v3 import StartV3, begins_old_file, start_format
from forge.layouts import fixed_layout

#: Flags of the common header (libs/mysql/binlog/event/binlog_event.h; 0x8000 is MariaDB's).
EVENT_FLAGS = (
    (0x0001, "IN_USE"),
    (0x0002, "FORCED_ROTATE"),
    (0x0004, "THREAD_SPECIFIC"),
    (0x0008, "SUPPRESS_USE"),
    (0x0010, "UPDATE_TABLE_MAP_VERSION"),
    (0x0020, "ARTIFICIAL"),
    (0x0040, "RELAY_LOG"),
    (0x0080, "IGNORABLE"),
    (0x0100, "NO_FILTER"),
    (0x0200, "MTS_ISOLATE"),
    (0x8000, "SKIP_REPLICATION"),
)
IN_USE = 0x0001
SUPPRESS_USE = 0x0008
IGNORABLE = 0x0080
SKIP_REPLICATION = 0x8000

HEADER = Struct(
    "timestamp" / Int32ul,
    "type_code" / Int8ul,
    "server_id" / Int32ul,
    "event_size" / Int32ul,
    "log_pos" / Int32ul,
    "flags" / Int16ul,
)
#: The header of version 1 (3.23).
OLD_HEADER = Struct("timestamp" / Int32ul, "type_code" / Int8ul, "server_id" / Int32ul, "event_size" / Int32ul)
_read_header = fixed_layout(HEADER).read
SIZE_OFFSET = 9
#: QUERY, most of them BEGIN, and TABLE_MAP come with the same bytes in one transaction after the other;
#: FORMAT_DESCRIPTION, PREVIOUS_GTIDS and GTID_LIST in one file after the other.  Bodies of at most so many bytes stay.
_REPEATED = frozenset((2, 15, 19, 35, 163))
_KEPT_SIZE = 4096


@dataclass(frozen=True, slots=True)
class RawBody(Body, type_name="RAW", informational=True):
    """A body kept as bytes: of a type that is not known, or whose bytes are not as that type's should be."""

    code: int
    data: bytes

    def build(self, format: FormatContext) -> bytes:
        return self.data

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"raw": self.data.hex()}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return object_of({"raw": HEX})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event.  ``timestamp`` is in seconds, ``log_pos`` the offset of the next event (modulo 2^32; of servers before
    5.0 its own).

    ``header_extra`` and ``post_header_extra`` are bytes behind the header and behind the body's fixed part, where
    FORMAT_DESCRIPTION says that these are longer than the layouts here.  Missing ones are zeros.
    """

    body: Body
    timestamp: int = 0
    server_id: int = 0
    flags: int = 0
    event_size: int | None = None
    log_pos: int | None = None
    checksum: int | None = None
    header_extra: bytes = b""
    post_header_extra: bytes = b""

    @property
    def type_code(self) -> int:
        return self.body.code if isinstance(self.body, RawBody) else self.body.type_code

    @property
    def type_name(self) -> str:
        return event_name(self.type_code)

    def replace(self, **changes: Any) -> Event:
        return dataclasses.replace(self, **changes)


def carries_checksum(event: Event, format: FormatContext) -> bool:
    """FORMAT_DESCRIPTION answers for itself; every other event follows the format in force."""
    if isinstance(event.body, RawBody) and event.body.code == FormatDescription.type_code:
        return is_checksum_aware(event.body.data)
    if isinstance(event.body, FormatDescription):
        return event.body.checksum_algorithm is not None
    return format.checksum


def encode_event(event: Event, offset: int, format: FormatContext, *, body: bytes | None = None) -> bytes:
    """The bytes of the event at file offset ``offset``; ``body`` if it was built before (:func:`built_body`).

    Raises ScenarioError for values that do not fit.
    """
    format = own_format(event, format)
    if body is None:
        body = built_body(event, format)
    with_checksum = carries_checksum(event, format)
    type_code = event.type_code
    plain = format.plain
    size = (HEADER_SIZE if plain else format.header_size(type_code)) + len(body) + CHECKSUM_SIZE * with_checksum
    event_size = size if event.event_size is None else event.event_size
    log_pos = format.log_pos(offset, size) if event.log_pos is None else event.log_pos
    number = type_code if plain else format.number_of(type_code)
    fields = (event.timestamp, number, event.server_id, event_size, log_pos, event.flags)
    header = _header(event, fields, format)
    if not with_checksum:
        return header + body
    # A large event is not put together twice.
    checksum = event_checksum(header, body) if event.checksum is None else event.checksum
    return b"".join((header, body, checksum.to_bytes(CHECKSUM_SIZE, "little")))


def own_format(event: Event, format: FormatContext) -> FormatContext:
    """The framing of the event itself: START_V3 says its own."""
    if isinstance(event.body, StartV3) and begins_old_file(StartV3.type_code, format):
        return event.body.context()
    return format


def built_body(event: Event, format: FormatContext, body: Body | None = None) -> bytes:
    """The bytes between header and checksum, of another ``body`` if it is given.

    Raises ScenarioError for values that do not fit.
    """
    built = (event.body if body is None else body).build(format)
    start, end = (0, 0) if format.plain else format.more_post_header(event.type_code)
    if end and len(built) >= start and not isinstance(event.body, RawBody):
        return built[:start] + event.post_header_extra.ljust(end - start, b"\0") + built[start:]
    return built


def _header(event: Event, values: Sequence[int], format: FormatContext) -> bytes:
    if format.plain:
        return _built(event, HEADER, values)
    if format.binlog_version == 1:
        return _built(event, OLD_HEADER, values[:4])
    size = format.header_size(event.type_code)
    header = _built(event, HEADER, values)
    return header if size == HEADER_SIZE else header + event.header_extra.ljust(size - HEADER_SIZE, b"\0")


def _built(event: Event, layout: Any, values: Sequence[int]) -> bytes:
    """A header.  Raises ScenarioError."""
    try:
        return fixed_layout(layout).write(values)
    except OverflowError:
        sizes = ((part.name, value, 8 * part.sizeof()) for part, value in zip(layout.subcons, values, strict=True))
        name, value, bits = next(one for one in sizes if not 0 <= one[1] < 1 << one[2])
        raise ScenarioError(f"{event.type_name} header: {name} cannot be {value}", expected=f"{bits} bits") from None


def event_checksum(data: bytes | memoryview, rest: bytes = b"") -> int:
    """CRC32 of the event without its checksum: ``data``, and ``rest`` if that does not end in the header.

    FORMAT_DESCRIPTION is summed with IN_USE cleared.
    """
    if len(data) >= HEADER_SIZE and data[4] == FormatDescription.type_code and data[17] & IN_USE:
        found = zlib.crc32(data[18:], zlib.crc32(bytes([data[17] & ~IN_USE]), zlib.crc32(data[:17])))
    else:
        found = zlib.crc32(data)
    return zlib.crc32(rest, found) if rest else found


def decode_event(raw: bytes, offset: int, format: FormatContext) -> Event:
    """The event in ``raw`` (one whole event at file offset ``offset``); pins only what would be derived differently.

    A body that cannot be parsed is kept as :class:`RawBody`.  Raises FormatError if the header does not fit.
    """
    return _decode(raw, offset, format, strict=False)


def decode_event_strictly(raw: bytes, offset: int, format: FormatContext) -> Event:
    """As :func:`decode_event`, but a body of a known type that cannot be parsed raises FormatError."""
    return _decode(raw, offset, format, strict=True)


def _decode(raw: bytes, offset: int, format: FormatContext, *, strict: bool) -> Event:
    least = HEADER_SIZE if format.binlog_version > 1 else OLD_HEADER_SIZE
    if len(raw) < least:
        raise FormatError(f"an event header has {least} bytes, but only {len(raw)} are left", phase="framing", offset=0)
    plain = format.plain
    if plain:
        type_code, size = raw[4], HEADER_SIZE
    else:
        type_code, format = framing_of(raw, format)
        size = format.header_size(type_code)
    if len(raw) < size:
        raise FormatError(f"the event is too short for its header of {size} bytes", phase="framing", offset=0)
    if format.binlog_version == 1:
        (timestamp, _, server_id, event_size), log_pos, flags = fixed_layout(OLD_HEADER).read(raw[:size]), None, 0
    else:
        timestamp, _, server_id, event_size, log_pos, flags = _read_header(raw[:HEADER_SIZE])
    description = type_code == FormatDescription.type_code
    with_checksum = is_checksum_aware(raw[size:]) if description else format.checksum
    if with_checksum and len(raw) < size + CHECKSUM_SIZE:
        raise FormatError("the event is too short for its checksum", phase="checksum", offset=size)
    end = len(raw) - CHECKSUM_SIZE * with_checksum
    data, extra = raw[size:end], b""
    own = checksummed(format, with_checksum) if description else format
    more, behind = (0, 0) if plain else own.more_post_header(type_code)
    try:
        if behind > len(data):
            raise FormatError(f"it ends inside its fixed part of {behind} bytes", phase="body", offset=len(data))
        if behind:
            data, extra = data[:more] + data[behind:], data[more:behind]
        body = _parse_body(type_code, data, own)
    except FormatError as error:
        if strict:
            in_fixed_part = error.phase == "body" and (error.offset or 0) < own.post_header_length(type_code)
            raise error.replace(phase="post_header" if in_fixed_part else error.phase).within(base=size) from None
        body = RawBody(type_code, data)
    if isinstance(body, RawBody):
        body, extra = RawBody(type_code, raw[size:end]), b""
    checksum = int.from_bytes(raw[end:], "little") if with_checksum else None
    place = (offset + len(raw)) & _LARGEST if plain else format.log_pos(offset, len(raw))
    return Event(
        body=body,
        timestamp=timestamp,
        server_id=server_id,
        flags=flags,
        event_size=None if event_size == len(raw) else event_size,
        log_pos=None if log_pos == place else log_pos,
        checksum=None if checksum is None or checksum == event_checksum(memoryview(raw)[:end]) else checksum,
        header_extra=b"" if plain or not any(raw[HEADER_SIZE:size]) else raw[HEADER_SIZE:size],
        post_header_extra=extra if extra and any(extra) else b"",
    )


#: Types whose numbers newer servers announce as not in use.
_RETIRED = frozenset(
    code for code, kind in EVENT_TYPES.items() if issubclass(kind, (LoadStatement, StartV3, PreGaRows))
)
#: Positions are told modulo 2^32.
_LARGEST = (1 << 32) - 1


def framing_of(raw: bytes, format: FormatContext) -> tuple[int, FormatContext]:
    """The type of an event, and the framing of the event itself: START_V3 says its own, by its size."""
    type_code = format.type_of(raw[4])
    return type_code, start_format(len(raw)) if begins_old_file(type_code, format) else format


def header_layout(format: FormatContext) -> Any:
    """How headers begin; they may be longer."""
    return OLD_HEADER if format.binlog_version == 1 else HEADER


def kind_of(type_code: int, format: FormatContext) -> type[Body] | None:
    """The class of a type's bodies; None for types that are kept as bytes."""
    if type_code in _RETIRED and format.is_placeholder(type_code):
        return None
    kind = EVENT_TYPES.get(type_code)
    return None if kind is not None and kind.only_listed and not format.lists(type_code) else kind


def _parse_body(type_code: int, data: bytes, format: FormatContext) -> Body:
    kind = kind_of(type_code, format)
    if kind is None:
        return RawBody(type_code, data)
    if type_code in _REPEATED and len(data) <= _KEPT_SIZE:
        return _parse_repeated(type_code, data, format)
    return kind.parse(data, format)


@lru_cache(maxsize=256)
def _parse_repeated(type_code: int, data: bytes, format: FormatContext) -> Body:
    return EVENT_TYPES[type_code].parse(data, format)


def advance(format: FormatContext, event: Event) -> FormatContext:
    """The format in force after ``event``."""
    if isinstance(event.body, FormatDescription):
        return event.body.context()
    return own_format(event, format)
