"""What the two vendors' printers have in common: header lines, BINLOG statements, rows held until a statement ends."""

from __future__ import annotations

import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, Protocol

from forge.binlog.mapped import mapped_columns
from forge.binlog.reader import FIRST, MAGIC, Beginning
from forge.binlog.window import LogWindow
from forge.decode.cells import MappedTable
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.events.event import IN_USE
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.plain import to_bytes
from forge.events.query import Query, QueryFields
from forge.events.rows import STMT_END, RowsBody
from forge.events.table_map import TableMap
from forge.vendors.column_forms import Flavour
from forge.vendors.hexdump import hexdump
from forge.vendors.print_options import NO_STOP, PrintOptions
from forge.vendors.quoting import base64_lines
from forge.vendors.session_lines import OF_TRANSACTIONS, OF_XA, SessionLines
from forge.vendors.shown_events import ShownEvent, ShownEvents

_CHARSETS = (b"CHARACTER_SET_CLIENT", b"CHARACTER_SET_RESULTS", b"COLLATION_CONNECTION")
#: What --safe chooses from.
_DELIMITERS = tuple(b"/*!%d*/;" % number for number in range(1, 1000))
#: Bytes of a statement's text that are held in memory.
_HELD = 1 << 20


class PrintError(ForgeError):
    """Where a vendor's program ends with an error: the message is its own."""

    exit_code = 1


class Held:
    """Text that is printed later: in memory, or in a file if it is long."""

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(_HELD)  # noqa: SIM115

    def __bool__(self) -> bool:
        return self.file.tell() > 0

    def add(self, text: bytes) -> None:
        self.file.write(text)

    def take(self) -> Iterator[bytes]:
        """All of it, which is then no more held."""
        self.file.seek(0)
        while piece := self.file.read(_HELD):
            yield piece
        self.file.seek(0)
        self.file.truncate()


