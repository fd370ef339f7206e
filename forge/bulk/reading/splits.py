"""Pieces of files that can be read by themselves: whole transactions, and what a reader must know to begin there."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from forge.binlog.mapped import refuse_unusual
from forge.binlog.reader import FIRST_TYPES, announced_size, check_magic, torn
from forge.bulk.machine import SLACK
from forge.bulk.reading.gtids import gtid_text
from forge.bulk.reading.transactions import (
    AT_SPECIAL,
    BAD_SIZE,
    LONG_ENOUGH,
    LOOKED_AT,
    NO_MORE,
    NOT_WHOLE,
    Walked,
)
from forge.errors import FormatError
from forge.events.event import Event, advance, decode_event_strictly
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.registry import event_name
from forge.events.start_encryption import StartEncryption

#: Bytes that a split has, unless a transaction is larger: 16 to a GiB.
TARGET = 64 << 20
#: Bytes of a file that are held at a time.
_WINDOW = 1 << 20
_LONGEST = 1 << 62


class GtidRange(NamedTuple):
    """The lowest and the highest number of GTIDs with one source: a UUID, or MariaDB's ``domain-server``."""

    source: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place between two transactions of a file, and what a reader must know to go on from there.

    ``position`` is its file offset and ``number`` that of the next event, from 0.  ``format`` are the bytes of the
    FORMAT_DESCRIPTION event in force, empty before it; ``gtid`` is the GTID of before, null for none.
    """

    position: int = 4
    number: int = 0
    format: bytes = b""
    gtid: str | None = None

    def context(self) -> FormatContext:
        """The framing in force.  Raises FormatError for bytes that are no FORMAT_DESCRIPTION."""
        empty = FormatContext()
        return advance(empty, decode_event_strictly(self.format, 4, empty)) if self.format else empty


@dataclass(frozen=True, slots=True)
class Split:
    """Whole transactions of the file ``path``: its bytes from ``mark.position`` to ``end``, ``events`` events.

    ``ordinal`` is the file's place among those that are read.  Filters need the rest: ``first_time`` and ``last_time``
    of the events' headers (seconds since 1970), the ``types`` of the events, and their GTIDs by source, None where
    those are not known (tags, or too many sources).  Events inside a TRANSACTION_PAYLOAD do not count.
    """

    path: str
    mark: Mark
    end: int
    events: int
    ordinal: int
    first_time: int
    last_time: int
    types: tuple[int, ...]
    gtids: tuple[GtidRange, ...] | None

    @property
    def begin(self) -> int:
        return self.mark.position


class PartOfFile(RawIOBase):
    """A file from where it is to an offset."""

    def __init__(self, file: RawIOBase, end: int) -> None:
        self._file = file
        self._left = end - file.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        got = self._file.readinto(memoryview(buffer)[: max(self._left, 0)]) or 0
        self._left -= got
        return got


def splits_of(
    path: str | os.PathLike[str],
    *,
    begin: int | Mark | None = None,
    stop: int | None = None,
    target: int = TARGET,
    whole: bool = True,
    ordinal: int = 0,
) -> list[Split]:
    """The file, cut at ends of transactions: a split has ``target`` bytes or a transaction more.

    ``begin`` and ``stop`` are file offsets, the beginning and the end of the file unless given.  From a Mark the walk
    goes on at once; up to a number it looks at all headers before.  ``whole``: a file that ends inside an event or a
    transaction is an error; else the splits end with the last whole transaction.

    Raises FormatError with the place for such a file, for one that is encrypted (also from an event on, if ``whole``),
    and for a ``begin`` between two events' ends; OSError.
    """
    with _Walk(Path(path), begin, stop) as walk:
        return list(walk.splits(target, whole=whole, ordinal=ordinal))


def last_transaction_end(
    path: str | os.PathLike[str],
    begin: int | Mark | None = None,
    *,
    most: int | None = None,
    stop: int | None = None,
) -> Mark:
    """The place behind the last whole transaction from ``begin`` on; ``begin`` itself if none has ended.

    With ``most``, that of the first transaction that ends so many bytes behind ``begin`` or more; with ``stop``, that
    of one that ends at this file offset or before.
    Raises FormatError and OSError as :func:`splits_of` does with ``whole=False``.
    """
    with _Walk(Path(path), begin, stop) as walk:
        for _ in walk.splits(_LONGEST if most is None else most, whole=False, ordinal=0):
            if most is not None:
                break
        return walk.mark


class _Walk:
    """A file that is walked over once.  ``mark`` is the end of the last split."""

    def __init__(self, path: Path, begin: int | Mark | None, stop: int | None) -> None:
        self.mark = begin if isinstance(begin, Mark) else Mark()
        self._path = path
        self._begin = begin if isinstance(begin, int) else self.mark.position
        self._format = self.mark.context()
        self._format_bytes = self.mark.format
        self._file: BinaryIO = path.open("rb", buffering=0)
        size = os.fstat(self._file.fileno()).st_size
        self._limit = size if stop is None else min(stop, size)
        self._buffer = np.zeros(_WINDOW + SLACK, np.uint8)
        self._walked = Walked()
        self._gtid: tuple[int, str | None] = (-1, self.mark.gtid)
        #: Where the window begins, how much of it is filled, and where the walk is in it.
        self._base, self._fill, self._at = self.mark.position, 0, 0

    def __enter__(self) -> _Walk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def splits(self, target: int, *, whole: bool, ordinal: int) -> Iterator[Split]:
        """Those from the beginning on; ``mark`` is behind the last one.  Raises FormatError."""
        try:
            check_magic(self._file.read(4))
            if self._begin != self.mark.position:
                self._go_to_begin()
            yield from self._pieces(target, whole=whole, ordinal=ordinal)
        except FormatError as error:
            raise error.in_file(str(self._path)) from None

    def _go_to_begin(self) -> None:
        limit, self._limit = self._limit, min(self._begin, self._limit)
        for _ in self._pieces(_LONGEST, whole=False, ordinal=0):
            pass
        self._limit = limit
        if self.mark.position != self._begin:
            raise FormatError(f"no transaction ends at offset {self._begin}", phase="framing", offset=self._begin)

    def _pieces(self, target: int, *, whole: bool, ordinal: int) -> Iterator[Split]:
        walked = self._walked
        walked.begin(self.mark.position, self.mark.number)
        while True:
            why, error = self._step(target)
            if why == LONG_ENOUGH:
                yield self._split(ordinal)
                walked.begin(self.mark.position, self.mark.number)
                continue
            if whole and error is not None:
                raise error
            if whole and not walked.between:
                raise FormatError(
                    "the file ends inside the transaction that begins here", phase="framing", offset=walked.end,
                    event_index=walked.end_number,
                )  # fmt: skip
            if walked.end > self.mark.position:
                yield self._split(ordinal)
            return

    def _step(self, target: int) -> tuple[int, FormatError | None]:
        """Walk until a piece is long enough, or there is no more: why, and what is wrong there."""
        walked = self._walked
        while True:
            place = self._base + self._at
            if not walked.number and self._fill - self._at > 4 and self._buffer[self._at + 4] not in FIRST_TYPES:
                name = event_name(int(self._buffer[self._at + 4]))
                rule = f"the first event is {name}; without FORMAT_DESCRIPTION no event can be read"
                raise FormatError(rule, phase="framing", event_index=0, offset=place)
            self._at, why = walked.walk(
                self._buffer, self._at, self._fill, self._base, self._limit, target, self._format
            )
            place = self._base + self._at
            if why == LONG_ENOUGH:
                return why, None
            if why == AT_SPECIAL:
                error = self._special(place)
                if error is not None:
                    return NO_MORE, error
                if walked.between and walked.end - self.mark.position >= target:
                    return LONG_ENOUGH, None
            elif why in (BAD_SIZE, NOT_WHOLE):
                return NO_MORE, self._torn(place, self._limit - place)
            elif not self._refill():
                left = self._limit - place
                return NO_MORE, self._torn(place, left) if left else None

    def _refill(self) -> bool:
        """The window from where the walk is; whether that is more than it had."""
        had = max(self._fill - self._at, 0)
        self._base += self._at
        self._at = 0
        self._file.seek(self._base)
        wanted = min(_WINDOW, max(self._limit - self._base, 0))
        self._fill = 0
        while self._fill < wanted:
            got = self._file.readinto(self._buffer.data[self._fill : wanted]) or 0  # type: ignore[attr-defined]
            if not got:
                break
            self._fill += got
        return self._fill > had

    def _torn(self, place: int, left: int) -> FormatError:
        header = self._buffer[self._at : min(self._at + HEADER_SIZE, self._fill)].tobytes()
        rule = torn(header, left)
        if len(header) == HEADER_SIZE and HEADER_SIZE <= announced_size(header) <= left:
            rule = "the event is too short for its checksum"
        return FormatError(rule, phase="framing", event_index=self._walked.number, offset=place)

    def _special(self, place: int) -> FormatError | None:
        """Take the event that changes how those behind it are read.  Raises FormatError if it is no such event."""
        number = self._walked.number
        raw, event = self._event(place, number)
        if isinstance(event.body, StartEncryption):
            rule = "the events behind this one are encrypted; decrypt the file first"
            return FormatError(rule, phase="framing", event_index=number, offset=place)
        self._gtid = self._gtid_at_end()
        self._format, self._format_bytes = advance(self._format, event), raw
        refuse_unusual(self._format)
        self._walked.special(event, len(raw), place)
        self._at += len(raw)
        return None

    def _event(self, place: int, number: int | None) -> tuple[bytes, Event]:
        self._file.seek(place)
        header = self._file.read(HEADER_SIZE)
        raw = header + self._file.read(announced_size(header) - HEADER_SIZE)
        try:
            return raw, decode_event_strictly(raw, place, self._format)
        except FormatError as error:
            raise error.within(base=place, event_index=number) from None

    def _gtid_at_end(self) -> tuple[int, str | None]:
        """(offset, text) of the last GTID event before the last end of a transaction."""
        place = self._walked.end_gtid
        return self._gtid if place in (-1, self._gtid[0]) else (place, gtid_text(self._event(place, None)[1]))

    def _split(self, ordinal: int) -> Split:
        walked, mark = self._walked, self.mark
        first, last = walked.times
        self._gtid = self._gtid_at_end()
        self.mark = Mark(walked.end, walked.end_number, self._format_bytes, self._gtid[1])
        return Split(
            path=str(self._path),
            mark=mark,
            end=self.mark.position,
            events=self.mark.number - mark.number,
            ordinal=ordinal,
            first_time=first,
            last_time=last,
            types=walked.types,
            gtids=_ranges(walked),
        )


def _ranges(walked: Walked) -> tuple[GtidRange, ...] | None:
    found = walked.gtids()
    if found is None:
        return None
    ranges = []
    for type_code, source, first, last in found:
        name = str(uuid.UUID(bytes=source))
        if type_code == MariadbGtid.type_code:
            domain, server = (int.from_bytes(source[at : at + 4], "little") for at in (0, 4))
            name = f"{domain}-{server}"
        ranges.append(GtidRange(name, first, last))
    return tuple(ranges)


assert LOOKED_AT < _WINDOW
