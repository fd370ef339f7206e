"""From events to the bytes of a file: sizes, positions, transaction lengths and checksums are filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from forge.binlog.reader import MAGIC, announced_size
from forge.events.event import Event, advance, built_body, carries_checksum, encode_event, own_format
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.packed import pack_int
from forge.events.query import Query
from forge.events.table_map import TableMap

#: Types at which a transaction that began with a GTID event is over: the next GTID, or an event about the file.
GROUP_BOUNDARIES = frozenset((33, 34, 42, 162, 15, 35, 163, 3, 4, 27, 41))

#: An event, or bytes that are to stand in the file as they are.
Item = Event | bytes


#: Longer bodies are built again where they are written: only their sizes are kept until then.
_KEPT_BODY = 4096
#: Bodies whose bytes are kept for the next event that has the very same body.
_MOST_REPEATED = 256


@dataclass(slots=True)
class _Built:
    event: Event
    #: None for a long one.
    body: bytes | None
    body_size: int
    #: Bytes of the header and of the checksum.
    frame_size: int
    format: FormatContext

    @property
    def size(self) -> int:
        return self.frame_size + self.body_size

    def put(self, body: bytes) -> None:
        self.body, self.body_size = body if len(body) <= _KEPT_BODY else None, len(body)


def write_binlog(items: Iterable[Item], *, magic: bytes = MAGIC) -> bytes:
    """The file that holds these events, in this order.  Raises ScenarioError for a value that does not fit its
    field.
    """
    return b"".join(binlog_pieces(items, magic=magic))


def binlog_pieces(items: Iterable[Item], *, magic: bytes = MAGIC) -> Iterator[bytes]:
    """As :func:`write_binlog`, piece by piece, so that the file is never in memory.

    All bodies have been built when this returns: only an event's header may still raise later.
    """
    built = _build_bodies(items)
    _fill_transaction_lengths(built)
    return _pieces(built, magic)


def _pieces(built: Iterable[_Built | bytes], magic: bytes) -> Iterator[bytes]:
    yield magic
    offset = len(magic)
    for item in built:
        piece = item if isinstance(item, bytes) else encode_event(item.event, offset, item.format, body=item.body)
        yield piece
        offset += len(piece)


def _build_bodies(items: Iterable[Item]) -> list[_Built | bytes]:
    format = FormatContext()
    built: list[_Built | bytes] = []
    # The bytes of bodies that come again, by the objects, which are alive as long as ``built``.
    repeated: dict[tuple[int, bytes], bytes] = {}
    for item in items:
        if isinstance(item, bytes):
            built.append(item)
            continue
        format = own_format(item, format)
        checksum = carries_checksum(item, format)
        frame_size = format.header_size(item.type_code) + CHECKSUM_SIZE * checksum
        event = _Built(item, None, 0, frame_size, format)
        key = id(item.body), item.post_header_extra
        body = repeated.get(key)
        if body is None:
            body = built_body(item, format)
            if isinstance(item.body, (Query, TableMap)):
                if len(repeated) == _MOST_REPEATED:
                    repeated.clear()
                repeated[key] = body
        event.put(body)
        built.append(event)
        following = advance(format, item)
        if following is not format:
            format = following
            repeated.clear()
    return built


def _fill_transaction_lengths(built: Sequence[_Built | bytes]) -> None:
    """The GTID event counts its own group, its own length field included (sql/log_event.cc, Gtid_log_event)."""
    following = 0
    for item in reversed(built):
        if isinstance(item, bytes):
            if not _is_whole_event(item) or item[4] in GROUP_BOUNDARIES:
                following = 0
            else:
                following += len(item)
            continue
        if derives_length(item.event):
            item.put(_with_length(item, following))
        following = 0 if item.event.type_code in GROUP_BOUNDARIES else following + item.size


def _with_length(item: _Built, following: int) -> bytes:
    """The body of a GTID event that counts itself and ``following`` bytes."""
    body = item.event.body
    if isinstance(body, AnonymousGtid):
        body = body.replace(transaction_length=group_length(item.size + following))
        return built_body(item.event, item.format, body)
    assert isinstance(body, GtidTagged)
    length = 0
    while True:
        # The field is as long as the number is large: the fixpoint is reached from below.
        built = built_body(item.event, item.format, body.replace(transaction_length=length))
        total = item.size - item.body_size + len(built) + following
        if total == length:
            return built
        length = total


def _is_whole_event(data: bytes) -> bool:
    return len(data) >= HEADER_SIZE and announced_size(data) == len(data)


def derives_length(event: Event) -> bool:
    """Whether the event has a transaction length that is left to be derived."""
    body = event.body
    if isinstance(body, GtidTagged):
        return body.transaction_length is None
    return isinstance(body, AnonymousGtid) and body.commit_timestamp is not None and body.transaction_length is None


def group_length(without_field: int) -> int:
    """The length of a group which has ``without_field`` bytes without its transaction_length field."""
    for width in (1, 3, 4, 9):
        if len(pack_int(without_field + width)) == width:
            return without_field + width
    # Between two widths no length fits exactly (250 + 1 = 251 needs three bytes): the wider form is used.
    return next(without_field + w for w in (3, 4, 9) if len(pack_int(without_field + w)) <= w)
