"""A log that is read while its server writes it: places between transactions, and what lies between two places.

A place is a file's name and an offset, so it holds after a restart of the reader, and where the log has moved.  What
lies between two places never changes: a file that has a follower ends with ROTATE or STOP, or where its server crashed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from forge.binlog.folder import log_files, log_name
from forge.binlog.reader import announced_size, check_magic, frames
from forge.binlog.window import LogWindow
from forge.bulk.reading.known_gtids import KnownGtids, has_all, has_all_before
from forge.bulk.reading.splits import TARGET, Mark, Split, last_transaction_end, splits_of
from forge.errors import FormatError, ScenarioError
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import decode_event_strictly
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid_list import GtidList
from forge.events.previous_gtids import PreviousGtids
from forge.events.rotate import Rotate
from forge.events.start_encryption import StartEncryption
from forge.events.stop import Stop

#: Where the first event of a file begins.
BEGINNING: Final = 4
#: Bytes of events whose rows are counted at a time.
_COUNTED: Final = 4 << 20
#: Marks that are kept: the walk to a place in a large file takes a moment.
_MOST_MARKS: Final = 64
#: FORMAT_DESCRIPTION and the header behind it have fewer bytes; ROTATE too, whose name has 512 at most (FN_REFLEN).
_HEAD: Final = 1024
#: What a server writes when it creates a file.
_OF_HEAD: Final = frozenset(
    body.type_code for body in (FormatDescription, StartEncryption, PreviousGtids, GtidList, BinlogCheckpoint)
)

#: The file offsets of the events of a split that hold rows, one for each row.
RowPositions = Callable[[Split], npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two transactions: everything before it was read.

    ``file`` is a name without its folder, empty for the beginning of a log that has no file yet.  ``began`` is the time
    in the header of the file's first event (seconds since 1970), which tells it from a later file of the same name; 0
    where nothing of it was read.
    """

    file: str = ""
    position: int = BEGINNING
    began: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may lie between two places: parts of so many files, bytes of them, rows.  None is no limit.

    A transaction that is larger than a limit by itself is not cut.
    """

    files: int | None = None
    bytes: int | None = None
    rows: int | None = None


class _Part(NamedTuple):
    """A file from an offset to ``stop``, or its end; ``then`` is the place behind, None while the file may grow."""

    path: Path
    begin: int
    stop: int | None
    then: Place | None

    def size(self) -> int:
        return (self.path.stat().st_size if self.stop is None else self.stop) - self.begin


class FollowedLog:
    """The log at ``path``: a folder, an index file or a file, as forge.binlog.folder has it.

    Methods raise ScenarioError where files are gone or not whole, FormatError for bytes that break a rule of the
    format, and OSError.
    """

    def __init__(self, path: str | os.PathLike[str], row_positions: RowPositions) -> None:
        self._path = Path(path)
        self._row_positions = row_positions
        self._marks: dict[tuple[Path, int], Mark] = {}
        #: How large a file was when it was last looked at, and the end of its last transaction then.
        self._ends: dict[Path, tuple[int, Mark, Place]] = {}

    def earliest(self) -> Place:
        """The beginning of the oldest file."""
        files = self._from(Place())
        return Place(files[0].name) if files else Place()

    def latest(self) -> Place:
        """The end of the last transaction."""
        files = log_files(self._path)
        return self.after(Place(files[-1].name)) if files else Place()

    def at(self, file: str, position: int) -> Place:
        """That place.  Raises ScenarioError if there is no such file, FormatError unless a transaction ends there."""
        path = next((path for path in log_files(self._path) if path.name == file), None)
        if path is None:
            raise ScenarioError(f"{self._path} has no file {file!r}")
        return self._place(path, self._mark(path, position))

    def behind(self, known: KnownGtids) -> Place:
        """The beginning of the first transaction whose GTID is not in the set, or that has none.

        Raises ScenarioError if transactions before the oldest file are not in the set.
        """
        files = self._from(Place())
        if files and has_all_before(known, files[0]) is False:
            raise ScenarioError(f"transactions that are not in the GTID set are gone: {files[0]} is the oldest file")
        first = next((number for number in reversed(range(len(files))) if has_all_before(known, files[number])), 0)
        for path in files[first:]:
            for piece in splits_of(path, target=_COUNTED, whole=False):
                if has_all(known, piece):
                    continue
                for one in splits_of(path, begin=piece.mark, stop=piece.end, target=1):
                    if not has_all(known, one):
                        return self._place(path, one.mark)
        return self.latest()

    def after(self, start: Place, limits: Limits | None = None, until: Place | None = None) -> Place:
        """The last place that the limits allow, not behind ``until``; ``start`` while there is nothing new."""
        limits = limits or Limits()
        place, taken = start, 0
        for part in self._parts(start, until)[: limits.files]:
            size = part.size()
            # What may grow meanwhile is walked over up to the limit.
            if limits.bytes is None or (part.then is not None and taken + size <= limits.bytes):
                place = part.then or self._end_of(part.path, part.begin)
                taken += size
                continue
            begin = self._mark(part.path, part.begin)
            end = last_transaction_end(part.path, begin, stop=part.begin + limits.bytes - taken)
            reached = self._place(part.path, end)
            if place == start and reached in (start, Place(part.path.name)):
                first = self._first_end(part, begin)
                if first is None and part.then is not None:  # What is left of the file is no transaction.
                    place = part.then
                    continue
                reached = first or start
            place = reached
            break
        return place if limits.rows is None else self._with_rows(start, place, limits.rows)

    def _with_rows(self, start: Place, end: Place, rows: int) -> Place:
        """The last place up to ``end`` that has at most so many rows before it."""
        place = start
        for part in self._parts(start, end):
            mark = self._mark(part.path, part.begin)
            while (goal := last_transaction_end(part.path, mark, most=_COUNTED, stop=part.stop)) != mark:
                pieces = splits_of(part.path, begin=mark, stop=goal.position)
                positions = np.sort(np.concatenate([self._row_positions(piece) for piece in pieces]))
                if len(positions) > rows:
                    first_beyond = int(positions[rows])
                    reached = self._place(part.path, last_transaction_end(part.path, mark, stop=first_beyond))
                    return reached if reached != start else self._first_end(part, mark) or start
                rows -= len(positions)
                mark, place = goal, self._place(part.path, goal)
            place = part.then or place
        return end

    def _first_end(self, part: _Part, mark: Mark) -> Place | None:
        """The end of the first transaction behind a mark; None if there is none yet."""
        before = self._place(part.path, mark)
        while (end := last_transaction_end(part.path, mark, most=1, stop=part.stop)) != mark:
            if (place := self._place(part.path, end)) != before:
                return place
            mark = end
        return None

    def splits(self, start: Place, end: Place, target: int = TARGET) -> list[Split]:
        """What lies between two places, cut at ends of transactions."""
        found: list[Split] = []
        for ordinal, part in enumerate(self._parts(start, end)):
            pieces: list[Split] = []
            if part.stop is not None or _head(part.path):
                mark = self._mark(part.path, part.begin)
                pieces = splits_of(part.path, begin=mark, stop=part.stop, target=target, whole=False, ordinal=ordinal)
            reached = pieces[-1].end if pieces else part.begin
            if part.stop is None:
                self._require_whole(part, reached)
            elif reached != part.stop:
                raise ScenarioError(f"no transaction ends at offset {part.stop} of {part.path}")
            found += pieces
        return found

    def _require_whole(self, part: _Part, reached: int) -> None:
        """Raises ScenarioError for a file whose follower is there, but whose own end is not."""
        if _is_closed(part.path, reached):
            return
        follower = None if part.then is None else _head(part.path.with_name(part.then.file))
        # Only the first file after a start of the server says when that was: `created` is 0 behind a ROTATE
        # (recorded on MySQL 9.7, MariaDB 10.11 and 11.8).
        if follower is None or not follower.created:
            raise ScenarioError(
                f"{part.path} ends at offset {reached} without ROTATE or STOP, though another file follows",
                expected="a copy of the whole file",
            )

    def _parts(self, start: Place, until: Place | None) -> list[_Part]:
        files = self._from(start)
        parts: list[_Part] = []
        for number, path in enumerate(files):
            begin = start.position if path.name == start.file else BEGINNING
            if until is not None and path.name == until.file:
                if begin < until.position:
                    parts.append(_Part(path, begin, until.position, until))
                break
            follower = files[number + 1] if number + 1 < len(files) else None
            parts.append(_Part(path, begin, None, None if follower is None else Place(follower.name)))
        return parts

    def _from(self, start: Place) -> list[Path]:
        """The files from ``start`` on."""
        files = self._listed(start)
        # A file that moves while the folder is read may not be seen.
        files = files if _gap(files) is None else self._listed(start)
        gap = _gap(files)
        if gap is not None and self._path.is_dir():
            raise ScenarioError(
                f"{gap[0]} is followed by {gap[1].name}: a file between them is missing",
                expected="all files of the log, or an index file that says which it has",
            )
        if start.position > BEGINNING:
            head = _head(files[0])
            if head is None or (start.began and head.began != start.began):
                raise ScenarioError(
                    f"{files[0]} is another file than the one that was read up to offset {start.position}"
                )
            size = files[0].stat().st_size
            if size < start.position:
                raise ScenarioError(f"{files[0]} was read up to offset {start.position}, and has {size} bytes")
        # A server creates a file before it writes its head.
        return files if not files or _head(files[-1]) else files[:-1]

    def _listed(self, start: Place) -> list[Path]:
        files = log_files(self._path)
        for number, path in enumerate(files):
            if path.name == start.file:
                return files[number:]
        if not start.file:
            return files
        if start.position == BEGINNING:
            # Nothing of the file was read: it may not be there yet, or an index may go on with a higher number.
            name = log_name(start.file)
            later = [path for path in files if (other := log_name(path.name)) is None or name is None or other > name]
            if len(later) < len(files) and (not later or not self._path.is_dir()):
                return later
        oldest = f"the oldest file is {files[0].name}" if files else "there are no files"
        raise ScenarioError(
            f"{start.file} is gone from {self._path}, where position {start.position} of it comes next; {oldest}"
        )

    def _mark(self, path: Path, position: int) -> Mark:
        if position == BEGINNING:
            return Mark()
        if (path, position) not in self._marks:
            self._remember(path, last_transaction_end(path, position, stop=position))
        return self._marks[path, position]

    def _remember(self, path: Path, mark: Mark) -> None:
        self._marks[path, mark.position] = mark
        if len(self._marks) > _MOST_MARKS:
            del self._marks[next(iter(self._marks))]

    def _end_of(self, path: Path, begin: int) -> Place:
        """The end of the last transaction of a file that may grow, ``begin`` if none has ended since."""
        size = path.stat().st_size
        before, mark, place = self._ends.get(path, (0, Mark(), Place(path.name)))
        if size != before or mark.position < begin:
            mark = last_transaction_end(path, mark if mark.position >= begin else self._mark(path, begin))
            place = self._place(path, mark)
            self._ends = {path: (size, mark, place)}
        return place

    def _place(self, path: Path, mark: Mark) -> Place:
        """The place at a mark; behind the end of a closed file, the beginning of the one that follows.

        Before its first transaction a file may be made anew: a server that crashes before the file is in its index
        deletes it when it starts (seen of MySQL 9.7), so such a place is the beginning.
        """
        name = log_name(path.name)
        if name is not None and _is_closed(path, mark.position):
            return Place(str(name.following))
        if not _has_transactions(path, mark.position):
            return Place(path.name)
        self._remember(path, mark)
        head = _head(path)
        return Place(path.name, mark.position, 0 if head is None else head.began)


class _Head(NamedTuple):
    """Times of a file's FORMAT_DESCRIPTION: of its header, and when the server started, 0 for a later file."""

    began: int
    created: int


