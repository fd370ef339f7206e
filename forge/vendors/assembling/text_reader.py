"""What mysqlbinlog and mariadb-binlog printed, read back: which events, and what the text says of each."""

from __future__ import annotations

import re

from forge.binlog.reader import announced_size
from forge.events.event import SKIP_REPLICATION
from forge.events.format import HEADER_SIZE
from forge.events.plain import to_text
from forge.vendors.assembling.event_lines import EventLines
from forge.vendors.assembling.printed_events import Head, PrintedEvent, PrintedLog, PrintedText
from forge.vendors.assembling.said_settings import SaidSettings
from forge.vendors.assembling.text_scanner import Scanner

_HEAD = re.compile(
    rb"#(\d\d)(\d\d)(\d\d) ([ \d]\d):(\d\d):(\d\d) server id (\d+)  end_log_pos (\d+) (?:CRC32 0x([0-9a-f]{8}) )?"
)
_ANY_HEAD = re.compile(rb"^#\d{6} [ \d]\d:\d\d:\d\d server id ", re.MULTILINE)
#: The program that printed it, by its first lines.
_OF_MARIADB = re.compile(rb"SET @@session\.max_delayed_threads|, server v [^\n]*MariaDB", re.IGNORECASE)
_BEGINNING = 1 << 13
_DUMP_HEAD = re.compile(
    rb"\n# Position[^\n]*\n(?:#           \|Timestamp[^\n]*\n)?# +[0-9a-f]+  ?\|?([0-9a-f |]+)\n(?:#\n)?"
)
_DUMP_LINE = re.compile(rb"# +[0-9a-f]+ +((?:[0-9a-f]{2} +){1,16}) *\|[^\n]*\|\n")
_DUMP_END = re.compile(rb"(?:#\n)?# (?:Event: )?")
_BLOCK = re.compile(rb"(?:/\*!\d+ )?BINLOG '\n")
_SKIPPING = re.compile(rb"/\*!50521 SET skip_replication=(\d)\*/")
#: Lines that stand outside of events.
_OUTSIDE = (
    b"/*", b"DELIMITER ", b"ROLLBACK", b"COMMIT", b"BEGIN /*added", b"SET ", b"use `", b"START TRANSACTION", b"XA ",
    b"RELOAD DATABASE", b"WARNING: ", b"ERROR: ", b"mysqlbinlog", b"mariadb-binlog", b"'", b"#",
)  # fmt: skip
_GROUP_KINDS = frozenset(("TABLE_MAP", "ROWS", "ROWS_QUERY"))


def read_vendor_text(data: bytes, *, file: str | None = None) -> PrintedText:
    """What a text says.  Raises ScenarioError, with the line, for one that is cut or of another form."""
    reader = TextReader(data, file)
    reader.read()
    return reader.text


