"""The rows of logs as SQL, in the order of the logs, or backwards: what takes them back.

What is no change of a row, and a change whose images do not tell enough, is *listed*: it stands in a comment where it
would have been, and is told to whoever asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from forge.binlog.logged import LoggedEvent
from forge.binlog.selection import Chooser
from forge.changed.binlog_blocks import beginning_of, binlog_statement
from forge.changed.chosen_events import GTIDS, Asked, RunningSql, as_chosen, mentions, xa_text
from forge.changed.conditions import LackingImage
from forge.changed.known_tables import KnownTables
from forge.changed.row_statements import SqlTable, sql_table
from forge.changed.spill import Spill
from forge.changed.texts_of_log import LoggedTexts, client_text, ending, is_beginning, savepoint_of
from forge.decode.cells import MappedTable, RowChange, surroundings_of
from forge.decode.table_maps import TableMaps
from forge.errors import ForgeError, UnsupportedError
from forge.events.event import advance
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.load_statement import LoadStatement
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.plain import name_text
from forge.events.query import QueryFields
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.table_map import TableMap
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.render.templates import visible

#: Settings by the flag of row events with which they are off.
_CHECKS = {"foreign_key_checks": 0x0002, "unique_checks": 0x0004}
_STANDALONE = 0x01
#: Types that change something, and are neither rows nor the text of a statement.
_OTHERS = ("INCIDENT", "EXEC_LOAD", "LOAD", "EXECUTE_LOAD_QUERY", "DELETE_FILE")
#: Rows that are written at a time.
_ROWS = 1000
_SHOWN = 160


class LogSql:
    """The SQL of some logs, one after the other.  ``say`` is told a line of everything that is listed."""

    def __init__(self, asked: Asked, tables: KnownTables, say: Callable[[str], None], spill: Spill | None) -> None:
        self.asked = asked
        #: Rows that are written, those that cannot be, and statements that are listed.
        self.written = self.unwritten = self.listed = 0
        self._tables = tables
        self._say = say
        self._spill = spill
        minutes = asked.rows.cells.offset
        self._zone = timezone(timedelta(minutes=minutes)) if minutes else UTC
        #: Of table ids the map, the table, and how many definitions had changed by then.
        self._known: dict[int, tuple[MappedTable, SqlTable, int]] = {}
        self._transaction = RunningSql()
        self._checks = dict.fromkeys(_CHECKS, False)
        self._texts = LoggedTexts(tables.line)
        #: XA transactions that were written up to XA PREPARE.
        self._xa_prepared: set[str] = set()
        self._file = ""
        #: The file's FORMAT_DESCRIPTION where BINLOG statements follow, and the framing behind it.
        self._beginning, self._format = "", FormatContext()
        self._choosers = Chooser(asked.events), Chooser(asked.events)
        self.maps = TableMaps()
        self._takes_texts = True  # The event is wanted but for the table, which texts have none of.

    @property
    def is_plain(self) -> bool:
        """Whether all rows are asked for as they are: such can be said in bulk."""
        rows = self.asked.rows
        return self.asked.where is None and rows.columns is None and rows.style == "update" and not rows.cells.offset

    @property
    def head(self) -> str:
        """What comes before all statements."""
        off = ", foreign_key_checks = 0" if self._spill is not None else ""
        return f"{self.asked.rows.cells.settings()[:-2]}{off};\n\n"

    def read(self, file: str, log: Iterable[LoggedEvent]) -> Iterator[str]:
        """The statements of a file; with a spill none: their inverse ones are noted there."""
        self.begin(file)
        for logged in log:
            yield from self.step(logged)
            if self.is_behind(logged):
                break

    def begin(self, file: str) -> None:
        """A file begins."""
        events = self.asked.events
        self._file = file
        self._choosers = Chooser(events), Chooser(replace(events, tables=()))

    def step(self, logged: LoggedEvent) -> Iterator[str]:
        """The next event of the file."""
        self.note(logged)
        if isinstance(logged.body, FormatDescription):
            self._format = advance(logged.placed.format, logged.event)
            if self.asked.rows.style == "binlog":
                self._beginning = beginning_of(logged.raw, self._tables.line)
        shown = as_chosen(logged, self.maps)
        wanted, self._takes_texts = (chooser.takes(shown) for chooser in self._choosers)
        yield from self._event(logged, wanted)

    def is_behind(self, logged: LoggedEvent) -> bool:
        """Whether no event from there on is wanted."""
        events = self.asked.events
        return events.stop is not None and logged.offset >= events.stop and not events.unmet()

    def note(self, logged: LoggedEvent) -> None:
        """A table map: its columns are read with what the table's definition says."""
        mapped = self.maps.note(logged)
        if mapped is None or mapped.columns is None:
            return
        number = mapped.body.table_id
        kept = self._known.get(number)
        if kept is None or kept[0].body is not mapped.body or kept[2] != self._tables.changes:
            table = sql_table(mapped, self._tables)
            kept = self._known[number] = (replace(mapped, columns=table.columns), table, self._tables.changes)
        self.maps.by_id[number] = replace(kept[0], index=mapped.index, offset=mapped.offset)

    def end(self) -> Iterator[str]:
        """What comes behind the last file."""
        if self._transaction.is_open:
            yield from self._close("ROLLBACK", "the log ends inside a transaction, which is not taken over")
        yield from self._texts.deferred()

    def _event(self, logged: LoggedEvent, wanted: bool) -> Iterator[str]:
        body, type_name = logged.body, logged.event.type_name
        if type_name in GTIDS:
            yield from self._begins(logged)
        elif isinstance(body, QueryFields) and type_name != "EXECUTE_LOAD_QUERY":
            yield from self._query(logged, body)
        elif isinstance(body, Xid):
            yield from self._close("COMMIT")
        elif isinstance(body, XaPrepare):
            yield from self._prepared(logged, body)
        elif isinstance(body, ROWS_BODIES):
            yield from self._rows(logged, body, wanted)
        elif type_name in _OTHERS or isinstance(body, LoadStatement):
            if self._concerns(logged, ""):
                yield self._list(logged, type_name, body.statement(surroundings_of(logged.placed)) or "")
        else:
            self._texts.note(body)

    # Transactions.

    def _begins(self, logged: LoggedEvent) -> Iterator[str]:
        body = logged.body
        if self._transaction.is_open:
            yield from self._close("COMMIT")
        fields = body.canonical(surroundings_of(logged.placed))
        gtid = fields.get("gtid")
        said = "" if gtid is None or logged.event.type_name == "ANONYMOUS_GTID" else f", GTID {gtid}"
        in_block = isinstance(body, MariadbGtid) and not body.flags2 & _STANDALONE
        self._transaction = RunningSql(self._place(logged) + said, in_block=in_block)
        if isinstance(body, MariadbGtid) and body.xid is not None and in_block:
            self._transaction.begin = f"XA START {xa_text(*body.xid)}"

    def _place(self, logged: LoggedEvent) -> str:
        moment = datetime.fromtimestamp(logged.event.timestamp, self._zone).strftime("%Y-%m-%d %H:%M:%S")
        return f"{visible(self._file)} at {logged.offset}, {moment}"

    def _open(self, logged: LoggedEvent) -> Iterator[str]:
        """Before the first statement of a transaction."""
        now = self._transaction
        if now.is_open:
            return
        now.is_open = True
        now.head = now.head or self._place(logged)
        if self._spill is None:
            yield from self._texts.restored(self.asked.rows.cells.settings())
            yield f"-- {now.head}\n{self._beginning}{now.begin};\n"
        else:
            now.marks = {"": self._spill.size}
            self._spill.add("COMMIT;\n\n")

    def _close(self, end: str, problem: str | None = None) -> Iterator[str]:
        now, self._transaction = self._transaction, RunningSql()
        if not now.is_open:
            return
        if problem is not None:
            self._tell(f"{now.head}: {problem}")
        if self._spill is None:
            yield "".join(f"SET SESSION {name} = 1;\n" for name in self._reset_checks())
            yield f"{end};\n\n" if problem is None else f"{end}; -- {problem}\n\n"
        elif end == "COMMIT":
            self._spill.add(f"-- {now.head}\n{self._beginning}START TRANSACTION;\n")
        else:
            self._spill.cut(now.marks[""])
            self._spill.add(f"-- not written: {now.head}: rolled back\n")

    def _prepared(self, logged: LoggedEvent, body: XaPrepare) -> Iterator[str]:
        text = xa_text(body.format_id, body.gtrid, body.bqual)
        if self._spill is None and not self.asked.events.tables and self._takes_texts and not self._transaction.is_open:
            # One that has changed nothing is committed, too.
            yield from self._open(logged)
            yield f"XA END {text};\n"
        if self._spill is not None or not self._transaction.is_open:
            yield from self._close("COMMIT")
        elif body.one_phase:
            yield from self._close(f"XA COMMIT {text} ONE PHASE")
        else:
            self._xa_prepared.add(text)
            yield from self._close(f"XA PREPARE {text}")

    # Statements that are in the log as text.

    def _query(self, logged: LoggedEvent, body: QueryFields) -> Iterator[str]:
        text = body.text()
        if is_beginning(text):
            self._transaction = RunningSql(self._transaction.head or self._place(logged), in_block=True)
            return
        end = ending(text)
        if end is not None and (self._transaction.in_block or self._transaction.is_open):
            yield from self._close(end, None if end == "COMMIT" else "rolled back; what stays is not known")
            return
        savepoint = savepoint_of(text)
        if savepoint is not None:
            yield from self._savepoint(*savepoint)
            return
        if self._texts.is_xa(text):
            yield from self._xa(logged, text)
            return
        self._tables.follow(client_text(body), name_text(getattr(body, "database", "")))
        if end is not None or not self._concerns(logged, text):
            self._texts.forget()
            return
        if not self.asked.statements or self._spill is not None:
            self._texts.forget()
            yield self._list(logged, "no change of rows", text)
            return
        if self._transaction.in_block:
            yield from self._open(logged)
        else:
            yield f"-- {self._transaction.head or self._place(logged)}\n"
        try:
            yield self._texts.written(logged, body)
        except ForgeError as error:
            yield self._list(logged, str(error), text)

    def _concerns(self, logged: LoggedEvent, text: str) -> bool:
        """Whether a statement has to do with the tables that are asked for."""
        names, database = self.asked.events.tables, name_text(getattr(logged.body, "database", ""))
        return self._takes_texts and (not names or any(mentions(name, text, database) for name in names))

    def _savepoint(self, verb: str, name: str) -> Iterator[str]:
        now = self._transaction
        if not now.is_open:
            now.begin += f";\nSAVEPOINT {name}" * (verb == "SAVEPOINT")
        elif self._spill is None:
            yield f"{verb} {name};\n"
        elif verb == "SAVEPOINT":
            now.marks[name] = self._spill.size
        elif verb.startswith("ROLLBACK"):
            self._spill.cut(now.marks.get(name, now.marks[""]))

    def _xa(self, logged: LoggedEvent, text: str) -> Iterator[str]:
        word = text.split()[1].upper()
        if word in ("START", "BEGIN"):
            self._transaction = RunningSql(self._transaction.head, begin=text.strip(), in_block=True)
        elif word == "END":
            if self._transaction.is_open and self._spill is None:
                yield f"{text.strip()};\n"
        elif text.strip().split(None, 2)[2] in self._xa_prepared:
            yield f"-- {self._transaction.head or self._place(logged)}\n{text.strip()};\n\n"
        elif word == "ROLLBACK":
            yield self._list(logged, "its transaction was prepared, and is taken back above", text)

    # Rows.

    def _rows(self, logged: LoggedEvent, body: RowsBody, wanted: bool) -> Iterator[str]:
        if not wanted:
            return
        statements: list[str] = []
        try:
            if self.asked.rows.style == "binlog":
                yield from self._write(logged, body, self._block(logged, body))
                return
            for change in self.maps.changes(logged):
                text = self._statement(logged, change)
                if text is not None:
                    statements.append(text)
                if len(statements) >= _ROWS:
                    yield from self._write(logged, body, statements)
                    statements = []
        except UnsupportedError as error:
            yield from self._write(logged, body, statements)
            yield self._unread(logged, error)
            return
        yield from self._write(logged, body, statements)

    def _block(self, logged: LoggedEvent, body: RowsBody) -> list[str]:
        if (mapped := self.maps.by_id.get(body.table_id)) is None:
            return []
        where, columns = self.asked.where, mapped.columns or ()
        holds = None if where is None else lambda change: where.holds(change, columns)
        back = self._spill is not None
        text, rows = binlog_statement(logged, mapped, self._format, flashback=back, holds=holds)
        self.written += rows
        return [f"{text};\n"] if text else []

    def _unread(self, logged: LoggedEvent, error: UnsupportedError) -> str:
        mapped = self.maps.by_id.get(getattr(logged.body, "table_id", -1))
        name = "" if mapped is None else mapped.full_name
        self.unwritten += 1
        return self._list(logged, f"the rows of {logged.event.type_name} {name}: {error}", "", counts=False)

    def _statement(self, logged: LoggedEvent, change: RowChange) -> str | None:
        table = self._known[change.mapped.body.table_id][1]
        try:
            if self.asked.where is not None and not self.asked.where.holds(change, table.columns):
                return None
        except LackingImage as error:
            return self._unwritten(logged, change, error)
        try:
            text = self.asked.rows.statement(table, change)
        except ForgeError as error:
            return self._unwritten(logged, change, error)
        self.written += text is not None
        if text is None or not table.errors(change):
            return None if text is None else f"{text};\n"
        # Strict modes refuse the value '' with the number 0 that an ENUM has for what is none of its members.
        mode = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'"
        return f"{mode};\n{text};\n{self.asked.rows.cells.settings()}"

    def _unwritten(self, logged: LoggedEvent, change: RowChange, error: ForgeError) -> str:
        self.unwritten += 1
        return self._listed(logged, f"row {change.row} of {change.kind} {change.mapped.full_name}: {error}", "")

    def table_of(self, mapped: TableMap) -> SqlTable | None:
        """The table of a map that was noted."""
        kept = self._known.get(mapped.table_id)
        return None if kept is None or kept[0].body != mapped else kept[1]

    def statements_of(self, logged: LoggedEvent) -> list[str]:
        """The statements of a row event whose table is noted, with what is listed of it in their place."""
        said: list[str] = []
        self.maps.size = max(self.maps.size, logged.offset + len(logged.raw))
        try:
            for change in self.maps.changes(logged):
                text = self._statement(logged, change)
                said += [] if text is None else [text]
        except UnsupportedError as error:
            said.append(self._unread(logged, error))
        return said

    def write(self, text: str, first: Callable[[], LoggedEvent]) -> Iterator[str]:
        """Statements that were made in bulk, in the order in which they are to stand; ``first`` is the first event."""
        if not self._transaction.is_open:
            yield from self._open(first())
        if self._spill is None:
            yield text
        else:
            self._spill.add(text)

    def _write(self, logged: LoggedEvent, body: RowsBody, statements: list[str]) -> Iterator[str]:
        if not statements:
            return
        yield from self._open(logged)
        if self._spill is not None:
            self._spill.add("".join(reversed(statements)))
            return
        yield from self._check_settings(body.row_flags)
        yield "".join(statements)

    def _check_settings(self, flags: int) -> Iterator[str]:
        for name, flag in _CHECKS.items():
            if self._checks[name] != bool(flags & flag):
                self._checks[name] = bool(flags & flag)
                yield f"SET SESSION {name} = {int(not self._checks[name])};\n"

    def _reset_checks(self) -> list[str]:
        names = [name for name, is_off in self._checks.items() if is_off]
        self._checks = dict.fromkeys(_CHECKS, False)
        return names

    # What is listed.

    def _list(self, logged: LoggedEvent, reason: str, text: str, *, counts: bool = True) -> str:
        self.listed += counts
        said = self._listed(logged, reason, text)
        if self._spill is None:
            return said
        self._spill.add(said)
        return ""

    def _listed(self, logged: LoggedEvent, reason: str, text: str) -> str:
        about = f"{self._place(logged)}: {' '.join(reason.split())}"
        self._tell(about + (f": {' '.join(text.split())}" if text else ""))
        return f"-- not written: {visible(about)}\n" + "".join(f"--   {visible(line)}\n" for line in text.splitlines())

    def _tell(self, line: str) -> None:
        self._say(visible(line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."))
