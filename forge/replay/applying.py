"""The applier: the events of a log, one after the other, onto a replica's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.mapped import ends_a_statement
from forge.binlog.window import LogSource
from forge.decode.cells import MappedTable, RowChange
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.events.load_statement import LoadStatement
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.query import QueryFields
from forge.events.registry import event_name
from forge.events.row_image import images_of
from forge.events.rows import ROWS_BODIES, PreGaRows, RowsBody
from forge.events.xid import Xid
from forge.replay.applier_settings import ApplierSettings
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable, Undo
from forge.replay.row_changes import RowChanges
from forge.replay.row_event import EventForm, ShortRow, event_form, local_image
from forge.replay.row_lookup import RowFinder
from forge.replay.stops import HANDLER_ERRORS, PASSED_OVER, AppliedError, StopError
from forge.replay.type_conversions import TypeConversions
from forge.replay.unreadable import Readability
from forge.values.json.diff import apply_diffs

_JSON_PREFIX = 4
_NO_DATABASE = 1049
#: ROWS events of a statement of its own text: the rows follow.
_VERBS = {"insert": "Write", "update": "Update", "delete": "Delete"}
#: Events that change rows, or what statements give, by their text.
_STATEMENT_EVENTS = frozenset((5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 20, 21, 22, 26))


@dataclass(slots=True)
class Group:
    """The transaction that is being applied."""

    undo: Undo = field(default_factory=list)
    savepoints: dict[str, int] = field(default_factory=dict)
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of an event: its number, its images by the replica's columns, what the event has of it."""

    number: int
    before: dict[int, bytes | None]
    change: RowChange


