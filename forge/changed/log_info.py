"""What a log is, on one page: server, times, GTIDs, transactions, tables, statements, settings, and breaks in numbers.

Events are looked at as the bulk reader lists them: thousands at a time by their headers.  Logs that it does not read
are listed by the reference path.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.opened import opened
from forge.binlog.reader import read_events
from forge.binlog.window import LogWindow
from forge.bulk.reading.counts import TableCounts, count_tables
from forge.bulk.reading.listed import Listed
from forge.changed.gtid_numbers import GtidNumbers, gtid_of
from forge.changed.looked_at import bytes_at, event_of, listed_of, raw_of
from forge.changed.session_facts import SessionFacts
from forge.changed.texts_of_log import ending, is_beginning, savepoint_of
from forge.decode.cells import kind_of
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.plain import name_text
from forge.events.query import QueryFields
from forge.events.registry import EVENT_NAMES
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

Numbers = npt.NDArray[Any]

_BY_NAME = {name: code for code, name in EVENT_NAMES.items()}
_QUERY, _XID, _PAYLOAD = _BY_NAME["QUERY"], _BY_NAME["XID"], _BY_NAME["TRANSACTION_PAYLOAD"]
_GTIDS = tuple(_BY_NAME[name] for name in ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID"))
#: What ends a transaction that nothing else has ended.
_OUTSIDE = tuple(
    _BY_NAME[name]
    for name in ("FORMAT_DESCRIPTION", "ROTATE", "STOP", "PREVIOUS_GTIDS", "GTID_LIST", "BINLOG_CHECKPOINT")
)
_TEXTS = tuple(_BY_NAME[name] for name in ("QUERY", "QUERY_COMPRESSED", "EXECUTE_LOAD_QUERY", "INCIDENT"))
_XA_PART = re.compile(r"\s*XA\s+(?:START|BEGIN|END|PREPARE)\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\s*(?:/\*.*?\*/\s*)*([A-Za-z]+)", re.DOTALL)
_OF_A_KIND = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE")
_KIND = re.compile(
    r"\b(?:TABLE|DATABASE|SCHEMA|INDEX|VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT|USER|ROLE|SEQUENCE|SERVER|TABLESPACE)\b",
    re.IGNORECASE,
)
_BEGIN = np.frombuffer(b"\0BEGIN", np.uint8)
#: Statements whose texts are kept, and events that are listed at a time by the reference path.
_KEPT, _LISTED = 1000, 4096
#: Upper ends of the classes of transactions' sizes.
SIZES = tuple(10**power for power in range(3, 10))


@dataclass(slots=True)
class FileInfo:
    """One file."""

    name: str
    bytes: int
    server: str = ""
    checksums: str = ""
    events: int = 0
    first: int | None = None
    last: int | None = None


@dataclass(slots=True)
class TransactionInfo:
    """A transaction: where it begins, its bytes, its seconds from the first event to the last, its GTID."""

    file: str
    offset: int
    bytes: int
    seconds: int
    gtid: str | None


@dataclass(slots=True)
class _Open:
    """The transaction whose end is not met yet."""

    offset: int
    raw: bytes
    first: int
    last: int


@dataclass(slots=True)
class LogInfo:
    """All files together."""

    files: list[FileInfo] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    transactions: int = 0
    transaction_bytes: int = 0
    #: How many transactions there are of each class of SIZES, and above.
    sizes: list[int] = field(default_factory=lambda: [0] * (len(SIZES) + 1))
    largest: TransactionInfo | None = None
    longest: TransactionInfo | None = None
    tables: dict[str, TableCounts] = field(default_factory=dict)
    #: How many statements are in the log as text, by their first words, and the first of them.
    statements: Counter[str] = field(default_factory=Counter)
    texts: list[dict[str, Any]] = field(default_factory=list)
    gtids: GtidNumbers = field(default_factory=GtidNumbers)
    session: SessionFacts = field(default_factory=SessionFacts)
    #: What is wrong with the bytes, where reading ended.
    problem: FormatError | None = None


def log_info(
    paths: list[Path], *, keyring: Keyring | None = None, progress: Callable[[int], None] = lambda _bytes: None
) -> LogInfo:
    """What the files tell; what is wrong with their bytes is the ``problem``.  Raises OSError, UnsupportedError."""
    info = LogInfo()
    done = 0
    for path in paths:
        _File(info, path, keyring).read(lambda read: progress(done + read))  # noqa: B023 (called at once)
        done += info.files[-1].bytes
        if info.problem is not None:
            break
    return info


class _File:
    """One file as it is read."""

    def __init__(self, info: LogInfo, path: Path, keyring: Keyring | None) -> None:
        self._info, self._path, self._keyring = info, path, keyring
        self._file = FileInfo(str(path), path.stat().st_size)
        self._open: _Open | None = None
        self._has_gtids = False
        self._in_block = False

    def read(self, progress: Callable[[int], None]) -> None:
        info = self._info
        info.files.append(self._file)
        info.gtids.begin_file(str(self._path))
        try:
            self._head()
            before = deepcopy((info, self._file))
            try:
                count_tables(self._path, keyring=self._keyring, progress=progress, counts=info.tables, watch=self.take)
            except UnsupportedError:
                # A log that the bulk reader does not take, which it may say in the middle of it.
                for name in LogInfo.__dataclass_fields__:
                    setattr(info, name, getattr(before[0], name))
                self._file, self._open = info.files[-1], None
                self._by_reference()
        except FormatError as error:
            info.problem = error if error.file is not None else error.in_file(str(self._path))
        self._close(self._file.bytes)

    def _head(self) -> None:
        """What the first event says of the server."""
        with self._path.open("rb") as file:
            first = next(read_events(LogWindow(opened(file, self._keyring))), None)
        body = None if first is None else first.event.body
        self._file.server = getattr(body, "server_version", "")
        algorithm = body.checksum_algorithm if isinstance(body, FormatDescription) else None
        self._file.checksums = "CRC32" if algorithm == 1 else "none"

    def take(self, listed: Listed) -> None:
        """The next events of the file."""
        events, buffer = listed.events, listed.buffer
        count = events.count
        types, begins, places = events.types[:count], events.begins[:count].astype(np.int64), events.places[:count]
        times = bytes_at(buffer, begins, 4).view("<u4").ravel().astype(np.int64)
        self._note_times(times)
        for code, number in enumerate(np.bincount(types, minlength=256).tolist()):
            if number:
                self._info.events[EVENT_NAMES.get(code, str(code))] += number
        self._file.events += count
        gtids = np.flatnonzero(np.isin(types, _GTIDS))
        self._has_gtids = self._has_gtids or len(gtids) > 0
        self._info.gtids.take(listed, gtids)
        begin_events = self._beginnings(listed, types, begins)
        self._info.session.take(listed, begin_events)
        starts = self._texts(listed, types, begin_events)
        if self._has_gtids:
            starts = gtids
        self._transactions(listed, starts, np.flatnonzero(np.isin(types, _OUTSIDE)), places, times)

    def _note_times(self, times: Numbers) -> None:
        known = times[times > 0]
        if len(known):
            first, last = int(known.min()), int(known.max())
            self._file.first = first if self._file.first is None else min(first, self._file.first)
            self._file.last = last if self._file.last is None else max(last, self._file.last)

    def _beginnings(self, listed: Listed, types: Numbers, begins: Numbers) -> Numbers:
        """The QUERY events that are BEGIN."""
        queries = np.flatnonzero(types == _QUERY)
        ends = begins[queries] + listed.events.sizes[queries] - listed.events.tails[queries]
        is_begin = (bytes_at(listed.buffer, ends - len(_BEGIN), len(_BEGIN)) == _BEGIN).all(axis=1)
        found: Numbers = queries[is_begin]
        return found

    def _texts(self, listed: Listed, types: Numbers, begin_events: Numbers) -> Numbers:
        """Note the other statements; the events that begin a transaction where no GTID does."""
        begins = set(begin_events.tolist())
        looked_at = np.isin(types, _TEXTS if self._has_gtids else (*_TEXTS, _XID))
        if self._has_gtids:
            looked_at[begin_events] = False
        starts, inside = list[int](), self._in_block
        for index in np.flatnonzero(looked_at).tolist():
            if index in begins:
                starts.append(index)
                inside = True
                continue
            text = "COMMIT" if types[index] == _XID else self._text(listed, index)
            if text is None or savepoint_of(text) or is_beginning(text) or _XA_PART.match(text):
                continue
            if ending(text) is not None:
                inside = False
                continue
            self._note_statement(listed, index, text)
            if not inside:
                starts.append(index)
        self._in_block = inside
        return np.array(starts, np.int64)

    def _text(self, listed: Listed, index: int) -> str | None:
        try:
            body = event_of(listed, index).body
        except FormatError:
            return None
        return body.text() if isinstance(body, QueryFields) else getattr(body, "message", "")

    def _note_statement(self, listed: Listed, index: int, text: str) -> None:
        info = self._info
        info.statements[_words_of(text)] += 1
        if len(info.texts) < _KEPT:
            event = event_of(listed, index)
            info.texts.append({
                "file": str(self._path), "offset": int(listed.events.places[index]), "timestamp": event.timestamp,
                "database": name_text(getattr(event.body, "database", "")), "text": text,
            })  # fmt: skip

    def _transactions(self, listed: Listed, starts: Numbers, outside: Numbers, places: Numbers, times: Numbers) -> None:
        markers = np.union1d(starts, outside).astype(np.int64)
        head = times[: markers[0]] if len(markers) else times
        if self._open is not None and len(head):
            self._open.first, self._open.last = (
                min(self._open.first, int(head.min())),
                max(self._open.last, int(head.max())),
            )
        if not len(markers):
            return
        self._close(int(places[markers[0]]))
        lows, highs = np.minimum.reduceat(times, markers), np.maximum.reduceat(times, markers)
        is_start = np.isin(markers, starts)
        whole = np.flatnonzero(is_start[:-1])
        if len(whole):
            sizes = places[markers[whole + 1]] - places[markers[whole]]
            self._count(listed, markers[whole], sizes, (highs - lows)[whole])
        if is_start[-1]:
            at = int(markers[-1])
            self._open = _Open(int(places[at]), raw_of(listed, at), int(lows[-1]), int(highs[-1]))

    def _count(self, listed: Listed, events: Numbers, sizes: Numbers, seconds: Numbers) -> None:
        info = self._info
        info.transactions += len(events)
        info.transaction_bytes += int(sizes.sum())
        for number, count in enumerate(np.bincount(np.searchsorted(SIZES, sizes), minlength=len(SIZES) + 1).tolist()):
            info.sizes[number] += count
        for values in (sizes, seconds):
            at = int(values.argmax())
            offset, raw = int(listed.events.places[events[at]]), raw_of(listed, int(events[at]))
            self._note_transaction(offset, raw, int(sizes[at]), int(seconds[at]), listed.format)

    def _close(self, place: int) -> None:
        """The open transaction ends before ``place``."""
        if self._open is None:
            return
        now, self._open = self._open, None
        info, size = self._info, place - now.offset
        info.transactions += 1
        info.transaction_bytes += size
        info.sizes[int(np.searchsorted(SIZES, size))] += 1
        self._note_transaction(now.offset, now.raw, size, now.last - now.first, FormatContext())

    def _note_transaction(self, offset: int, raw: bytes, size: int, seconds: int, format: FormatContext) -> None:
        info = self._info
        is_largest = info.largest is None or size > info.largest.bytes
        is_longest = info.longest is None or seconds > info.longest.seconds
        if is_largest or is_longest:
            found = TransactionInfo(str(self._path), offset, size, seconds, gtid_of(raw, format))
            info.largest = found if is_largest else info.largest
            info.longest = found if is_longest else info.longest

    def _by_reference(self) -> None:
        """The same for a log that the bulk reader does not take."""
        maps, waiting = TableMaps(), list[LoggedEvent]()
        with self._path.open("rb") as file:
            for logged in logged_events(LogWindow(opened(file, self._keyring))):
                waiting.append(logged)
                mapped = maps.note(logged)
                if mapped is not None:
                    self._info.tables.setdefault(full_name_of(mapped.body), TableCounts())
                self._count_rows(logged, maps)
                if len(waiting) == _LISTED:
                    self.take(listed_of(waiting))
                    waiting = []
        if waiting:
            self.take(listed_of(waiting))

    def _count_rows(self, logged: LoggedEvent, maps: TableMaps) -> None:
        body = logged.body
        mapped = maps.by_id.get(body.table_id) if isinstance(body, ROWS_BODIES) else None
        if mapped is None or not isinstance(body, ROWS_BODIES):
            return
        count = self._info.tables[full_name_of(mapped.body)].by_operation[kind_of(body)]
        count.events += 1
        count.bytes += len(logged.raw)
        try:
            count.rows += sum(1 for _ in maps.changes(logged))
        except UnsupportedError:
            return


def _words_of(text: str) -> str:
    """What a statement does: its first word, and of what it makes, changes or drops the kind."""
    found = _FIRST_WORD.match(text)
    word = "(other)" if found is None else found[1].upper()
    kind = _KIND.search(text[:200]) if word in _OF_A_KIND else None
    return word if kind is None else f"{word} {kind[0].upper()}"


def full_name_of(body: TableMap) -> str:
    """``database.table``."""
    return f"{name_text(body.database)}.{name_text(body.table)}"
