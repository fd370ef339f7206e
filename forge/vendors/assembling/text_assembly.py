"""A vendor's text to the binary logs that it was printed of, and what of them it does not hold.

Each event is made in the forms that a server may have written, until the printed length and checksum say which it was.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

from forge.binlog.reader import MAGIC
from forge.errors import FormatError, ScenarioError
from forge.events.event import advance, decode_event, encode_event
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.mariadb_compressed import compressed_rows
from forge.events.rows import ROWS_BODIES
from forge.vendors.assembling.event_lines import XA_ID
from forge.vendors.assembling.event_making import OPEN, STATEMENTS, WITHOUT_BYTES, EventMaking, Made, fits
from forge.vendors.assembling.local_clock import LocalClock
from forge.vendors.assembling.payload_forms import made_payload
from forge.vendors.assembling.printed_events import PrintedEvent, PrintedLog, PrintedText
from forge.vendors.assembling.text_reader import read_vendor_text

_SILENT = "the text has its place alone"
_FILES = "the text does not hold the file of LOAD DATA"
#: Numbers of transactions that are tried.
_NEAR = 40
_REASONS = {"BEGIN_LOAD_QUERY": _FILES, "APPEND_BLOCK": _FILES}


@dataclass(frozen=True, slots=True)
class NotInText:
    """An event, or a place of the file, that the text does not hold; ``written`` if something stands in its place."""

    position: int | None
    size: int | None
    type: str | None
    line: int | None
    written: bool
    reason: str


@dataclass(frozen=True, slots=True)
class AssembledLog:
    """``events`` of the file were printed; all but those ``not_in_text`` have their bytes.

    Without ``by_checksum``, the log has none: that forms of events are right is said by their sizes alone.
    """

    data: bytes
    events: int
    by_checksum: bool
    not_in_text: tuple[NotInText, ...]


def assemble_text(data: bytes, *, file: str | None = None) -> list[AssembledLog]:
    """The files that a text was printed of.  Raises ScenarioError, with the line, for a text that cannot be read."""
    text = read_vendor_text(data, file=file)
    making, lines = EventMaking(text), _Lines(data)
    _learn_zone(text, making.clock)
    return [_LogAssembly(log, making, lines, file).assembled() for log in text.logs]


class _Lines:
    """The numbers of lines, by offset."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.number = data, 0, 1

    def of(self, at: int) -> int:
        if at < self.at:
            self.at, self.number = 0, 1
        self.number += self.data.count(b"\n", self.at, at)
        self.at = at
        return self.number


def _learn_zone(text: PrintedText, clock: LocalClock) -> None:
    """Statements and FORMAT_DESCRIPTION say the same time twice."""
    for log in text.logs:
        for event in log.events:
            timestamp = event.fields.get("said", {}).get("timestamp")
            if event.raw is not None:
                timestamp = int.from_bytes(event.raw[:4], "little")
            if event.head is not None and timestamp is not None:
                clock.learn(event.head, timestamp)
                return


