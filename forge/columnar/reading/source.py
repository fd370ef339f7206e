"""Files as lists of events: a window over the file, and the events of compressed transactions behind it.

The buffer has two parts.  The window holds bytes of the file as they are; whole events are listed where they lie.  What
is compressed is unpacked behind the window, so that a list may hold the events of many small payloads, or a piece of a
large one, and the memory stays the same.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path

import numpy as np
import zstandard

from forge.binlog.mapped import refuse_to_pass
from forge.binlog.payload import LARGEST, inner_format, inner_frames, unpacked
from forge.binlog.reader import FIRST_TYPES, PlacedEvent, check_magic, torn
from forge.columnar.machine import SLACK
from forge.columnar.plan import Bytes
from forge.columnar.reading.events import AT_SPECIAL, BAD_SIZE, FULL, EventList, event_classes
from forge.columnar.reading.payloads import SMALL, quickly_unpacked
from forge.columnar.reading.splits import PartOfFile, Split
from forge.errors import FormatError, UnsupportedError
from forge.events.event import SIZE_OFFSET, Event, advance, decode_event_strictly
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext
from forge.events.mariadb_compressed import COMPRESSED_ROWS, uncompressed
from forge.events.registry import event_name
from forge.events.transaction_payload import TransactionPayload

#: Bytes of a window, and of the room for unpacked events: what fits a core's cache.
WINDOW = 1 << 20
#: Servers write no larger event (max_allowed_packet), and offsets in a window have 32 bits.
_LARGEST_EVENT = 1 << 30
_COMPRESSED = frozenset(body.type_code for body in COMPRESSED_ROWS)


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A window that was read ahead: ``got`` bytes of it are new, its events are listed up to ``at``."""

    buffer: Bytes
    events: EventList
    fill: int
    at: int
    got: int


