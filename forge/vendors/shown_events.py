"""The events of a file as the vendors' programs meet them: the bytes that they show, and where they say these are."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from forge.binlog.payload import inner_format, unpacked
from forge.binlog.reader import Beginning, Frame, PlacedEvent, frames
from forge.binlog.window import LogWindow
from forge.errors import FormatError
from forge.events.event import Event, advance, decode_event, encode_event
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, POST_HEADERS, FormatContext
from forge.events.format_description import FormatDescription
from forge.events.layout import Body
from forge.events.transaction_payload import TransactionPayload


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event.  ``position`` is what stands behind ``# at``, ``raw`` what a BINLOG statement holds."""

    placed: PlacedEvent
    raw: bytes
    position: int
    #: What the header of the event says, or what is said in its place.
    end: int
    checksum: int | None
    inner: bool = False

    @property
    def event(self) -> Event:
        return self.placed.event

    @property
    def body(self) -> Body:
        return self.placed.event.body

    @property
    def format(self) -> FormatContext:
        return self.placed.format

    @property
    def type_code(self) -> int:
        return self.raw[4]

    @property
    def bytes_of_body(self) -> bytes:
        """What stands between header and checksum."""
        return self.raw[HEADER_SIZE : len(self.raw) - CHECKSUM_SIZE * (self.checksum is not None)]

    def with_body(self, body: Body) -> ShownEvent:
        """The event with another body: its size and checksum are those of that one."""
        event = self.event.replace(
            body=body, event_size=None, checksum=None, log_pos=int.from_bytes(self.raw[13:17], "little")
        )
        raw = encode_event(event, self.position, self.format)
        if self.inner and self.checksum is not None:
            raw = with_checksum(raw)
        checksum = None if self.checksum is None else int.from_bytes(raw[-CHECKSUM_SIZE:], "little")
        return replace(self, placed=replace(self.placed, event=event), raw=raw, checksum=checksum)


class ShownEvents:
    """The whole events of a file, one after the other.  Bodies that do not fit their type are :class:`RawBody`.

    With ``plain`` fixed parts are never longer than the layouts say, whatever FORMAT_DESCRIPTION says of them.
    """

    def __init__(self, window: LogWindow, beginning: Beginning, *, plain: bool = False) -> None:
        self._window = window
        self._plain = plain
        self.format = beginning.format
        #: Where the next event is.
        self.offset = beginning.offset
        self._frames = self._frames_from(beginning.index)

    def _frames_from(self, index: int) -> Iterator[Frame]:
        return frames(self._window, self.offset, index, min(self.format.header_length, HEADER_SIZE))

    def move(self, offset: int) -> None:
        """Go on at another event behind the first."""
        self.offset = offset
        self._frames = self._frames_from(1)

    def __iter__(self) -> Iterator[ShownEvent]:
        return self

    def __next__(self) -> ShownEvent:
        frame, format = next(self._frames), self.format
        try:
            event = decode_event(frame.raw, frame.offset, format)
        except FormatError:
            self._frames = iter(())
            raise StopIteration from None
        self.offset = frame.offset + len(frame.raw)
        self.format = advance(format, event)
        if self._plain and not self.format.plain and isinstance(event.body, FormatDescription):
            self.format = _with_plain_lengths(self.format)
        return shown(PlacedEvent(frame.index, frame.offset, frame.raw, event, format))


def _with_plain_lengths(format: FormatContext) -> FormatContext:
    lengths = enumerate(format.post_header_lengths, start=1)
    return replace(format, post_header_lengths=bytes(min(POST_HEADERS.get(code, 255), own) for code, own in lengths))


def shown(placed: PlacedEvent) -> ShownEvent:
    """An event of the file."""
    checked = _has_checksum(placed)
    checksum = int.from_bytes(placed.raw[-CHECKSUM_SIZE:], "little") if checked else None
    return ShownEvent(placed, placed.raw, placed.offset, int.from_bytes(placed.raw[13:17], "little"), checksum)


def _has_checksum(placed: PlacedEvent) -> bool:
    body = placed.event.body
    if isinstance(body, FormatDescription):
        # An event that says that others have none has one itself.
        return body.checksum_algorithm == 1
    return placed.format.checksum


def with_checksum(raw: bytes) -> bytes:
    """An event that has none, with one."""
    raw = raw[:9] + (len(raw) + CHECKSUM_SIZE).to_bytes(4, "little") + raw[13:]
    return raw + zlib.crc32(raw).to_bytes(CHECKSUM_SIZE, "little")


def inner_events(outer: ShownEvent, body: TransactionPayload) -> Iterator[ShownEvent]:
    """The events of a compressed transaction: all of them stand where it ends, and have checksums if it has one.

    Raises FormatError for a payload that cannot be unpacked.
    """
    end = outer.position + len(outer.raw)
    inner = inner_format(outer.format)
    for frame in frames(b"".join(unpacked(body)), 0, 1):
        event = decode_event(frame.raw, 0, inner)
        raw, checksum = frame.raw, None
        if outer.checksum is not None:
            raw = with_checksum(raw)
            checksum = int.from_bytes(raw[-CHECKSUM_SIZE:], "little")
        placed = PlacedEvent(outer.placed.index, outer.placed.offset, frame.raw, event, inner)
        yield ShownEvent(placed, raw, end, end, checksum, inner=True)