class _LogAssembly:
    """One file."""

    def __init__(self, log: PrintedLog, making: EventMaking, lines: _Lines, file: str | None) -> None:
        self.log, self.making, self.lines, self.file = log, making, lines, file
        self.format = FormatContext()
        self.places = sorted(set(log.positions))
        self.silent = sorted(log.silent)
        self.listed: list[NotInText] = []

    def assembled(self) -> AssembledLog:
        events = self._in_order()
        _look_ahead(events)
        _note_xids(events)
        first = events[0]
        if first.kind != "FORMAT_DESCRIPTION":
            raise ScenarioError(
                "the text does not have the FORMAT_DESCRIPTION of the file", file=self.file,
                line=self.lines.of(first.at), expected="the text from the beginning of a file on",
            )  # fmt: skip
        parts, expected = [MAGIC], len(MAGIC)
        for event in events:
            position = expected if event is first else event.position
            if position is not None and position > expected:
                self._list_gap(expected, position)
            at = expected if position is None else position
            made = self._made(event, at)
            if position is None and made.raw is not None and not self.places:
                at = self._told(event, made.raw, expected)
            size = self._size(event) if made.raw is None or made.reason else len(made.raw)
            if made.reason is not None:
                self.listed.append(self._entry(event, at, size, made))
            if made.raw is not None:
                parts.append(made.raw)
            expected = at + (size or (len(made.raw) if made.raw is not None else 0))
        for place in self.silent[bisect_left(self.silent, expected) :]:
            self.listed.append(NotInText(place, None, None, None, False, _SILENT))
        checked = all(
            event.head is None or event.raw is not None or event.head.checksum is not None for event in events
        )
        return AssembledLog(b"".join(parts), len(events) + len(self.log.silent), checked, tuple(self.listed))

    def _told(self, event: PrintedEvent, raw: bytes, expected: int) -> int:
        """Where an event lies by its end, in a text without places; what was left out before it is listed."""
        at = expected if event.head is None else event.head.end - len(raw)
        if at > expected:
            self._list_gap(expected, at)
        return max(at, expected)

    def _in_order(self) -> list[PrintedEvent]:
        """The events as they lie in the file: some are printed later than their place says."""
        keyed, last = [], 0
        for number, event in enumerate(self.log.events):
            last = last if event.position is None else event.position
            keyed.append((last, number, event))
        return [event for _, _, event in sorted(keyed, key=lambda one: one[:2])]

    def _list_gap(self, start: int, end: int) -> None:
        """Bytes of the file of which the text has no more than the places of the events in them."""
        silent = self.silent[bisect_left(self.silent, start) : bisect_left(self.silent, end)]
        if start not in silent:
            stop = silent[0] if silent else end
            self.listed.append(NotInText(start, stop - start, None, None, False, "the text does not hold this part"))
        for place, following in pairwise([*silent, end]):
            self.listed.append(NotInText(place, following - place, None, None, False, _SILENT))

    def _entry(self, event: PrintedEvent, at: int, size: int | None, made: Made) -> NotInText:
        assert made.reason is not None
        return NotInText(at, size, event.kind, self.lines.of(event.at), made.raw is not None, made.reason)

    def _sizes(self, event: PrintedEvent) -> set[int]:
        """The sizes that the text says an event may have, by where it ends and where the next one begins."""
        position, head, found = event.position, event.head, set()
        if position is None or head is None:
            return set()
        end = (head.end - position) % (1 << 32)
        if head.end and HEADER_SIZE <= end < 1 << 31:
            found.add(end)
        following = bisect_right(self.places, position)
        if following < len(self.places):
            found.add(self.places[following] - position)
        return found

    def _size(self, event: PrintedEvent) -> int | None:
        sizes = self._sizes(event)
        return min(sizes) if sizes else None

    # One event.

    def _made(self, event: PrintedEvent, position: int) -> Made:
        try:
            made = self._of_raw(event, position) if event.raw is not None else self._of_forms(event, position)
        except FormatError as error:
            made = Made(None, f"its bytes cannot be read: {error.rule}")
        if made.raw is not None:
            decoded = decode_event(made.raw, position, self.format)
            self.making.found(event, decoded)
            self.format = advance(self.format, decoded)
        return made

    def _of_raw(self, event: PrintedEvent, position: int) -> Made:
        """The bytes that a BINLOG statement, or a dump, has."""
        assert event.raw is not None
        raw = event.raw
        if not event.fields.get("compressed") or event.kind != "ROWS" or event.head is None:
            return Made(raw)
        # mariadb-binlog unpacks them.
        decoded = decode_event(raw, position, self.format)
        if not isinstance(decoded.body, ROWS_BODIES):
            return Made(raw)
        packed = decoded.replace(
            body=compressed_rows(decoded.body), checksum=None, event_size=None, log_pos=event.head.end
        )
        again = encode_event(packed, position, self.format)
        if fits(again, event.head, self._sizes(event)):
            return Made(again)
        return Made(raw, "its rows were compressed otherwise: they are not compressed here")

    def _of_forms(self, event: PrintedEvent, position: int) -> Made:
        """The form that has the printed length and checksum, or the likely one."""
        head = event.head
        if event.kind in ("TABLE_MAP", "ROWS", "BLOCK") or head is None:
            return Made(None, WITHOUT_BYTES)
        if event.kind in _REASONS:
            return Made(None, _REASONS[event.kind])
        if event.kind == "TRANSACTION_PAYLOAD":
            return made_payload(self.making, event, position, self.format, self._sizes(event))
        sizes = self._sizes(event)
        if event.kind == "EXECUTE_LOAD_QUERY":
            likely = next(self.making.encoded(event, position, self.format, set()), None)
            return Made(likely, "the text does not say the name of the file that LOAD DATA read")
        for wanted in (sizes, set()) if head.checksum is not None and sizes else (sizes,):
            for raw in self.making.encoded(event, position, self.format, wanted):
                if fits(raw, head, wanted):
                    return Made(raw)
        likely = next(self.making.encoded(event, position, self.format, set()), None)
        return Made(likely, OPEN if likely is not None else f"of {event.kind} the text says too little")


def _look_ahead(events: list[PrintedEvent]) -> None:
    """What events say of those before: MariaDB's GTID has the thread of its statements, and their XA id;
    statements have the databases of others of their transaction.
    """
    thread, xa = None, None
    group: list[PrintedEvent] = []
    for event in reversed(events):
        if event.kind in ("MARIADB_GTID", "GTID"):
            event.fields |= {"following_thread": thread, "following_xa": xa}
            thread, xa = None, None
        if event.kind == "TABLE_MAP":
            event.fields["names"] = [event.fields.get("database", "")]
        if event.kind in STATEMENTS:
            thread = event.fields.get("thread_id")
            text = event.fields["text"]
            xa = XA_ID.search(text) if text.startswith((b"XA COMMIT", b"XA ROLLBACK")) else None
        group.append(event)
        if event.kind in ("MARIADB_GTID", "GTID") or event.fields.get("text") == b"BEGIN":
            _share_names(group[::-1])
            group = []
    _share_names(group[::-1])


def _note_xids(events: list[PrintedEvent]) -> None:
    """Programs from before servers number DDL do not print the number: it is one near those of transactions."""
    if any("xid" in event.fields for event in events if event.kind == "QUERY"):
        return
    last = 0
    for event in events:
        last = event.fields["xid"] if event.kind == "XID" else last
        if event.kind == "QUERY":
            event.fields["near_xids"] = range(last + 1, last + 1 + _NEAR)


def _share_names(group: list[PrintedEvent]) -> None:
    names = list(dict.fromkeys(name for event in group for name in event.fields.get("names", ())))
    for event in group:
        if event.kind in STATEMENTS:
            event.fields["names"] = list(dict.fromkeys([*event.fields["names"], *names]))