def _head(path: Path) -> _Head | None:
    """The head of a file; None if it is not written yet.  Raises FormatError for what is no log, or encrypted."""
    with path.open("rb") as file:
        data = file.read(_HEAD)
    if len(data) < BEGINNING:
        return None
    try:
        check_magic(data)
        found = list(frames(data))
        if not found:
            return None
        event = decode_event_strictly(found[0].raw, BEGINNING, FormatContext())
        if len(found) > 1 and found[1].type_code == StartEncryption.type_code:
            rule = "the events are encrypted; decrypt the file first"
            raise FormatError(rule, phase="framing", event_index=1, offset=found[1].offset)
    except FormatError as error:
        raise error.in_file(str(path)) from None
    return _Head(event.timestamp, getattr(event.body, "created", event.timestamp))


def _has_transactions(path: Path, position: int) -> bool:
    """Whether more than the head of a file stands before that offset."""
    with path.open("rb") as file:
        for frame in frames(LogWindow(file)):
            if frame.offset >= position:
                break
            if frame.type_code not in _OF_HEAD:
                return True
    return False


def _is_closed(path: Path, position: int) -> bool:
    """Whether the event that ends at that offset is the server's last of the file: STOP, or a ROTATE of its own.

    The ROTATE of another server in a relay log has another position or none in its header.
    """
    with path.open("rb") as file:
        begin = max(position - _HEAD, 0)
        file.seek(begin)
        data = file.read(position - begin)
    for at in range(len(data) - HEADER_SIZE, -1, -1):
        if data[at + 4] in (Stop.type_code, Rotate.type_code) and announced_size(data, at) == len(data) - at:
            log_pos = int.from_bytes(data[at + 13 : at + 17], "little")
            if log_pos == position & 0xFFFFFFFF:
                return True
    return False


def _gap(files: list[Path]) -> tuple[Path, Path] | None:
    """Two files one after the other whose numbers are not."""
    for path, other in pairwise(files):
        name = log_name(path.name)
        if name is None or str(name.following) != other.name:
            return path, other
    return None
