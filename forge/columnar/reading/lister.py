"""Events listed window by window, and the events of compressed transactions behind the window.

The buffer has two parts.  The window holds bytes of the file as they are; whole events are listed where they lie.  What
is compressed is unpacked behind the window, so that a list may hold the events of many small payloads, or a piece of a
large one, and the memory stays the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from io import RawIOBase, UnsupportedOperation
from pathlib import Path
from typing import Any, cast

import numpy as np

from forge.binlog.encryption.keyring import Keyring
from forge.binlog.mapped import refuse_to_pass, refuse_unusual
from forge.binlog.opened import opened
from forge.binlog.payload import LARGEST, decompressed, unpacked
from forge.binlog.reader import FIRST_TYPES, PlacedEvent, check_magic, torn
from forge.binlog.wrapped import wrapping
from forge.columnar.machine import SLACK
from forge.columnar.plan import Bytes
from forge.columnar.reading.events import AT_SPECIAL, BAD_SIZE, FULL, EventList, event_classes
from forge.columnar.reading.listed import COMPRESSED, Listed, checked, pass_inner, payload_body, payload_error
from forge.columnar.reading.long_payload import LongPayload, long_payload
from forge.columnar.reading.payloads import SMALL, SmallPayloads, frame_of
from forge.columnar.reading.reused import Reused
from forge.columnar.reading.splits import PartOfFile, Split
from forge.columnar.reading.window_size import WindowSize
from forge.errors import FormatError, UnsupportedError
from forge.events.event import SIZE_OFFSET, Event, advance
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext, old_format
from forge.events.mariadb_compressed import uncompressed
from forge.events.registry import event_name
from forge.events.start_v3 import StartV3
from forge.events.transaction_payload import TransactionPayload
from forge.unpacking import LARGEST_UNPACKED, too_large

#: A window that an event has made larger than so many ordinary ones is given back behind it.
_MOST_WINDOWS = 16
#: Servers write no larger event (max_allowed_packet), and offsets in a window have 32 bits.
_LARGEST_EVENT = 1 << 30
#: A file, a part of one, or what a gzip or zstd file holds.
_File = RawIOBase | Any


class EventLister:
    """The events of one file or of a split of it.

    A list is left alone until it is given back: it can be used while the next ones are made.
    """

    def __init__(self, path: Path, split: Split | None, keyring: Keyring | None = None) -> None:
        self.path, self._keyring = path, keyring
        self.classes = event_classes()
        #: Bytes of the file that have been read.
        self.read_bytes = 0
        self._split = split
        self._size = WindowSize()
        self._window = self._size.ordinary
        self._inner_size = SMALL
        self._small: SmallPayloads | None = None
        #: The list that is made, and those that were given back.
        self._list = Listed(np.zeros(0, np.uint8), EventList(0), FormatContext())
        self._free: Reused[Listed] = Reused()
        #: The file offset of the window's first byte, and how much of it is filled.
        self._base = self._fill = 0
        self._at = self._number = self._inner_fill = 0

    def _room_of(self) -> Bytes:
        room = np.empty(self._window + SLACK + self._inner_size + SLACK, np.uint8)
        room[self._window : self._inner_base] = room[-SLACK:] = 0
        return room

    @property
    def is_full(self) -> bool:
        """Whether the file has filled a window: there is more to come, most likely."""
        return self._fill == self._window

    @property
    def _tail(self) -> int:
        return CHECKSUM_SIZE if self._list.format.checksum else 0

    @property
    def _inner_base(self) -> int:
        return self._window + SLACK

    def lists(self) -> Generator[Listed, None, None]:
        """The events in lists that are not empty; the rest is raised once :meth:`Listed.verify` finds nothing wrong.

        Raises FormatError as forge.binlog.reader.read_events does, after the events before the bad bytes; bodies that
        no row depends on are not looked at.  OSError if the file cannot be read.
        """
        with self.path.open("rb", buffering=0) as file:
            source, magic = cast(_File, file), file.read(4)
            if self._split is None and (wrapping(magic) is not None or self._keyring is not None):
                file.seek(0)
                magic = (source := opened(file, self._keyring)).read(4)
            check_magic(magic)
            if source is file and self._split is None:
                self._size.fit(os.fstat(file.fileno()).st_size)
                self._window = self._size.ordinary
            self._list = Listed(self._room_of(), EventList(self._size.events), FormatContext())
            self._list.events.unpacked_from = self._inner_base
            self._base, self.read_bytes = 4, 4
            if self._split is None:
                yield from self._windows(source)
                return
            mark = self._split.mark
            self._base, self._number, self._list.format = mark.position, mark.number, mark.context()
            file.seek(mark.position)
            yield from self._windows(PartOfFile(file, self._split.end))

    def _windows(self, file: _File) -> Iterator[Listed]:
        while True:
            if self._fill == self._window:
                long = long_payload(file, self._list.buffer, self._base, self._size_at(0), self._tail)
                if long is not None and self._number:
                    yield from self._long_payload(long)
                    continue
                self._widen(file)
            if self._refill(file) <= 0:
                break
            yield from self._walk_window()
            yield from self._flush()
            self._shift()
        if self._fill:
            raise self._torn(self._fill)

    def _refill(self, file: _File) -> int:
        view = self._list.buffer.data[self._fill : self._window]
        got = file.readinto(view) or 0
        self._fill += got
        self.read_bytes += got
        return int(got)

    def _widen(self, file: _File) -> None:
        """Room for an event that is larger than the window: no more than the file has."""
        size = self._size_at(0)
        left = self._end(file) - self._base
        if left > 0 and size > left:
            raise self._torn(left)
        if size > _LARGEST_EVENT:
            raise UnsupportedError(
                f"event {self._number} of {self.path} has {size} bytes; at most {_LARGEST_EVENT} are read"
            )
        self._resize(window=max(2 * self._window, size if left > 0 else 0), inner=self._inner_size)

    def _end(self, file: _File) -> int:
        """Where the file ends, or the split of it; not behind 0 for one whose end nobody knows."""
        if self._split is not None:
            return self._split.end
        try:
            return os.fstat(file.fileno()).st_size
        except UnsupportedOperation:  # what is unpacked
            return 0

    def _torn(self, left: int) -> FormatError:
        header = self._list.buffer[self._at : min(self._at + HEADER_SIZE, self._fill)].tobytes()
        return FormatError(torn(header, left), phase="framing", event_index=self._number, offset=self._base + self._at)

    def _resize(self, *, window: int, inner: int) -> None:
        narrow, begin = self._list.buffer, self._inner_base
        self._window, self._inner_size = window, inner
        self._free.clear()
        wide = self._list.buffer = self._room_of()
        wide[self._at : self._fill] = narrow[self._at : self._fill]
        wide[self._inner_base : self._inner_base + self._inner_fill] = narrow[begin : begin + self._inner_fill]
        self._list.events.unpacked_from = self._inner_base

    def _shift(self) -> None:
        """What is left of the window goes to its beginning."""
        left = self._fill - self._at
        if self._at:
            self._list.buffer[:left] = self._list.buffer[self._at : self._fill].copy()
        self._base += self._at
        self._fill, self._at = left, 0
        ordinary = self._size.ordinary
        if self._window > _MOST_WINDOWS * ordinary and left < ordinary:
            self._resize(window=ordinary, inner=SMALL)

    def _walk_window(self) -> Iterator[Listed]:
        while True:
            before = self._list.events.count
            place = self._base + self._at
            self._at, why = self._list.events.walk(
                self._list.buffer, self._at, self._fill, self.classes,
                tail=self._tail, place=place, number=self._number, step=1,
            )  # fmt: skip
            self._number += self._list.events.count - before
            if before == 0 and self._number == self._list.events.count and self._list.events.count:
                self._check_first(int(self._list.events.types[0]))
            if why == FULL:
                yield from self._flush()
            elif why == AT_SPECIAL:
                yield from self._special()
            elif why == BAD_SIZE:
                yield from self._bad_size()
            else:
                return

    def _bad_size(self) -> Iterator[Listed]:
        yield from self._flush()
        size = self._size_at(self._at)
        place = self._base + self._at
        if size < HEADER_SIZE:
            raise self._torn(self._fill - self._at)
        self._decode(self._raw(self._at))  # Too short for its checksum.
        raise FormatError("the event is too short", phase="framing", event_index=self._number, offset=place)

    def _check_first(self, type_code: int) -> None:
        if type_code not in FIRST_TYPES:
            self._list.events.clear()
            raise FormatError(
                f"the first event is {event_name(type_code)}; without FORMAT_DESCRIPTION no event can be read",
                phase="framing",
                event_index=0,
                offset=4,
            )
        if type_code == StartV3.type_code:
            refuse_unusual(old_format("", 3))

    def _flush(self) -> Iterator[Listed]:
        """Hand out what is listed."""
        if self._list.events.count:
            self._list.read_bytes = self.read_bytes
            yield self._list
            self._turn()

    def _turn(self) -> None:
        """Go on in another room with what is left of the window: the list is in use from here on."""
        used = self._list
        self._window = self._size.behind(self._window)
        self._list = self._spare()
        self._list.format = used.format
        self._list.compressed = {}
        self._list.events.clear()
        self._list.events.unpacked_from = self._inner_base
        self._list.buffer[self._at : self._fill] = used.buffer[self._at : self._fill]
        self._inner_fill = 0

    def _spare(self) -> Listed:
        """A list that was given back, or a new one."""
        while (listed := self._free.take()) is not None:
            if self._is_of_use(listed):
                return listed
        return Listed(self._room_of(), EventList(self._size.events), self._list.format)

    def _is_of_use(self, listed: Listed) -> bool:
        return len(listed.buffer) == self._inner_base + self._inner_size + SLACK

    def give_back(self, listed: Listed, rows: int) -> None:
        """The list, which had so many rows that were wanted, is not in use any more."""
        self._size.learn(listed, rows)
        if self._is_of_use(listed):
            self._free.add(listed)

    def _size_at(self, at: int) -> int:
        """What the header there says."""
        return int.from_bytes(self._list.buffer[at + SIZE_OFFSET : at + SIZE_OFFSET + 4].tobytes(), "little")

    def _raw(self, at: int) -> bytes:
        return self._list.buffer[at : at + self._size_at(at)].tobytes()

    def _decode(self, raw: bytes) -> Event:
        return checked(raw, self._base + self._at, self._number, self._list.format)

    def _special(self) -> Iterator[Listed]:
        kind = int(self._list.buffer[self._at + 4])
        if not self._number:
            self._check_first(kind)
        if kind == TransactionPayload.type_code:
            yield from self._payloads()
            return
        raw = self._raw(self._at)
        if kind in COMPRESSED:
            yield from self._compressed_rows(raw)
        else:
            yield from self._flush()
            event = self._decode(raw)
            placed = PlacedEvent(self._number, self._base + self._at, raw, event, self._list.format)
            refuse_to_pass(placed)
            self._list.format = advance(self._list.format, event)
            refuse_unusual(self._list.format)
        self._pass(len(raw))

    def _pass(self, size: int) -> None:
        """The next event has been taken."""
        self._at += size
        self._number += 1

    def _room(self, size: int) -> Iterator[Listed]:
        """Room for ``size`` bytes behind the window, and for one more event in the list."""
        if self._inner_fill + size > self._inner_size or self._list.events.full:
            yield from self._flush()
        if size > self._inner_size:
            self._resize(window=self._window, inner=size)

    def _compressed_rows(self, raw: bytes) -> Iterator[Listed]:
        """MariaDB's compressed rows are listed as the plain event that they stand for."""
        try:
            event = self._decode(raw)
            plain = uncompressed(event.body)
            kind = plain.type_code
        except FormatError as error:
            yield from self._flush()
            place = self._base + self._at
            raise error if error.event_index is not None else error.of_event(place, self._number) from None
        body = plain.build(self._list.format)
        del event, plain  # Each holds as many bytes.
        size = HEADER_SIZE + len(body)
        yield from self._room(size)
        begin = self._inner_base + self._inner_fill
        head = raw[:4] + bytes([kind]) + raw[5:HEADER_SIZE]
        self._list.buffer[begin : begin + HEADER_SIZE] = np.frombuffer(head, np.uint8)
        self._list.buffer[begin + HEADER_SIZE : begin + size] = np.frombuffer(body, np.uint8)
        self._inner_fill += size
        self._list.compressed[self._number] = raw
        self._list.events.add(begin, size, kind, tail=0, place=self._base + self._at, number=self._number)

    def _payloads(self) -> Iterator[Listed]:
        """Payloads: the small ones as servers write them, with what stands between them; or the next one."""
        if self._inner_fill:
            yield from self._flush()
            self._inner_fill = 0
        small = self._small = self._small or SmallPayloads()
        if small.unpack(self._list.buffer, self._at, self._fill, self.classes, self._tail, self._inner_base, SMALL):
            begin, place = self._at, self._base + self._at
            self._at, self._number, self._inner_fill = small.add_to(
                self._list.events, self._list.buffer, self.classes, begin, self._tail, place, self._number
            )
            if self._at > begin:
                return
        yield from self._payload()

    def _payload(self) -> Iterator[Listed]:
        """The events of a payload, unpacked a piece at a time."""
        # The room that it lies in is not written to there before the payload is through.
        buffer, at, place, number = self._list.buffer, self._at, self._base + self._at, self._number
        size = self._size_at(at)

        def pieces() -> Iterator[bytes]:
            begin, length, full = frame_of(buffer, at, size, self._tail)
            if begin and full <= LARGEST:
                return decompressed(buffer.data[begin : begin + length], full, LARGEST)
            return unpacked(payload_body(raw(), place, number, self._list.format))

        def raw() -> bytes:
            return buffer[at : at + size].tobytes()

        self._pass(size)
        yield from self._unpack(pieces, raw, place, number)

    def _long_payload(self, long: LongPayload) -> Iterator[Listed]:
        """The same of one that does not fit the window."""
        self.read_bytes += long.size - self._fill
        self._inner_fill = 0
        self._pass(self._fill)  # Nothing is left in the window.
        yield from self._unpack(long.pieces, long.raw, long.place, self._number - 1)
        yield from self._flush()
        self._base, self._at, self._fill = long.pass_by(), 0, 0

    def _unpack(
        self, pieces: Callable[[], Iterator[bytes]], raw: Callable[[], bytes], place: int, number: int
    ) -> Iterator[Listed]:
        """The events of ``pieces``, a payload's; ``raw`` are the bytes of its event."""
        try:
            inner = 0  # Bytes of the room that belong to this payload and are not yet listed.
            for piece in pieces():
                yield from self._make_room(inner, len(piece))
                to = self._inner_base + self._inner_fill
                self._list.buffer[to : to + len(piece)] = np.frombuffer(piece, np.uint8)
                self._inner_fill += len(piece)
                inner = yield from self._walk_inner(inner + len(piece), place, number)
            if inner:
                raise FormatError("cut off", phase="framing")
        except FormatError as error:
            yield from self._flush()
            raise payload_error(raw(), error, place, number, self._list.format) from None

    def _make_room(self, inner: int, size: int) -> Iterator[Listed]:
        """Room for a piece behind the ``inner`` bytes of an event that has begun; both stay together."""
        if self._inner_fill + size <= self._inner_size:
            return
        begin = self._inner_base + self._inner_fill - inner
        begun = self._list.buffer[begin : begin + inner].copy()
        self._inner_fill -= inner
        yield from self._flush()
        self._inner_fill = 0
        if inner + size > self._inner_size:
            # The event that has begun is all that is kept, and says what it takes.
            event = int.from_bytes(begun[SIZE_OFFSET : SIZE_OFFSET + 4].tobytes(), "little")
            if event > LARGEST_UNPACKED:
                raise too_large("an event inside the payload", event, phase="framing", offset=0)
            self._resize(window=self._window, inner=max(inner, event) + size)
        self._list.buffer[self._inner_base : self._inner_base + inner] = begun
        self._inner_fill = inner

    def _walk_inner(self, inner: int, place: int, number: int) -> Generator[Listed, None, int]:
        """List the whole events among the last ``inner`` bytes of the room: the bytes that are left."""
        while True:
            end = self._inner_base + self._inner_fill
            at, why = self._list.events.walk(
                self._list.buffer, end - inner, end, self.classes, tail=0, place=place, number=number, step=0
            )
            inner = end - at
            if why == FULL:
                begun = self._list.buffer[at:end].copy()
                self._inner_fill -= inner
                yield from self._flush()
                self._list.buffer[self._inner_base : self._inner_base + inner] = begun
                self._inner_fill = inner
            elif why == AT_SPECIAL:
                raw = self._raw(at)
                pass_inner(raw, place, number, self._list.format)
                inner -= len(raw)
            elif why == BAD_SIZE:
                raise FormatError("an impossible size", phase="framing")
            else:
                return inner