class TextReader:
    """One text."""

    def __init__(self, data: bytes, file: str | None) -> None:
        self.scanner = Scanner(data, file)
        self.text = PrintedText(mariadb=_OF_MARIADB.search(data, 0, _BEGINNING) is not None)
        self.settings = SaidSettings(self.text.mariadb)
        self.log = PrintedLog()
        #: Where events of the file lie that have no header yet.
        self.waiting: list[int] = []
        #: By the place of an event that of the next one.
        self.following: dict[int, int] = {}
        #: Events whose bytes come in a BINLOG statement.
        self.unfilled: list[PrintedEvent] = []
        self.payload: PrintedEvent | None = None
        #: Whether lines of any form may follow: names and rows are not quoted in all of them.
        self.loose = False
        self.flags = 0
        self.lines = EventLines(self.scanner, self.settings, self.text)

    def read(self) -> None:
        scanner = self.scanner
        if _ANY_HEAD.search(scanner.data) is None:
            raise scanner.error(
                "no event has a header here", at=0,
                expected="the text of mysqlbinlog or mariadb-binlog without --short-form",
            )  # fmt: skip
        while not scanner.ended:
            at = scanner.at
            if (position := scanner.position()) is not None:
                self._at(position)
                self.loose = False
            elif (head := scanner.take(_HEAD)) is not None:
                self.loose = False
                self._event(at, head)
            elif scanner.take(_BLOCK) is not None:
                self._fill(at, scanner.block())
            elif scanner.looking_at(b"DELIMITER "):
                words = scanner.line().split(b" ", 1)
                scanner.delimiter = words[1].strip() if words[1].strip() != b";" else scanner.delimiter
            else:
                self._outside(at)
        self._end_log()

    def _at(self, position: int) -> None:
        if position == 4 and (self.log.events or self.waiting) and self.log.positions[-1:] != [4]:
            self._end_log()
        positions = self.log.positions
        if positions and position != positions[-1]:
            self.following[positions[-1]] = position
        if self.payload is None or position != positions[-1]:
            positions.append(position)
        self.waiting.append(position)

    def _end_log(self) -> None:
        self.log.silent += self.waiting
        self.waiting.clear()
        self.unfilled.clear()
        self.payload = None
        if self.log.events:
            self.text.logs.append(self.log)
        self.log = PrintedLog()
        self.following.clear()

    def _outside(self, at: int) -> None:
        """A line that is of no event, or goes on with one whose lines say no more than its bytes."""
        line = self.scanner.line()
        if line.startswith(b"# End of compressed events"):
            self.payload = None
        elif (skips := _SKIPPING.match(line)) is not None:
            self.flags = SKIP_REPLICATION * (skips[1] == b"1")
        elif line.startswith(b"use `"):
            self.settings.take(line.removesuffix(self.scanner.delimiter))
        if not self.loose and line and not line.startswith((*_OUTSIDE, self.scanner.delimiter)):
            raise self.scanner.error(
                "no line of mysqlbinlog or mariadb-binlog begins like this", at=at,
                expected="`# at`, the header line of an event, a statement or a comment",
            )  # fmt: skip

    def _event(self, at: int, found: re.Match[bytes]) -> None:
        """An event, by its header line."""
        numbers = [int(part) for part in found.groups()[:8]]
        dumped = self._dump()
        checksum = None if found[9] is None else int(found[9], 16)
        head = Head((*numbers[:6],), numbers[6], numbers[7], checksum, dumped)  # type: ignore[arg-type]
        rest = self.scanner.line()
        event = PrintedEvent(at, "", head, None, flags=self.flags)
        if not self.lines.take(event, rest):
            raise self.scanner.error(f"an event of the kind {to_text(rest.strip()[:40])!r} is not known here", at=at)
        event.position = self._claimed(event.kind, head.end)
        self.loose = event.kind in _GROUP_KINDS
        if event.kind in _GROUP_KINDS:
            self.unfilled.append(event)
        event.raw = event.raw or dumped
        inside = self.payload
        if inside is not None and inside is not event and inside.inner is not None:
            inside.inner.append(event)
        else:
            self.log.events.append(event)
        if event.inner is not None:
            self.payload = event

    def _dump(self) -> bytes | None:
        """The bytes of the event, where -H shows them."""
        head = self.scanner.take(_DUMP_HEAD)
        if head is None:
            return None
        digits = [head[1].replace(b"|", b" ")]
        at = self.scanner.at
        while (line := self.scanner.take(_DUMP_LINE)) is not None:
            digits.append(line[1])
        self.scanner.take(_DUMP_END)
        try:
            raw = bytes.fromhex(b" ".join(digits).decode())
        except ValueError:
            raise self.scanner.error("the dump of this event is not hexadecimal", at=at) from None
        if len(raw) < HEADER_SIZE or announced_size(raw) != len(raw):
            raise self.scanner.error(f"the dump of this event has {len(raw)} bytes, and its header says another", at=at)
        return raw

    def _claimed(self, kind: str, end: int) -> int | None:
        """Where the event of a header lies: several ``# at`` may stand in front of it, of events whose headers come
        later, or not at all.
        """
        waiting = self.waiting
        if not waiting:
            return None
        index = len(waiting) - 1
        for place, position in enumerate(waiting):
            if self.following.get(position) == end:
                index = place
                break
        else:
            if self.text.mariadb and kind in ("ROWS", "ANNOTATE_ROWS"):
                index = 0
        position = waiting.pop(index)
        if self.text.mariadb or kind not in ("INTVAR", "RAND", "USER_VAR"):
            self._pass(position)
        return position

    def _pass(self, position: int) -> None:
        """What waits in front of an event whose bytes come in order has no header, but for variables."""
        if self.text.mariadb:
            passed = [place for place in self.waiting if place < position]
            self.log.silent += passed
            self.waiting = [place for place in self.waiting if place >= position]

    def _fill(self, at: int, blocks: list[bytes]) -> None:
        """The bytes of a BINLOG statement, given to the events that it is for."""
        waiting, self.unfilled = self.unfilled, []
        for raw in blocks:
            code = raw[4]
            while waiting and not _is_of(waiting[0].kind, code):
                waiting.pop(0)
            if waiting:
                waiting.pop(0).raw = raw
            else:
                self.log.events.append(PrintedEvent(at, "BLOCK", None, None, raw=raw))


def _is_of(kind: str, code: int) -> bool:
    if code == 19:
        return kind == "TABLE_MAP"
    if code == 29:
        return kind == "ROWS_QUERY"
    return kind == "ROWS"
