"""The applier: the events of a log, one after the other, onto a replica's tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.mapped import ends_a_statement
from forge.binlog.window import LogSource
from forge.decode.cells import MappedTable
from forge.decode.table_maps import TableMaps
from forge.errors import FormatError, UnsupportedError
from forge.events.load_statement import LoadStatement
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.query import QueryFields
from forge.events.registry import event_name
from forge.events.row_image import images_of
from forge.events.rows import ROWS_BODIES, PreGaRows, RowsBody
from forge.events.xid import Xid
from forge.replay.applier_settings import ApplierSettings
from forge.replay.event_work import EventWork, Stopped, take_back
from forge.replay.plain_rows import PlainRows, plain_rows
from forge.replay.referring_rows import ForeignKeys
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable, Undo
from forge.replay.row_changes import NO_FOREIGN_KEY_CHECKS, RowChanges
from forge.replay.row_event import EventForm, event_form
from forge.replay.stops import HANDLER_ERRORS, AppliedError, StopError
from forge.replay.type_conversions import TypeConversions
from forge.replay.unreadable import Readability

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


class ApplyLog:
    """Applies logs.  ``notes`` counts how rows were found and converted: (table, kind of event, rule)."""

    def __init__(self, replica: Replica, settings: ApplierSettings, *, rows_only: bool = False) -> None:
        self.rows_only = rows_only
        #: Statements that ``rows_only`` left out.
        self.left_out: list[str] = []
        self.replica, self.settings = replica, settings
        self.applier = replica.line.applier
        self.old_words = self.applier.old_words
        self.conversions = TypeConversions.of(settings.type_conversions, self.applier)
        self.notes: Counter[tuple[str, str, str]] = Counter()
        self._group = Group()
        self._forms: dict[tuple[object, ...], EventForm] = {}
        self._plain: dict[tuple[int, bool], PlainRows | None] = {}

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
            except (Stopped, StopError) as raised:
                stop = raised if isinstance(raised, Stopped) else Stopped(raised, (0, ""))
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
            self._query(logged, body.text(), body.database)
        elif event_name(logged.event.type_code).startswith("XA_PREPARE"):
            raise UnsupportedError("XA transactions are not replayed")

    def _query(self, logged: LoggedEvent, text: str, database: str) -> None:
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
            if not self.replica.define(text, database, rows_only=self.rows_only):
                self.left_out.append(f"event {logged.index} at {logged.offset}: {' '.join(text.split())[:80]}")
            self._forms.clear()
            self._plain.clear()

    def _commit(self) -> None:
        self._group = Group()

    def _roll_back(self) -> None:
        self._take_back(0)
        self._group = Group()

    def _take_back(self, length: int) -> None:
        take_back(self._group.undo, length)

    def _rows(self, logged: LoggedEvent, body: RowsBody, tables: TableMaps) -> None:
        mapped = tables.by_id.get(body.table_id)
        if mapped is None:
            if ends_a_statement(body):
                return
            raise UnsupportedError("a row event without its table map")
        name = mapped.body.database, mapped.body.table
        full = ".".join(name)
        try:
            form = self._form(mapped, body, name)
        except StopError as error:
            raise Stopped(error, (0, full)) from None
        rule = form.lookup.rule if form.lookup is not None else "INSERT: by position"
        if form.is_empty and self.applier.passes_empty_updates:
            self.notes[full, form.kind, "R3: no new value has a column here: passed over"] += 1
            return
        undo = self._group.undo if form.table.transactional else None
        plain = self._plain_rows(form, mapped, body)
        if plain is not None and plain.apply(body, undo):
            self._note(full, form, rule)
            return
        changes = RowChanges(self.replica, form, self.applier, logged.event.timestamp, body.row_flags)
        rows = tables.changes(logged)
        work = EventWork(
            self.applier, form, changes, undo, len(body.rows), idempotent=self.settings.idempotent, notes=self.notes
        )
        if form.kind == "insert":
            work.insert(rows)
        elif form.lookup is not None and form.lookup.hashed:
            work.change_hashed(rows)
        else:
            work.change_one_by_one(rows)
        self._note(full, form, rule)

    def _plain_rows(self, form: EventForm, mapped: MappedTable, body: RowsBody) -> PlainRows | None:
        key = id(form), bool(body.row_flags & NO_FOREIGN_KEY_CHECKS)
        if key not in self._plain:
            table = form.table
            keys = ForeignKeys(self.replica, table, checked=not key[1])
            checks = bool(table.state.checks or table.state.definition.checks) and self.applier.checks_constraints
            checked = self.settings.idempotent or checks or keys.looks_at_rows
            self._plain[key] = plain_rows(form, mapped.columns or (), body, checked=checked)
        return self._plain[key]

    def _note(self, full: str, form: EventForm, rule: str) -> None:
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

    def _text(self, stop: Stopped, name: str, logged: LoggedEvent) -> str:
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