class ApplyLog:
    """Applies logs.  ``notes`` counts how rows were found and converted: (table, kind of event, rule)."""

    def __init__(self, replica: Replica, settings: ApplierSettings) -> None:
        self.replica, self.settings = replica, settings
        self.applier = replica.line.applier
        self.old_words = self.applier.old_words
        self.conversions = TypeConversions.of(settings.type_conversions, self.applier)
        self.notes: Counter[tuple[str, str, str]] = Counter()
        self._group = Group()
        self._forms: dict[tuple[object, ...], EventForm] = {}

    def apply(self, name: str, source: LogSource) -> AppliedError | None:
        """Apply a file; what stops the applier in it.

        Raises FormatError for bytes that are no log; UnsupportedError (with the place) for what is not known.
        """
        tables, readable = TableMaps(), Readability(self.replica.line)
        for logged in logged_events(source):
            place = f"{name}: event {logged.index} at {logged.offset}"
            try:
                readable.check(logged)
                mapped = tables.note(logged)
                if mapped is None:
                    self._event(logged, tables)
            except (_Stopped, StopError) as raised:
                stop = raised if isinstance(raised, _Stopped) else _Stopped(raised, (0, ""))
                self._roll_back()
                at = stop.at
                return AppliedError(
                    stop.error.code, self._text(stop, name, logged), stop.error.rule, name, logged.index,
                    logged.offset, at[0], at[1],
                )  # fmt: skip
            except FormatError:
                raise
            except UnsupportedError as error:
                raise UnsupportedError(f"{place}: {error}") from None
        return None

    def _event(self, logged: LoggedEvent, tables: TableMaps) -> None:
        body = logged.body
        if isinstance(body, ROWS_BODIES):
            self._rows(logged, body, tables)
        elif isinstance(body, Xid):
            self._commit()
        elif isinstance(body, MariadbGtid):
            self._group.is_open = True
        elif isinstance(body, (LoadStatement, PreGaRows)) or logged.event.type_code in _STATEMENT_EVENTS:
            raise UnsupportedError(
                f"{event_name(logged.event.type_code)} is of a log by statements, which is not replayed"
            )
        elif isinstance(body, QueryFields):
            self._query(body.text(), _text(getattr(body, "database", "")))
        elif event_name(logged.event.type_code).startswith("XA_PREPARE"):
            raise UnsupportedError("XA transactions are not replayed")

    def _query(self, text: str | bytes, database: str) -> None:
        if isinstance(text, bytes):
            raise UnsupportedError("a statement that is no text of its character set is not replayed")
        words = text.split(None, 3)
        verb = words[0].upper().rstrip(";") if words else ""
        if verb == "BEGIN":
            self._group.is_open = True
        elif verb == "COMMIT":
            self._commit()
        elif verb == "XA":
            raise UnsupportedError("XA transactions are not replayed")
        elif verb == "SAVEPOINT":
            self._group.savepoints[words[1]] = len(self._group.undo)
        elif verb == "ROLLBACK" and len(words) > 1:
            self._take_back(self._group.savepoints.get(words[-1].split()[-1], 0))
        elif verb == "ROLLBACK":
            self._roll_back()
        else:
            self._commit()
            self.replica.define(text, database)
            self._forms.clear()

    def _commit(self) -> None:
        self._group = Group()

    def _roll_back(self) -> None:
        self._take_back(0)
        self._group = Group()

    def _take_back(self, length: int) -> None:
        self.take_back(self._group.undo, length)

    @staticmethod
    def take_back(undo: Undo, length: int) -> None:
        """Take back the changes beyond the first ``length``."""
        while len(undo) > length:
            table, number, before = undo.pop()
            table.restore(number, before)

    def _rows(self, logged: LoggedEvent, body: RowsBody, tables: TableMaps) -> None:
        mapped = tables.by_id.get(body.table_id)
        if mapped is None:
            if ends_a_statement(body):
                return
            raise UnsupportedError("a row event without its table map")
        name = _text(mapped.body.database), _text(mapped.body.table)
        full = ".".join(name)
        try:
            form = self._form(mapped, body, name)
        except StopError as error:
            raise _Stopped(error, (0, full)) from None
        rule = form.lookup.rule if form.lookup is not None else "INSERT: by position"
        if form.is_empty and self.applier.passes_empty_updates:
            self.notes[full, form.kind, "R3: no new value has a column here: passed over"] += 1
            return
        changes = RowChanges(self.replica, form, self.applier, logged.event.timestamp, body.row_flags)
        rows = tables.changes(logged)
        undo = self._group.undo if form.table.transactional else None
        work = _EventWork(self, form, changes, undo, logged)
        if form.kind == "insert":
            work.insert(rows)
        elif form.lookup is not None and form.lookup.hashed:
            work.change_hashed(rows)
        else:
            work.change_one_by_one(rows)
        self.notes[full, form.kind, rule] += 1
        for conversion in form.conversions:
            if conversion is not None and conversion.order:
                self.notes[full, form.kind, conversion.rule] += 1

    def _form(self, mapped: MappedTable, body: RowsBody, name: tuple[str, str]) -> EventForm:
        key = (name, mapped.body.types, mapped.body.metadata, mapped.body.table_flags, type(body), *images_of(body))
        form = self._forms.get(key)
        if form is None:
            table = self._table(name)
            if table.table.engine in ("ARCHIVE", "FEDERATED") and not type(body).__name__.startswith("Write"):
                raise UnsupportedError(f"changes of a {table.table.engine} table are not measured")
            if self.settings.fires_triggers and self.replica.triggers_of((table.table.database, table.table.name)):
                raise UnsupportedError(f"what the triggers of {table.name} do on a replica is not measured")
            if mapped.columns is None:
                raise UnsupportedError(str(mapped.problem))
            form = self._forms[key] = event_form(mapped, body, table, self.conversions)
        return form

    def _table(self, name: tuple[str, str]) -> ReplicaTable:
        replica = self.replica
        kept = replica.session.catalog.kept_name(name[0]), replica.session.catalog.kept_name(name[1])
        shown = ".".join(kept)
        table = replica.tables.get(kept)
        if table is None and replica.is_view(kept):
            kind = "is not of type 'BASE TABLE'" if self.old_words else "is not BASE TABLE"
            raise StopError(1347, f"Error executing row event: ''{shown}' {kind}'", "a view is no table")
        if table is None and kept[0] not in replica.session.catalog.databases:
            code = self.applier.database_error
            missing = f"Unknown database '{kept[0]}'" if code == _NO_DATABASE else f"Table '{shown}' doesn't exist"
            raise StopError(code, f"Error executing row event: '{missing}'", "the database is missing")
        if table is None:
            text = f"Error executing row event: 'Table '{shown}' doesn't exist'"
            raise StopError(1146, text, "the table is missing")
        return table

    def _text(self, stop: _Stopped, name: str, logged: LoggedEvent) -> str:
        """The error's text as SHOW REPLICA STATUS has it, without the words about the worker."""
        error = stop.error
        if not error.handler:
            return error.text
        version = "_v1" if self.old_words else ""
        verb = _VERBS[stop.kind]
        position = logged.event.log_pos or 0
        source = "master" if self.old_words else "source"
        what = f"Could not execute {verb}_rows{version} event on table {stop.at[1]}; {error.text}"
        where = f"the event's {source} log {name}, end_log_pos {position}"
        return f"{what}, Error_code: {error.code}; handler error {HANDLER_ERRORS[error.handler]}; {where}"


