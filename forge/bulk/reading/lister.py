"""Events listed window by window, and the events of compressed transactions behind the window (:class:`Room`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from io import BytesIO, UnsupportedOperation
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forge.binlog.mapped import refuse_to_pass, refuse_unusual
from forge.binlog.opened import opened
from forge.binlog.payload import LARGEST, Content, opened_payload
from forge.binlog.reader import FIRST_TYPES, PlacedEvent, announced_size, check_magic, torn
from forge.binlog.window import LogWindow
from forge.binlog.wrapped import wrapping
from forge.bulk.reading.events import AT_SPECIAL, BAD_SIZE, FULL, event_classes
from forge.bulk.reading.listed import COMPRESSED, Listed, checked, pass_inner, payload_body, payload_error
from forge.bulk.reading.long_payload import LongPayload, long_payload
from forge.bulk.reading.payloads import SMALL, SmallPayloads, frame_of
from forge.bulk.reading.room import File, Room
from forge.bulk.reading.splits import PartOfFile, Split
from forge.errors import FormatError, UnsupportedError
from forge.events.event import Event, advance
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, old_format
from forge.events.mariadb_compressed import uncompressed
from forge.events.registry import event_name
from forge.events.start_v3 import StartV3
from forge.events.transaction_payload import TransactionPayload

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

#: Servers write no larger event (max_allowed_packet), and offsets in a window have 32 bits.
_LARGEST_EVENT = 1 << 30


class EventLister:
    """The events of one file or of a split of it.

    A list is left alone until it is given back: it can be used while the next ones are made.  ``part``: of the bytes
    that a list usually has it takes one in so many.
    """

    def __init__(self, path: Path, split: Split | None, keyring: Keyring | None = None, part: int = 1) -> None:
        self.path, self._keyring = path, keyring
        self.classes = event_classes()
        self._split = split
        self._room = Room(part)
        self._small: SmallPayloads | None = None
        #: Bytes of the file; 0 if they do not tell what it takes: of an encrypted or a wrapped one, and of a split.
        self.size = 0
        #: The next event.
        self._number = 0

    def event_at(self, place: int) -> bytes:
        """The bytes of the event at a place of the file, which is read again up to there.  Raises OSError."""
        with self.path.open("rb") as file:
            window = LogWindow(opened(file, self._keyring))
            window.reach(place, HEADER_SIZE)
            size = announced_size(window.data, place - window.start)
            window.reach(place, size)
            return window.data[place - window.start :][:size]

    @property
    def read_bytes(self) -> int:
        """Bytes of the file that have been read."""
        return self._room.read_bytes

    @property
    def is_full(self) -> bool:
        """Whether the file has filled a window: there is more to come, most likely."""
        return self._room.is_full

    def give_back(self, listed: Listed, rows: int) -> None:
        """The list, which had so many rows that were wanted, is not in use any more."""
        self._room.give_back(listed, rows)

    @property
    def _tail(self) -> int:
        return CHECKSUM_SIZE if self._room.list.format.checksum else 0

    def lists(self) -> Generator[Listed, None, None]:
        """The events in lists that are not empty; the rest is raised once :meth:`Listed.verify` finds nothing wrong.

        Raises FormatError as forge.binlog.reader.read_events does, after the events before the bad bytes; bodies that
        no row depends on are not looked at.  OSError if the file cannot be read.
        """
        with self.path.open("rb", buffering=0) as file:
            source, magic = cast(File, file), file.read(4)
            if self._split is None and (wrapping(magic) is not None or self._keyring is not None):
                file.seek(0)
                magic = (source := opened(file, self._keyring)).read(4)
            check_magic(magic)
            if source is file and self._split is None:
                self.size = os.fstat(file.fileno()).st_size
                self._room.size.fit(self.size)
            self._room.open()
            self._room.base = self._room.read_bytes = 4
            if self._split is None:
                yield from self._windows(source)
                return
            mark = self._split.mark
            self._room.base, self._number, self._room.list.format = mark.position, mark.number, mark.context()
            file.seek(mark.position)
            yield from self._windows(PartOfFile(file, self._split.end))

    def _windows(self, file: File) -> Iterator[Listed]:
        room = self._room
        while True:
            if room.is_full:
                long = long_payload(file, room.list.buffer, room.base, room.size_at(0), self._tail)
                if long is not None and self._number:
                    yield from self._long_payload(long)
                    continue
                self._widen(file)
            if room.read(file) <= 0:
                break
            yield from self._walk_window()
            yield from room.flush()
            room.shift()
        if room.fill:
            raise self._torn(room.fill)

    def _widen(self, file: File) -> None:
        """Room for an event that is larger than the window: no more than the file has."""
        size = self._room.size_at(0)
        left = self._end(file) - self._room.base
        if left > 0 and size > left:
            raise self._torn(left)
        if size > _LARGEST_EVENT:
            raise UnsupportedError(
                f"event {self._number} of {self.path} has {size} bytes; at most {_LARGEST_EVENT} are read"
            )
        self._room.widen(size if left > 0 else 0)

    def _end(self, file: File) -> int:
        """Where the file ends, or the split of it; not behind 0 for one whose end nobody knows."""
        if self._split is not None:
            return self._split.end
        try:
            return os.fstat(file.fileno()).st_size
        except UnsupportedOperation:  # what is unpacked
            return 0

    def _torn(self, left: int) -> FormatError:
        header = self._room.list.buffer[self._room.at : min(self._room.at + HEADER_SIZE, self._room.fill)].tobytes()
        return FormatError(torn(header, left), phase="framing", event_index=self._number, offset=self._room.place)

    def _walk_window(self) -> Iterator[Listed]:
        room = self._room
        while True:
            before = room.list.events.count
            place = room.place
            room.at, why = room.list.events.walk(
                room.list.buffer, room.at, room.fill, self.classes,
                tail=self._tail, place=place, number=self._number, step=1,
            )  # fmt: skip
            self._number += room.list.events.count - before
            if before == 0 and self._number == room.list.events.count and room.list.events.count:
                self._check_first(int(room.list.events.types[0]))
            if why == FULL:
                yield from room.flush()
            elif why == AT_SPECIAL:
                yield from self._special()
            elif why == BAD_SIZE:
                yield from self._bad_size()
            else:
                return

    def _bad_size(self) -> Iterator[Listed]:
        yield from self._room.flush()
        size = self._room.size_at(self._room.at)
        place = self._room.place
        if size < HEADER_SIZE:
            raise self._torn(self._room.fill - self._room.at)
        self._decode(self._room.raw(self._room.at))  # Too short for its checksum.
        raise FormatError("the event is too short", phase="framing", event_index=self._number, offset=place)

    def _check_first(self, type_code: int) -> None:
        if type_code not in FIRST_TYPES:
            self._room.list.events.clear()
            raise FormatError(
                f"the first event is {event_name(type_code)}; without FORMAT_DESCRIPTION no event can be read",
                phase="framing",
                event_index=0,
                offset=4,
            )
        if type_code == StartV3.type_code:
            refuse_unusual(old_format("", 3))

    def _decode(self, raw: bytes) -> Event:
        return checked(raw, self._room.place, self._number, self._room.list.format)

    def _special(self) -> Iterator[Listed]:
        room = self._room
        kind = int(room.list.buffer[room.at + 4])
        if not self._number:
            self._check_first(kind)
        if kind == TransactionPayload.type_code:
            yield from self._payloads()
            return
        raw = room.raw(room.at)
        if kind in COMPRESSED:
            yield from self._compressed_rows(raw)
        else:
            yield from room.flush()
            event = self._decode(raw)
            placed = PlacedEvent(self._number, room.place, raw, event, room.list.format)
            refuse_to_pass(placed)
            room.list.format = advance(room.list.format, event)
            refuse_unusual(room.list.format)
        self._pass(len(raw))

    def _pass(self, size: int) -> None:
        """The next event has been taken."""
        self._room.at += size
        self._number += 1

    def _compressed_rows(self, raw: bytes) -> Iterator[Listed]:
        """MariaDB's compressed rows are listed as the plain event that they stand for."""
        room = self._room
        try:
            event = self._decode(raw)
            plain = uncompressed(event.body)
            kind = plain.type_code
        except FormatError as error:
            yield from room.flush()
            place = room.place
            raise error if error.event_index is not None else error.of_event(place, self._number) from None
        body = plain.build(room.list.format)
        del event, plain  # Each holds as many bytes.
        size = HEADER_SIZE + len(body)
        yield from room.make_for_event(size)
        begin = room.inner_end
        room.put(raw[:4] + bytes([kind]) + raw[5:HEADER_SIZE])
        room.put(body)
        room.list.compressed[self._number] = raw
        room.list.events.add(begin, size, kind, tail=0, place=room.place, number=self._number)

    def _payloads(self) -> Iterator[Listed]:
        """Payloads: the small ones as servers write them, with what stands between them; or the next one."""
        room = self._room
        if room.inner_fill:
            yield from room.flush()
            room.inner_fill = 0
        small = self._small = self._small or SmallPayloads()
        if small.unpack(room.list.buffer, room.at, room.fill, self.classes, self._tail, room.inner_base, SMALL):
            begin, place = room.at, room.place
            room.at, self._number, room.inner_fill = small.add_to(
                room.list.events, room.list.buffer, self.classes, begin, self._tail, place, self._number
            )
            if room.at > begin:
                return
        yield from self._payload()

    def _payload(self) -> Iterator[Listed]:
        """The events of a payload, unpacked a piece at a time."""
        # The room that it lies in is not written to there before the payload is through.
        buffer, at, place, number = self._room.list.buffer, self._room.at, self._room.place, self._number
        size = self._room.size_at(at)

        def opened() -> Content | BytesIO:
            begin, length, full = frame_of(buffer, at, size, self._tail)
            if begin and full <= LARGEST:
                return Content(buffer.data[begin : begin + length], full, LARGEST)
            return opened_payload(payload_body(raw(), place, number, self._room.list.format))

        def raw() -> bytes:
            return buffer[at : at + size].tobytes()

        self._pass(size)
        yield from self._unpack(opened, raw, place, number)

    def _long_payload(self, long: LongPayload) -> Iterator[Listed]:
        """The same of one that does not fit the window."""
        room = self._room
        room.read_bytes += long.size - room.fill
        room.inner_fill = 0
        self._pass(room.fill)  # Nothing is left in the window.
        yield from self._unpack(long.content, long.raw, long.place, self._number - 1)
        yield from room.flush()
        room.base, room.at, room.fill = long.pass_by(), 0, 0

    def _unpack(
        self, opened: Callable[[], Content | BytesIO], raw: Callable[[], bytes], place: int, number: int
    ) -> Iterator[Listed]:
        """The events of a payload's content, which is unpacked to where they are listed; ``raw``: its event's bytes."""
        room = self._room
        try:
            content = opened()
            inner = 0  # Bytes of the room that belong to this payload and are not yet listed.
            while True:
                yield from room.make_for_more(inner)
                got = content.readinto(room.rest)
                if not got:
                    break
                room.inner_fill += got
                inner = yield from self._walk_inner(inner + got, place, number)
            if inner:
                raise FormatError("cut off", phase="framing")
        except FormatError as error:
            yield from room.flush()
            raise payload_error(raw(), error, place, number, room.list.format) from None

    def _walk_inner(self, inner: int, place: int, number: int) -> Generator[Listed, None, int]:
        """List the whole events among the last ``inner`` bytes of the room: the bytes that are left."""
        while True:
            end = self._room.inner_end
            at, why = self._room.list.events.walk(
                self._room.list.buffer, end - inner, end, self.classes, tail=0, place=place, number=number, step=0
            )
            inner = end - at
            if why == FULL:
                begun = yield from self._room.flush_around(inner)
                self._room.put(begun)
            elif why == AT_SPECIAL:
                raw = self._room.raw(at)
                pass_inner(raw, place, number, self._room.list.format)
                inner -= len(raw)
            elif why == BAD_SIZE:
                raise FormatError("an impossible size", phase="framing")
            else:
                return inner
