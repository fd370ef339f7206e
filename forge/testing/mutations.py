"""Logs with one thing wrong, of a kind that readers meet: a changed field, bytes cut or put in, events out of order."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from forge.binlog.reader import MAGIC, announced_size, frames
from forge.errors import FormatError, UnsupportedError
from forge.events.event import SIZE_OFFSET
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE
from forge.events.registry import EVENT_NAMES
from forge.logs import Row, read
from forge.testing.draws.source import Source

_BORDERS = (0, 1, 0x7F, 0x80, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF)
_SIZES = (0, 18, 19, 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
#: Types whose body begins with the id of a table.
_OF_TABLE = frozenset((19, *range(23, 26), 30, 31, 32, 39))


@dataclass(frozen=True, slots=True)
class MutatedLog:
    """The bytes of a log after one change.

    ``mutation`` says what was changed and where; ``rows`` are those that our strict reader gets before ``problem``,
    which ends the reading.  Without a problem a reader has to get these rows, or to refuse the log; with one it may get
    some of them, and has to refuse.  No reader may crash, hang, or give other rows.
    """

    data: bytes
    original: bytes = field(repr=False)
    mutation: str
    rows: list[Row]
    problem: FormatError | UnsupportedError | None


def mutated(source: Source, data: bytes) -> MutatedLog:
    """The log with one change; half of the changes go with a checksum that holds."""
    changed, words = changed_log(source, data)
    log = read(changed, "lenient")
    return MutatedLog(changed, data, words, log.rows, log.problem)


def changed_log(source: Source, data: bytes) -> tuple[bytes, str]:
    """The bytes of the log after one change, and what was changed and where.  A log without a whole event stays."""
    mutation, change = source.one_of(_CHANGES)
    events = [frame.raw for frame in frames(data)]
    if not events:
        return data, "nothing changed"
    has_checksums = _has_checksums(events)
    place = source.integer(0, len(events) - 1)
    said = change(source, events, place)
    mutation = said.mutation or mutation
    if has_checksums and said.mends and source.truth():
        events[place] = _with_checksum(events[place])
        mutation += ", its checksum mended"
    words = f"{mutation}: event {place} ({EVENT_NAMES.get(said.type_code, said.type_code)}){said.words}"
    return MAGIC + b"".join(events), words


@dataclass(frozen=True, slots=True)
class _Change:
    type_code: int
    words: str = ""
    #: The event is still whole, and a checksum can be made to hold.
    mends: bool = True
    #: What was done in place of what was to be.
    mutation: str | None = None


def _byte(source: Source, events: list[bytes], place: int) -> _Change:
    raw = bytearray(events[place])
    at = source.integer(min(HEADER_SIZE, len(raw) - 1), len(raw) - 1)
    raw[at] = source.one_of(_BORDERS) if source.truth() else raw[at] ^ 1 << source.integer(0, 7)
    events[place] = bytes(raw)
    return _Change(raw[4], f" byte {at} is {raw[at]:#04x}")


def _header(source: Source, events: list[bytes], place: int) -> _Change:
    raw = bytearray(events[place])
    at = source.one_of((4, 5, 13, 17))
    code = raw[4]
    raw[at] = source.one_of(_BORDERS)
    events[place] = bytes(raw)
    return _Change(code, f" byte {at} of its header is {raw[at]:#04x}")


def _size(source: Source, events: list[bytes], place: int) -> _Change:
    raw = events[place]
    size = source.one_of((*_SIZES, len(raw) - 1, len(raw) + 1))
    events[place] = raw[:SIZE_OFFSET] + struct.pack("<I", size) + raw[SIZE_OFFSET + 4 :]
    return _Change(raw[4], f" says it has {size} bytes", mends=False)


def _cut(source: Source, events: list[bytes], place: int) -> _Change:
    raw = events[place]
    most = max(len(raw) - HEADER_SIZE - CHECKSUM_SIZE, 0)
    less = source.integer(min(1, most), most)
    kept = raw[: len(raw) - CHECKSUM_SIZE - less] + raw[len(raw) - CHECKSUM_SIZE :]
    events[place] = _sized(kept)
    return _Change(raw[4], f" lacks {less} bytes at its end")


def _grown(source: Source, events: list[bytes], place: int) -> _Change:
    raw = events[place]
    more = source.binary(12, 1)
    at = source.integer(min(HEADER_SIZE, len(raw)), len(raw))
    events[place] = _sized(raw[:at] + more + raw[at:])
    return _Change(raw[4], f" has {more.hex()} put in at {at}")


def _table_id(source: Source, events: list[bytes], place: int) -> _Change:
    raw = events[place]
    if raw[4] not in _OF_TABLE or len(raw) < HEADER_SIZE + 6:
        return replace(_byte(source, events, place), mutation="a byte changed")
    number = source.integer(0, 1 << 24)
    events[place] = raw[:HEADER_SIZE] + struct.pack("<Q", number)[:6] + raw[HEADER_SIZE + 6 :]
    return _Change(raw[4], f" is of table {number}")


def _dropped(source: Source, events: list[bytes], place: int) -> _Change:
    code = events[place][4]
    del events[place]
    return _Change(code, mends=False)


def _repeated(source: Source, events: list[bytes], place: int) -> _Change:
    events.insert(place, events[place])
    return _Change(events[place][4])


def _exchanged(source: Source, events: list[bytes], place: int) -> _Change:
    other = (place + source.integer(1, max(1, len(events) - 1))) % len(events)
    events[place], events[other] = events[other], events[place]
    return _Change(events[other][4], f" and event {other}", mends=False)


def _torn(source: Source, events: list[bytes], place: int) -> _Change:
    raw = events[place]
    kept = source.integer(0, len(raw) - 1)
    events[place:] = [raw[:kept]]
    return _Change(raw[4], f" ends the file after {kept} bytes", mends=False)


_CHANGES: tuple[tuple[str, Callable[[Source, list[bytes], int], _Change]], ...] = (
    ("a byte changed", _byte),
    ("a byte of a header changed", _header),
    ("a size changed", _size),
    ("an event cut", _cut),
    ("bytes put in", _grown),
    ("a table id changed", _table_id),
    ("an event dropped", _dropped),
    ("an event repeated", _repeated),
    ("events exchanged", _exchanged),
    ("a torn file", _torn),
)


def _has_checksums(events: list[bytes]) -> bool:
    first = events[0]
    return len(first) > CHECKSUM_SIZE and _with_checksum(first) == first and announced_size(first) == len(first)


def _sized(raw: bytes) -> bytes:
    return raw[:SIZE_OFFSET] + struct.pack("<I", len(raw)) + raw[SIZE_OFFSET + 4 :]


def _with_checksum(raw: bytes) -> bytes:
    body = raw[:-CHECKSUM_SIZE]
    return body + struct.pack("<I", zlib.crc32(body))