class _Stopped(Exception):
    """The applier stops at a row (0: the event) of a table."""

    def __init__(self, error: StopError, at: tuple[int, str], kind: str = "insert") -> None:
        super().__init__(str(error))
        self.error, self.at, self.kind = error, at, kind


class _EventWork:
    """The rows of one event."""

    def __init__(
        self, log: ApplyLog, form: EventForm, changes: RowChanges, undo: Undo | None, logged: LoggedEvent
    ) -> None:
        self.log, self.form, self.changes, self.undo, self.logged = log, form, changes, undo, logged
        self.idempotent = log.settings.idempotent
        self.behind = len(logged.body.rows)  # type: ignore[attr-defined]
        assert form.lookup is not None or form.kind == "insert"
        self.finder = None if form.lookup is None else RowFinder(form.table, form.lookup, log.applier)

    def insert(self, rows: Iterable[RowChange]) -> None:
        """Store the rows."""
        for row in rows:
            self.guarded(row.row, lambda row=row: self._insert(row))  # type: ignore[misc]

    def _insert(self, row: RowChange) -> None:
        assert row.after is not None
        self._spend(row)
        image = local_image(self.form, row.after, self.behind)
        if self.form.table.table.engine != "BLACKHOLE":
            self.changes.insert(image, self.undo, idempotent=self.idempotent)

    def change_one_by_one(self, rows: Iterable[RowChange]) -> None:
        """Find and change each row in the event's order."""
        for row in rows:
            self.guarded(row.row, lambda row=row: self._change(row))  # type: ignore[misc]

    def _change(self, row: RowChange) -> None:
        found = self._found(self._before(row))
        if found is not None:
            self._apply(found, row)

    def _found(self, before: dict[int, bytes | None]) -> int | None:
        lookup, finder = self.form.lookup, self.finder
        assert lookup is not None
        assert finder is not None
        if lookup.by == "all":
            return None
        if lookup.by == "nothing":
            raise self._missing(lookup.rule, "end_of_file")
        looked_for = self.changes.before_record(before) if self.log.applier.looks_up == "row" else before
        number = finder.find(looked_for)
        if number is None:
            raise self._missing(lookup.rule, "not_found" if lookup.by == "key" else "end_of_file")
        return number

    def _before(self, row: RowChange) -> dict[int, bytes | None]:
        assert row.before is not None
        self._spend(row)
        return self.changes.full_image(local_image(self.form, row.before, self.behind))

    def _spend(self, row: RowChange) -> None:
        """Count off the bytes of a row."""
        for image in (row.before, row.after):
            if image is not None:
                self.behind -= (len(image) + 7) // 8 + sum(len(cell.raw or b"") for cell in image)

    def _missing(self, rule: str, handler: str) -> StopError:
        return StopError(1032, f"Can't find record in '{self.form.table.table.name}'", rule, handler)

    def change_hashed(self, rows: Iterable[RowChange]) -> None:
        """Find all rows of the event, and change them in the order of the table (Hash_slave_rows)."""
        lookup, finder = self.form.lookup, self.finder
        assert lookup is not None
        assert finder is not None
        waiting: dict[tuple[bytes | None, ...], list[_Row]] = {}
        images: dict[tuple[bytes | None, ...], dict[int, bytes | None]] = {}
        for row in rows:
            self.guarded(row.row, lambda row=row: self._wait(row, waiting, images))  # type: ignore[misc]
        meant: dict[int, list[_Row]] = {}
        for entry, image in images.items():
            meant.update(dict.fromkeys(finder.candidates(image), waiting[entry]))
        changed = 0
        missing = sum(map(len, waiting.values())) > len(meant)
        for number in self.form.table.ordered(meant):
            if meant[number]:
                one = meant[number].pop(0)
                changed += 1
                try:
                    self.guarded(one.number, lambda number=number, one=one: self._apply(number, one.change))  # type: ignore[misc]
                except _Stopped:
                    if lookup.by_key and missing:
                        raise UnsupportedError("which row stops a hash scan over a key first is not known") from None
                    raise
        left = [one for ones in waiting.values() for one in ones]
        if changed and left and self.form.kind == "update":
            self._refuse_chains(left)
        for one in left:
            self.guarded(one.number, self._raise_missing)

    def _raise_missing(self) -> None:
        assert self.form.lookup is not None
        raise self._missing(self.form.lookup.rule, "end_of_file")

    def _refuse_chains(self, left: list[_Row]) -> None:
        """Raises UnsupportedError if a row that was not found is there now: the scan may or may not meet it."""
        assert self.finder is not None
        if any(self.finder.candidates(one.before) for one in left):
            raise UnsupportedError("rows of an event that become each other, in a hash scan, are not measured")

    def _wait(
        self,
        row: RowChange,
        waiting: dict[tuple[bytes | None, ...], list[_Row]],
        images: dict[tuple[bytes | None, ...], dict[int, bytes | None]],
    ) -> None:
        assert self.form.lookup is not None
        before = self._before(row)
        entry = tuple(before[column] for column in self.form.lookup.columns)
        images[entry] = before
        waiting.setdefault(entry, []).append(_Row(row.row, before, row))

    def _apply(self, number: int, row: RowChange) -> None:
        if row.after is None:
            self.changes.delete(number, self.undo)
            return
        image = local_image(self.form, row.after, 0)
        for cell in row.after:
            place = self.form.places[cell.number - 1]
            if cell.partial and cell.raw is not None and place is not None:
                old = self.form.table.rows[number][place]
                try:
                    document = None if old is None else apply_diffs(old[_JSON_PREFIX:], cell.diffs())
                except FormatError:
                    document = None
                if document is None:
                    column = self.form.table.columns[place].name
                    text = f"Could not apply JSON diff in table {self.form.table.table.name}, column {column}."
                    raise StopError(3648, text, "partial JSON: the document has no such place", "none")
                image[place] = len(document).to_bytes(_JSON_PREFIX, "little") + document
        self.changes.update(number, image, self.undo)

    def guarded(self, number: int, step: Callable[[], None]) -> None:
        """Do a row's work.  Raises _Stopped where the server stops."""
        at = number, self.form.table.name
        mark = 0 if self.undo is None else len(self.undo)
        try:
            step()
        except StopError as error:
            if self.undo is not None:
                self.log.take_back(self.undo, mark)
            ends = self.form.lookup is not None and self.form.lookup.ends
            if ends or not (self.idempotent and error.code in PASSED_OVER):
                raise _Stopped(error, at, self.form.kind) from None
            self.log.notes[self.form.table.name, self.form.kind, f"R7: error {error.code} passed over"] += 1
        except ShortRow as short:
            code = self.log.applier.short_row_error
            words = {
                1105: "Unknown error",
                1030: 'Got error 171 "The event was corrupt, leading to illegal data being read" from storage engine'
                f" {self.form.table.table.engine}",
            }
            raise _Stopped(StopError(code, words[code], short.rule, "corrupt"), at, self.form.kind) from None
        except (FormatError, UnsupportedError):
            raise
        except ScenarioError as error:
            raise UnsupportedError(str(error)) from None


def _text(name: str | bytes) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