class EventSource:
    """The events of one file or of a split of it, list by list.

    ``buffer`` and ``events`` are used again for the next list; ``format`` is the framing in force for the list.
    """

    def __init__(self, path: Path, split: Split | None = None) -> None:
        window = WINDOW
        self.path = path
        self._split = split
        self.events = EventList()
        self.classes = event_classes()
        self.format = FormatContext()
        self._window = window
        self._inner_size = SMALL
        self.buffer: Bytes = np.zeros(window + SLACK + self._inner_size + SLACK, np.uint8)
        self.events.unpacked_from = self._inner_base
        #: The bytes of the listed events whose rows were compressed, by the events' numbers.
        self.compressed: dict[int, bytes] = {}
        self._inner_fill = 0
        self._decompressor = zstandard.ZstdDecompressor()
        #: The file offset of the window's first byte, and how much of it is filled.
        self._base = 0
        self._fill = 0
        self._at = 0
        self._number = 0
        #: Bytes of the file that have been read.
        self.read_bytes = 0
        #: What the window after this one is read into.
        self._spare: tuple[Bytes, EventList] | None = None

    @property
    def _tail(self) -> int:
        return CHECKSUM_SIZE if self.format.checksum else 0

    @property
    def _inner_base(self) -> int:
        return self._window + SLACK

    def lists(self) -> Iterator[EventList]:
        """The events in lists that are not empty.

        Raises FormatError as forge.binlog.reader.read_events does, after the events before the bad bytes; bodies that
        no row depends on are not looked at.  OSError if the file cannot be read.
        """
        with self.path.open("rb", buffering=0) as file:
            magic = file.read(4)
            check_magic(magic)
            self._base, self.read_bytes = 4, 4
            if self._split is None:
                yield from self._windows(file)
                return
            mark = self._split.mark
            self._base, self._number, self.format = mark.position, mark.number, mark.context()
            file.seek(mark.position)
            yield from self._windows(PartOfFile(file, self._split.end))

    def _windows(self, file: RawIOBase) -> Iterator[EventList]:
        with ThreadPoolExecutor(max_workers=1) as reader:
            more = self._refill(file) > 0
            while more:
                yield from self._walk_window()
                # All that stands in the window is listed: the next is read while this one is used.
                full = self._fill == self._window and self._at > 0
                ahead = reader.submit(self._read_ahead, file) if full else None
                yield from self._flush()
                if ahead is not None:
                    self._take(ahead.result())
                else:
                    self._shift()
                    more = self._refill(file) > 0
        if self._fill:
            raise self._torn(self._fill)

    def _read_ahead(self, file: RawIOBase) -> _Ahead:
        """The next window, its events listed and their checksums verified; nothing of this one is changed.

        It takes no lock of the interpreter for long: reading and kernels run beside what is done with this window.
        """
        if self._spare is None:
            self._spare = np.zeros_like(self.buffer), EventList()
        buffer, events = self._spare
        events.unpacked_from = self._inner_base
        left = self._fill - self._at
        buffer[:left] = self.buffer[self._at : self._fill]
        got = file.readinto(buffer.data[left : self._window]) or 0
        place = self._base + self._at
        at, _ = events.walk(
            buffer, 0, left + got, self.classes, tail=self._tail, place=place, number=self._number, step=1
        )
        if events.first_with_wrong_checksum(buffer) < 0:
            events.verified = events.count
        return _Ahead(buffer, events, left + got, at, got)

    def _take(self, ahead: _Ahead) -> None:
        """Go on with the window that was read ahead."""
        self._spare = self.buffer, self.events
        self._base += self._at
        self.buffer, self.events, self._fill, self._at = ahead.buffer, ahead.events, ahead.fill, ahead.at
        self._number += ahead.events.count
        self.read_bytes += ahead.got

    def _refill(self, file: RawIOBase) -> int:
        if self._fill == self._window:
            self._widen(file)
        view = self.buffer.data[self._fill : self._window]
        got = file.readinto(view) or 0
        self._fill += got
        self.read_bytes += got
        return int(got)

    def _widen(self, file: RawIOBase) -> None:
        """Room for an event that is larger than the window: no more than the file has."""
        size = int.from_bytes(self.buffer[SIZE_OFFSET : SIZE_OFFSET + 4].tobytes(), "little")
        left = (os.fstat(file.fileno()).st_size if self._split is None else self._split.end) - self._base
        if left > 0 and size > left:
            raise self._torn(left)
        if size > _LARGEST_EVENT:
            raise UnsupportedError(
                f"event {self._number} of {self.path} has {size} bytes; at most {_LARGEST_EVENT} are read"
            )
        self._resize(window=2 * self._window, inner=self._inner_size)

    def _torn(self, left: int) -> FormatError:
        header = self.buffer[self._at : min(self._at + HEADER_SIZE, self._fill)].tobytes()
        return FormatError(torn(header, left), phase="framing", event_index=self._number, offset=self._base + self._at)

    def _resize(self, *, window: int, inner: int) -> None:
        wider = np.zeros(window + SLACK + inner + SLACK, np.uint8)
        wider[: self._fill] = self.buffer[: self._fill]
        old = self._inner_base
        wider[window + SLACK : window + SLACK + self._inner_fill] = self.buffer[old : old + self._inner_fill]
        self.buffer, self._window, self._inner_size, self._spare = wider, window, inner, None
        self.events.unpacked_from = self._inner_base

    def _shift(self) -> None:
        """What is left of the window goes to its beginning."""
        left = self._fill - self._at
        if self._at:
            self.buffer[:left] = self.buffer[self._at : self._fill].copy()
        self._base += self._at
        self._fill, self._at = left, 0

    def _walk_window(self) -> Iterator[EventList]:
        while True:
            before = self.events.count
            place = self._base + self._at
            self._at, why = self.events.walk(
                self.buffer, self._at, self._fill, self.classes,
                tail=self._tail, place=place, number=self._number, step=1,
            )  # fmt: skip
            self._number += self.events.count - before
            if before == 0 and self._number == self.events.count and self.events.count:
                self._check_first(int(self.events.types[0]))
            if why == FULL:
                yield from self._flush()
            elif why == AT_SPECIAL:
                yield from self._special()
            elif why == BAD_SIZE:
                yield from self._bad_size()
            else:
                return

    def _bad_size(self) -> Iterator[EventList]:
        yield from self._flush()
        size = int.from_bytes(self.buffer[self._at + SIZE_OFFSET : self._at + SIZE_OFFSET + 4].tobytes(), "little")
        place = self._base + self._at
        if size < HEADER_SIZE:
            raise self._torn(self._fill - self._at)
        self._decode(self._raw(self._at))  # Too short for its checksum.
        raise FormatError("the event is too short", phase="framing", event_index=self._number, offset=place)

    def _check_first(self, type_code: int) -> None:
        if type_code not in FIRST_TYPES:
            self.events.clear()
            raise FormatError(
                f"the first event is {event_name(type_code)}; without FORMAT_DESCRIPTION no event can be read",
                phase="framing",
                event_index=0,
                offset=4,
            )

    def _flush(self) -> Iterator[EventList]:
        """Hand out what is listed: every event with a checksum that holds."""
        events = self.events
        if not events.count:
            return
        wrong = events.first_with_wrong_checksum(self.buffer)
        if wrong < 0:
            yield events
            events.clear()
            self.compressed.clear()
            self._inner_fill = 0
            return
        begin, size = int(events.begins[wrong]), int(events.sizes[wrong])
        place, number = int(events.places[wrong]), int(events.numbers[wrong])
        raw = self.buffer[begin : begin + size].tobytes()
        events.count = wrong
        if wrong:
            yield events
            events.clear()
        self._checked(raw, place, number)
        raise AssertionError("a checksum that does not hold, holds")

    def _checked(self, raw: bytes, place: int, number: int) -> Event:
        """The event by the reference path.  Raises FormatError, for a checksum that does not hold too."""
        try:
            event = decode_event_strictly(raw, place, self.format)
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

    def _raw(self, at: int) -> bytes:
        size = int.from_bytes(self.buffer[at + SIZE_OFFSET : at + SIZE_OFFSET + 4].tobytes(), "little")
        return self.buffer[at : at + size].tobytes()

    def _decode(self, raw: bytes) -> Event:
        return self._checked(raw, self._base + self._at, self._number)

    def _special(self) -> Iterator[EventList]:
        raw = self._raw(self._at)
        kind = raw[4]
        if not self._number:
            self._check_first(kind)
        if kind == TransactionPayload.type_code:
            yield from self._payload(raw)
        elif kind in _COMPRESSED:
            yield from self._compressed_rows(raw)
        else:
            yield from self._flush()
            event = self._decode(raw)
            placed = PlacedEvent(self._number, self._base + self._at, raw, event, self.format)
            refuse_to_pass(placed)
            self.format = advance(self.format, event)
        self._at += len(raw)
        self._number += 1

    def _room(self, size: int) -> Iterator[EventList]:
        """Room for ``size`` bytes behind the window, and for one more event in the list."""
        if self._inner_fill + size > self._inner_size or self.events.full:
            yield from self._flush()
        if size > self._inner_size:
            self._resize(window=self._window, inner=size)

    def _compressed_rows(self, raw: bytes) -> Iterator[EventList]:
        """MariaDB's compressed rows are listed as the plain event that they stand for."""
        try:
            event = self._decode(raw)
            plain = uncompressed(event.body)
        except FormatError as error:
            yield from self._flush()
            place = self._base + self._at
            raise error if error.event_index is not None else error.of_event(place, self._number) from None
        self.compressed[self._number] = raw
        body = plain.build(self.format)
        unpacked_raw = raw[:4] + bytes([plain.type_code]) + raw[5:HEADER_SIZE] + body
        yield from self._room(len(unpacked_raw))
        begin = self._inner_base + self._inner_fill
        self.buffer[begin : begin + len(unpacked_raw)] = np.frombuffer(unpacked_raw, np.uint8)
        self._inner_fill += len(unpacked_raw)
        self.events.add(
            begin, len(unpacked_raw), plain.type_code, tail=0, place=self._base + self._at, number=self._number
        )

    def _payload(self, raw: bytes) -> Iterator[EventList]:
        """The events of a payload, unpacked a piece at a time."""
        try:
            self._verify(raw)
            quick = quickly_unpacked(self._decompressor, raw[HEADER_SIZE : len(raw) - self._tail])
            pieces = iter([quick]) if quick is not None else unpacked(self._payload_body(raw))
            inner = 0  # Bytes of the room that belong to this payload and are not yet listed.
            for piece in pieces:
                yield from self._make_room(inner, len(piece))
                begin = self._inner_base + self._inner_fill
                self.buffer[begin : begin + len(piece)] = np.frombuffer(piece, np.uint8)
                self._inner_fill += len(piece)
                inner = yield from self._walk_inner(inner + len(piece))
            if inner:
                raise FormatError("cut off", phase="framing")
        except FormatError as error:
            yield from self._flush()
            raise self._payload_error(raw, error) from None

    def _verify(self, raw: bytes) -> None:
        if self._tail and zlib.crc32(memoryview(raw)[:-4]) != int.from_bytes(raw[-4:], "little"):
            self._decode(raw)

    def _payload_body(self, raw: bytes) -> TransactionPayload:
        body = self._decode(raw).body
        assert isinstance(body, TransactionPayload)
        return body

    def _make_room(self, inner: int, size: int) -> Iterator[EventList]:
        """Room for a piece behind the ``inner`` bytes of an event that has begun; both stay together."""
        if self._inner_fill + size <= self._inner_size:
            return
        begin = self._inner_base + self._inner_fill - inner
        begun = self.buffer[begin : begin + inner].copy()
        self._inner_fill -= inner
        yield from self._flush()
        self._inner_fill = 0
        if inner + size > self._inner_size:
            if inner + size > LARGEST:
                raise FormatError("an event inside the payload is larger than a payload", phase="framing")
            self._resize(window=self._window, inner=max(inner + size, 2 * self._inner_size))
        self.buffer[self._inner_base : self._inner_base + inner] = begun
        self._inner_fill = inner

    def _walk_inner(self, inner: int) -> Generator[EventList, None, int]:
        """List the whole events among the last ``inner`` bytes of the room: the bytes that are left."""
        while True:
            end = self._inner_base + self._inner_fill
            place = self._base + self._at
            at, why = self.events.walk(
                self.buffer, end - inner, end, self.classes, tail=0, place=place, number=self._number, step=0
            )
            inner = end - at
            if why == FULL:
                begun = self.buffer[at:end].copy()
                self._inner_fill -= inner
                yield from self._flush()
                self.buffer[self._inner_base : self._inner_base + inner] = begun
                self._inner_fill = inner
            elif why == AT_SPECIAL:
                inner -= self._inner_special(at)
            elif why == BAD_SIZE:
                raise FormatError("an impossible size", phase="framing")
            else:
                return inner

    def _inner_special(self, at: int) -> int:
        """The size of an event inside a payload that holds no rows for a kernel."""
        raw = self._raw(at)
        if raw[4] == TransactionPayload.type_code:
            raise FormatError("a payload contains another payload", phase="body")
        if raw[4] in _COMPRESSED:
            raise UnsupportedError("a payload holds compressed rows, which no server writes")
        inner = inner_format(self.format)
        event = decode_event_strictly(raw, 0, inner)
        refuse_to_pass(PlacedEvent(self._number, self._base + self._at, raw, event, inner))
        return len(raw)

    def _payload_error(self, raw: bytes, error: FormatError) -> FormatError:
        """What the reference path says of the payload."""
        place = self._base + self._at
        if error.event_index is not None:
            return error
        try:
            for event, inner_raw in inner_frames(self._payload_body(raw), self.format):
                refuse_to_pass(PlacedEvent(self._number, place, inner_raw, event, inner_format(self.format)))
        except FormatError as said:
            rule = f"{said.rule} (at {said.offset} of the unpacked payload)"
            return said.replace(rule=rule).of_event(place, self._number)
        return error.of_event(place, self._number)
