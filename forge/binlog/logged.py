"""The events of a file one by one, those inside compressed transactions among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from forge.binlog.payload import inner_format, inner_frames
from forge.binlog.reader import FIRST, Beginning, PlacedEvent, read_events
from forge.binlog.window import LogSource
from forge.errors import FormatError
from forge.events.event import Event
from forge.events.layout import Body
from forge.events.transaction_payload import TransactionPayload

#: Bytes of a file, of its events as they are unpacked, and how many events, that are kept to be read again at once.
_REMEMBERED = 1 << 18
_REMEMBERED_BYTES = 1 << 22
_REMEMBERED_EVENTS = 1 << 13


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the file; or the ``inner``-th (from 1) of a TRANSACTION_PAYLOAD, with that one's index and offset."""

    placed: PlacedEvent
    inner: int = 0

    @property
    def event(self) -> Event:
        """The event: header, body, checksum."""
        return self.placed.event

    @property
    def body(self) -> Body:
        """The event's body, whose class is its type."""
        return self.placed.event.body

    @property
    def index(self) -> int:
        """The event's number in the file, from 0."""
        return self.placed.index

    @property
    def offset(self) -> int:
        """Where the event starts in the file."""
        return self.placed.offset

    @property
    def raw(self) -> bytes:
        """The whole event as it is in the file, or in the unpacked payload."""
        return self.placed.raw


def logged_events(source: LogSource, beginning: Beginning = FIRST) -> Iterator[LoggedEvent]:
    """All events of a file, or those from ``beginning`` on; those of a payload follow it.

    Raises FormatError as :func:`forge.binlog.reader.read_events` does, and for payloads that cannot be unpacked.
    """
    small = isinstance(source, bytes) and len(source) <= _REMEMBERED and beginning is FIRST
    remembered = _read_whole(source) if small else None
    if remembered is None:
        yield from _read(source, beginning)
        return
    events, error = remembered
    yield from events
    if error is not None:  # A new one: its readers complete it.
        raise FormatError(
            error.rule, phase=error.phase, offset=error.offset, event_index=error.event_index, file=error.file
        )


@lru_cache(maxsize=2)
def _read_whole(data: bytes) -> tuple[tuple[LoggedEvent, ...], FormatError | None] | None:
    """The events of a small file, kept: a file that is judged is read by the reference, our decoder and the decode.

    None if they are too many or too large, which a payload of a small file can hold.
    """
    events: list[LoggedEvent] = []
    left = _REMEMBERED_BYTES
    try:
        for logged in _read(data):
            left -= len(logged.raw)
            if len(events) == _REMEMBERED_EVENTS or left < 0:
                return None
            events.append(logged)
    except FormatError as error:
        return tuple(events), error
    return tuple(events), None


def _read(source: LogSource, beginning: Beginning = FIRST) -> Iterator[LoggedEvent]:
    for placed in read_events(source, beginning=beginning):
        yield LoggedEvent(placed)
        if isinstance(placed.event.body, TransactionPayload):
            yield from _inside(placed, placed.event.body)


def _inside(outer: PlacedEvent, body: TransactionPayload) -> Iterator[LoggedEvent]:
    format = inner_format(outer.format)
    try:
        for number, (event, raw) in enumerate(inner_frames(body, outer.format), start=1):
            yield LoggedEvent(PlacedEvent(outer.index, outer.offset, raw, event, format), number)
    except FormatError as error:
        rule = f"{error.rule} (at {error.offset} of the unpacked payload)"
        raise error.replace(rule=rule).of_event(outer.offset, outer.index) from None
