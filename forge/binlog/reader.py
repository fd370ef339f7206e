"""Files of events: framing, and events with their places.

A file is the magic number, events one after another (each says its size), and possibly a torn tail: an active or
crashed server's file may end anywhere.  The next event starts where the size says; log_pos is never trusted
(MariaDB 11.4 and later write 0 there inside transactions).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forge.binlog.window import LogSource, window_of
from forge.binlog.wrapped import wrapping
from forge.errors import FormatError
from forge.events.event import SIZE_OFFSET, Event, advance, carries_checksum, decode_event, decode_event_strictly
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext
from forge.events.format_description import FormatDescription
from forge.events.registry import event_name
from forge.events.start_encryption import StartEncryption
from forge.events.start_v3 import StartV3, start_format

MAGIC = b"\xfebin"
ENCRYPTED_MAGIC = b"\xfdbin"
#: START_V3 of 4.1 and older, FORMAT_DESCRIPTION.  mysqlbinlog 9.7 refuses rows of a file that starts otherwise.
FIRST_TYPES = frozenset((StartV3.type_code, FormatDescription.type_code))


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes of one event and where they start.  ``type_code`` is the number that the file has."""

    index: int
    offset: int
    raw: bytes

    @property
    def type_code(self) -> int:
        return self.raw[4]


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event, its bytes, and the framing that was in force before it."""

    index: int
    offset: int
    raw: bytes
    event: Event
    format: FormatContext

    @property
    def unchecked_size(self) -> int:
        """The bytes before the checksum, or all where there is none."""
        return len(self.raw) - CHECKSUM_SIZE * carries_checksum(self.event, self.format)


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where reading begins: the offset of an event, its index, and the framing that is in force before it."""

    offset: int = 4
    index: int = 0
    format: FormatContext = field(default_factory=FormatContext)


#: Behind the magic number.
FIRST = Beginning()


def announced_size(data: bytes | bytearray, offset: int = 0) -> int:
    """The size that the header of the event at ``offset`` says."""
    return int.from_bytes(data[offset + SIZE_OFFSET : offset + SIZE_OFFSET + 4], "little")


def has_magic(data: bytes) -> bool:
    return data[:4] == MAGIC


def frames(source: LogSource, start: int = 4, index: int = 0, header: int = HEADER_SIZE) -> Iterator[Frame]:
    """The whole events from ``start`` on, the first one with that index; ends silently where no whole event follows
    (:func:`torn`).

    ``header`` is the size of their headers, at least; a START_V3 event at the beginning of a file says another.
    """
    window = window_of(source)
    offset = start
    while True:
        at = offset - window.start
        if at + header > len(window.data):
            if not window.reach(offset, header):
                return
            continue
        size = announced_size(window.data, at)
        if size < header:
            return
        if at + size > len(window.data):
            if not window.reach(offset, size):
                return
            continue
        if offset == len(MAGIC) and not index and window.data[at + 4] == StartV3.type_code:
            header = least_size(size)
        yield Frame(index, offset, window.data[at : at + size])
        index, offset = index + 1, offset + size


def read_events(source: LogSource, *, strict: bool = True, beginning: Beginning = FIRST) -> Iterator[PlacedEvent]:
    """All events of a file, of which no more than a window and one event is kept if ``source`` is a window.

    With another ``beginning`` those from there on, where the window must begin too.

    With ``strict``, raises FormatError (offsets within the file) for a wrong magic number, a first event that does not
    tell the format, a body that does not fit its type, a checksum that does not hold and a torn tail, after yielding
    what precedes it.
    Without, bodies that do not parse are raw, wrong checksums are pinned, and a tail is left out.
    """
    window = window_of(source)
    if strict and beginning is FIRST:
        window.reach(0, len(MAGIC))
        check_magic(window.data)
    format, offset, index = beginning.format, beginning.offset, beginning.index
    encrypting = False
    for frame in frames(window, beginning.offset, beginning.index, min(format.header_length, HEADER_SIZE)):
        if strict and not frame.index and frame.type_code not in FIRST_TYPES:
            raise FormatError(
                f"the first event is {event_name(frame.type_code)}; without FORMAT_DESCRIPTION no event can be read",
                phase="framing",
                event_index=0,
                offset=frame.offset,
            )
        try:
            decode = decode_event_strictly if strict else decode_event
            event = decode(frame.raw, frame.offset, format)
        except FormatError as error:
            if strict:
                told = encrypted_event(frame) if encrypting else None
                raise told or error.within(base=frame.offset, event_index=frame.index) from None
            return
        if strict and encrypting and event.log_pos:
            raise encrypted_event(frame)
        encrypting = isinstance(event.body, StartEncryption)
        yield PlacedEvent(frame.index, frame.offset, frame.raw, event, format)
        if strict and event.checksum is not None:
            raise FormatError(
                f"the checksum of this {event.type_name} event is wrong",
                phase="checksum",
                event_index=frame.index,
                offset=frame.offset + len(frame.raw) - 4,
            )
        format = advance(format, event)
        offset, index = frame.offset + len(frame.raw), frame.index + 1
    if strict and (left := window.left(offset)) > 0:
        least = min(format.header_length, HEADER_SIZE)
        header = window.data[offset - window.start :][:least]
        raise FormatError(torn(header, left, least), phase="framing", event_index=index, offset=offset)


def least_size(size: int) -> int:
    """The least size of events behind a START_V3 of that size: that of their header."""
    return min(start_format(size).header_length, HEADER_SIZE)


def encrypted_event(frame: Frame) -> FormatError:
    """The error of the first event behind START_ENCRYPTION, if it is not plain: its header is not that of one."""
    return FormatError(
        "the events from here on are encrypted (START_ENCRYPTION stands before them); decrypt the file first",
        phase="framing",
        event_index=frame.index,
        offset=frame.offset,
    )


def check_magic(data: bytes) -> None:
    """Raises FormatError for data that do not begin as a file of events does."""
    if data[:4] == ENCRYPTED_MAGIC:
        raise FormatError("the file is encrypted; decrypt it first", phase="framing", offset=0)
    if data[:4] != MAGIC:
        beginning = f"this file starts with {data[:4].hex(' ')}" if data else "this file is empty"
        if name := wrapping(data):
            beginning = f"this file is compressed by {name}: unpack it first"
        raise FormatError(f"a binary log starts with the bytes fe 62 69 6e; {beginning}", phase="framing", offset=0)


def torn(header: bytes, left: int, least: int = HEADER_SIZE) -> str:
    """What is wrong where no whole event follows: the bytes there, as many as a header has, and how many are left."""
    if left < least:
        return f"an event header has {least} bytes, but only {left} are left"
    size = announced_size(header)
    if size < least:
        return f"the event says it has {size} bytes, less than its header"
    return f"the event says it has {size} bytes, but only {left} are left"