class Substitute(Protocol):
    """What prints most events of a large file in place of the printer's methods, which say how."""

    def printed(self, events: ShownEvents) -> Iterator[bytes]:
        """Print events as far as it goes; those behind are next in ``events``."""

    def learned(self, event: ShownEvent, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """What the printer prints of an event, which it may learn from."""


class Printer(ABC):
    """One call of a program: its state runs on from file to file."""

    family: ClassVar[str]
    #: The events that the program reads in front of --start-position.
    before_start: ClassVar[tuple[type, ...]] = (FormatDescription,)
    #: Whether --start-position inside of an event that was read means the next one.
    passes_begun: ClassVar[bool] = False
    #: Whether the program prints its last lines behind an error.
    ends_after_errors: ClassVar[bool] = False

    def __init__(self, options: PrintOptions, flavour: Flavour, complain: Callable[[str], object]) -> None:
        self.options = options
        self.flavour: Flavour = flavour
        #: Takes a message of the program.
        self.complain = complain
        #: Whether a file could not be read to its end.
        self.failed = False
        self.session = SessionLines(flavour, short_form=options.short_form, without_thread=options.require_row_format)
        #: Whether a file is the first, or the last, of the call.
        self.first_file = self.last_file = True
        #: Whether what is wanted has ended.
        self.stopped = False
        #: The time of the last header, and its text.
        self.moment = (-1, b"")
        self.reached_time = False
        #: Whether the file says that a server is writing it.
        self.in_use = False
        #: Where the last event ended.
        self.end = 0
        #: Events that were met.
        self.met = 0
        self.tables: dict[int, MappedTable] = {}
        self.block, self.rows = Held(), Held()
        #: Whether rows are held of a statement that has not ended.
        self.unfinished = False
        #: What prints in its place, where anything does.
        self.substitute: Callable[[LogWindow], Substitute | None] = lambda window: None

    @abstractmethod
    def first_lines(self) -> bytes:
        """What stands in front of all files."""

    @abstractmethod
    def last_lines(self) -> bytes:
        """What stands behind all files."""

    @abstractmethod
    def bad_beginning(self, data: bytes) -> str:
        """What the program says of a file that does not begin as a log does; ``data`` are its first bytes."""

    @abstractmethod
    def unread(self, offset: int, raw: bytes, *, torn: bool) -> str:
        """What the program says of an event that it cannot read, of which the file has ``raw``."""

    def ends_at(self, offset: int, raw: bytes, *, torn: bool) -> None:
        """Say that an event cannot be read, of which the file has ``raw``.

        Raises PrintError unless the file is in use.
        """
        raise PrintError(self.unread(offset, raw, torn=torn))

    @abstractmethod
    def is_read(self, shown: ShownEvent) -> bool:
        """Whether the program knows the event's type, and its bytes fit it."""

    def not_found(self, name: str, error: OSError) -> str:
        """What the program says of a file that cannot be opened."""
        raise NotImplementedError

    def log(self, window: LogWindow) -> Iterator[bytes]:
        """What is printed of one file.  Raises PrintError."""
        window.reach(0, len(MAGIC))
        if window.data[: len(MAGIC)] != MAGIC:
            raise PrintError(self.bad_beginning(window.data[: len(MAGIC)]))
        beginning = FIRST
        if self.first_file and self.options.start_position > len(MAGIC):
            beginning = yield from self._begin_at(window, self.options.start_position)
        self.end = beginning.offset
        events = ShownEvents(window, beginning, plain=self.family == "mysql")
        substitute = self.substitute(window)
        while True:
            if substitute is not None:
                yield from substitute.printed(events)
                self.end = events.offset
            shown = next(events, None)
            if shown is None:
                break
            if isinstance(shown.body, FormatDescription):
                self.in_use = bool(shown.event.flags & IN_USE)
            if not self.is_read(shown):
                self.ends_at(shown.position, shown.raw, torn=False)
                return
            pieces = self.filtered(shown)
            yield from gathered(pieces if substitute is None else substitute.learned(shown, pieces))
            if self.stopped:
                return
            self.end = shown.position + len(shown.raw)
        if window.left(self.end) > 0:
            self.ends_at(self.end, window.data[self.end - window.start :], torn=True)

    def _begin_at(self, window: LogWindow, start: int) -> Generator[bytes, None, Beginning]:
        """Print the file's FORMAT_DESCRIPTION, and say how reading begins at ``start``."""
        description, format, position = None, FIRST.format, 0
        end = len(MAGIC)
        for shown in ShownEvents(window, FIRST, plain=self.family == "mysql"):
            if end >= start:
                break
            position, end = shown.position, shown.position + len(shown.raw)
            if not isinstance(shown.body, self.before_start):
                break
            if isinstance(shown.body, FormatDescription):
                description, format = shown, shown.body.context()
        begins = None if description is None else self.at_start(description, position)
        if begins is not None:
            yield from self.filtered(begins)
        return Beginning(max(start, end) if self.passes_begun else start, 1, format)

    @abstractmethod
    def at_start(self, description: ShownEvent, position: int) -> ShownEvent | None:
        """The FORMAT_DESCRIPTION as it is printed where printing begins behind it; None if it is not."""

    def filtered(self, shown: ShownEvent) -> Iterator[bytes]:
        """What is printed of an event, if it is wanted."""
        options = self.options
        everything = isinstance(shown.body, FormatDescription)
        timestamp = shown.event.timestamp
        if not everything and (self.met < options.offset or timestamp < options.start_datetime):
            self.met += 1
            return
        if not everything:
            options.start_datetime = options.offset = 0
        self.met += 1
        stop = options.stop_position if self.last_file else NO_STOP
        self.reached_time = self.reached_time or timestamp >= options.stop_datetime
        if self.reached_time or shown.position >= stop:
            self.stopped = True
            return
        yield from self.event(shown)

    @abstractmethod
    def event(self, shown: ShownEvent) -> Iterator[bytes]:
        """What is printed of an event.  Raises PrintError."""

    def end_calls(self) -> None:  # noqa: B027
        """Say what there is to say once all files are printed."""

    def end_file(self) -> Iterator[bytes]:
        """What is printed behind a file."""
        yield from ()

    def close(self) -> None:
        """Drop what is held."""
        self.block.file.close()
        self.rows.file.close()

    def fail(self, error: PrintError) -> None:
        """Say why a file is not read to its end."""
        if str(error):
            self.complain(str(error))
        self.failed = True

    def warn(self, text: str) -> None:
        """A warning, which changes nothing."""
        self.complain(f"WARNING: {text}")

    def at(self, shown: ShownEvent) -> bytes:
        return b"" if self.options.short_form else b"# at %d\n" % shown.position

    def header(self, shown: ShownEvent, rest: bytes = b"") -> bytes:
        """The header line of an event, up to the tab and what stands behind it."""
        return b"" if self.options.short_form else self.header_line(shown) + rest

    def header_line(self, shown: ShownEvent, position: int | None = None) -> bytes:
        """The line up to the tab; ``position`` is that of a later event in front of which it stands."""
        event = shown.event
        checksum = b"" if shown.checksum is None else b"CRC32 0x%08x " % shown.checksum
        start = b"#%s server id %d  end_log_pos %d %s"
        if self.moment[0] != event.timestamp:
            self.moment = (event.timestamp, moment(event.timestamp))
        line = start % (self.moment[1], event.server_id, shown.end, checksum)
        if self.options.hexdump:
            line += b"\n" + hexdump(shown.raw, shown.position if position is None else position, self.family)
        return line

    def statement(self, text: bytes) -> bytes:
        """A statement on a line."""
        return text + self.session.delimiter + b"\n"

    def log_and_charset_set(self) -> bytes:
        """What -D and --set-charset add to the first lines, around a line that is always there."""
        lines = b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n" * self.options.disable_log_bin
        lines += b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
        if self.options.set_charset is not None:
            lines += b"\n" + b"".join(b"/*!40101 SET @OLD_%s=@@%s */;\n" % (name, name) for name in _CHARSETS)
            lines += b"/*!40101 SET NAMES %s */;\n" % to_bytes(self.options.set_charset)
        return lines

    def log_and_charset_reset(self) -> bytes:
        """What takes that back."""
        lines = b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"
        lines += b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n" * self.options.disable_log_bin
        if self.options.set_charset is not None:
            lines += b"".join(b"/*!40101 SET %s=@OLD_%s */;\n" % (name, name) for name in _CHARSETS)
        return lines

    def rewritten(self, shown: ShownEvent) -> ShownEvent:
        """The event with the database that it is rewritten to."""
        body = shown.body
        if not isinstance(body, (TableMap, Query, ExecuteLoadQuery)) or body.database not in self.options.rewrite_db:
            return shown
        new = self.options.rewrite_db[body.database]
        return shown.with_body(replace(body, database=new, database_length=None))

    def guarded(self, text: bytes) -> bytes:
        """With --safe: the line that sets another delimiter, if the text of a statement holds the one in force."""
        if not self.options.safe or self.session.delimiter not in text:
            return b""
        self.session.delimiter = next(one for one in _DELIMITERS if one not in text)
        return b"DELIMITER " + self.session.delimiter + b"\n"

    def is_trivial(self, text: bytes) -> bool:
        """Whether the text of a statement only begins, ends or marks a transaction."""
        return text.startswith(OF_TRANSACTIONS + OF_XA)

    def settings(self, shown: ShownEvent, text: bytes) -> Iterator[bytes]:
        """The settings of the session in front of a statement."""
        body, event = shown.body, shown.event
        assert isinstance(body, QueryFields)
        database = to_bytes(body.database)
        for line in self.session.use(event.flags, database, trivial=self.is_trivial(text)):
            yield self.statement(line)
        for line in self.session.settings(event.timestamp, event.flags, body):
            yield self.statement(line)

    def add_to_block(self, shown: ShownEvent) -> None:
        """An event of the BINLOG statement that is printed when the statement ends."""
        if self.options.blocks:
            self.block.add(base64_lines(shown.raw))

    def held_rows(self) -> Iterator[bytes]:
        """The BINLOG statement and the rows of a statement that has ended."""
        self.unfinished = False
        self.tables.clear()
        if self.block:
            yield b"\nBINLOG '\n"
            yield from self.block.take()
            yield self.statement(b"'")
        yield from self.rows.take()

    def end_statement(self) -> Iterator[bytes]:
        """What stands behind the events of a statement."""
        return self.held_rows()

    def note_table(self, shown: ShownEvent, body: TableMap) -> MappedTable:
        """Remember the table that an event maps."""
        mapped = self.tables[body.table_id] = self.mapped_table(shown, body)
        return mapped

    def mapped_table(self, shown: ShownEvent, body: TableMap) -> MappedTable:
        """The table that an event maps."""
        columns, problem = None, None
        try:
            columns = mapped_columns(shown.placed, body)
        except (UnsupportedError, FormatError) as error:
            problem = str(error)
        placed = shown.placed
        return MappedTable(placed.index, placed.offset, body, columns, placed.format.mariadb, problem)

    def format_description(self, shown: ShownEvent, body: FormatDescription) -> Iterator[bytes]:
        """The line of a FORMAT_DESCRIPTION, and what it says of the file."""
        if self.options.short_form:
            return
        version = to_bytes(body.server_version).split(b"\0")[0]
        created = moment(body.created or shown.event.timestamp)
        startup = b" at startup" if body.created else b""
        line = b"\tStart: binlog v %d, server v %s created %s%s\n"
        yield self.header(shown, line % (body.binlog_version, version, created, startup))
        if shown.event.flags & IN_USE:
            yield b"# Warning: this binlog is either in use or was not closed properly.\n"

    def block_of(self, shown: ShownEvent) -> Iterable[bytes]:
        """The BINLOG statement of one event."""
        if self.options.blocks:
            yield b"BINLOG '\n" + base64_lines(shown.raw) + self.statement(b"'")


def moment(seconds: int) -> bytes:
    """A time as header lines have it, in the zone of the process."""
    at = time.localtime(seconds)
    clock = b"%2d:%02d:%02d" % (at.tm_hour, at.tm_min, at.tm_sec)
    return b"%02d%02d%02d " % (at.tm_year % 100, at.tm_mon, at.tm_mday) + clock


def gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same in fewer pieces.  What stands in front of an error is printed before it is raised."""
    held: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size > _HELD:
                yield b"".join(held)
                held, size = [], 0
    except PrintError:
        yield b"".join(held)
        raise
    yield b"".join(held)


def ends_statement(body: RowsBody) -> bool:
    return bool(body.row_flags & STMT_END)


def xa_id(gtrid: bytes, bqual: bytes, format_id: int) -> bytes:
    """The id of an XA transaction as its statements have it."""
    signed = format_id - (1 << 32) if format_id >= 1 << 31 else format_id
    return b"X'%s',X'%s',%d" % (gtrid.hex().encode(), bqual.hex().encode(), signed)
