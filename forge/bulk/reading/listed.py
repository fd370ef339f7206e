"""Events of a file that were listed at one go, and what they lie in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from forge.binlog.mapped import refuse_to_pass
from forge.binlog.payload import inner_format, inner_frames
from forge.binlog.reader import PlacedEvent
from forge.bulk.plan import Bytes
from forge.bulk.reading.events import EventList
from forge.errors import FormatError, UnsupportedError
from forge.events.event import Event, decode_event_strictly
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import COMPRESSED_ROWS
from forge.events.transaction_payload import TransactionPayload

_Item = TypeVar("_Item")

#: Types of MariaDB's compressed rows.
COMPRESSED = frozenset(body.type_code for body in COMPRESSED_ROWS)


@dataclass(slots=True)
class Listed:
    """Events and what they lie in.  Their checksums have not been looked at, but of those that are not listed as they
    are.

    ``compressed`` are the bytes of the events whose rows were compressed, by the events' numbers; ``format`` is the
    framing of them all; ``read_bytes`` those of the file that had been read.
    """

    buffer: Bytes
    events: EventList
    format: FormatContext
    compressed: dict[int, bytes] = field(default_factory=dict)
    read_bytes: int = 0

    def verify(self) -> FormatError | None:
        """What is wrong with the first event whose checksum does not hold; it and those behind it are taken off."""
        events = self.events
        wrong = events.first_with_wrong_checksum(self.buffer)
        if wrong < 0:
            return None
        begin, size = int(events.begins[wrong]), int(events.sizes[wrong])
        events.count = wrong
        try:
            checked(self.buffer[begin : begin + size].tobytes(), int(events.places[wrong]), int(events.numbers[wrong]),
                     self.format)  # fmt: skip
        except FormatError as error:
            return error
        raise AssertionError("a checksum that does not hold, holds")


def in_file(items: Iterator[_Item], path: Path) -> Iterator[_Item]:
    """The items; errors on the way name the file."""
    try:
        yield from items
    except FormatError as error:
        raise error.in_file(str(path)) from None


def checked(raw: bytes, place: int, number: int, format: FormatContext) -> Event:
    """The event by the reference path.  Raises FormatError, for a checksum that does not hold too."""
    try:
        event = decode_event_strictly(raw, place, format)
    except FormatError as error:
        raise error.within(base=place, event_index=number) from None
    if event.checksum is not None:
        raise FormatError(
            f"the checksum of this {event.type_name} event is wrong",
            phase="checksum",
            event_index=number,
            offset=place + len(raw) - 4,
        )
    return event


def payload_body(raw: bytes, place: int, number: int, format: FormatContext) -> TransactionPayload:
    """The payload of an event, by the reference path.  Raises FormatError."""
    body = checked(raw, place, number, format).body
    assert isinstance(body, TransactionPayload)
    return body


def payload_error(raw: bytes, error: FormatError, place: int, number: int, format: FormatContext) -> FormatError:
    """What the reference path says of a payload that was unpacked until ``error``."""
    if error.event_index is not None:
        return error
    try:
        for event, inner_raw in inner_frames(payload_body(raw, place, number, format), format):
            refuse_to_pass(PlacedEvent(number, place, inner_raw, event, inner_format(format)))
    except FormatError as said:
        rule = f"{said.rule} (at {said.offset} of the unpacked payload)"
        return said.replace(rule=rule).of_event(place, number)
    return error.of_event(place, number)


def pass_inner(raw: bytes, place: int, number: int, format: FormatContext) -> None:
    """An event inside a payload that holds no rows for a kernel.  Raises FormatError, UnsupportedError."""
    if raw[4] == TransactionPayload.type_code:
        raise FormatError("a payload contains another payload", phase="body")
    if raw[4] in COMPRESSED:
        raise UnsupportedError("a payload holds compressed rows, which no server writes")
    inner = inner_format(format)
    refuse_to_pass(PlacedEvent(number, place, raw, decode_event_strictly(raw, 0, inner), inner))
