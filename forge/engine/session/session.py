"""A client's session on a server: it runs requests, and keeps what the plan tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import msgspec

from forge.binlog.listing.fields import ListingState
from forge.charsets import collation
from forge.engine.ddl.temporary_tables import changes_no_base
from forge.engine.dml.statements import execute
from forge.engine.requests.cells import CellGenerator
from forge.engine.requests.places import RequestPlace
from forge.engine.requests.settings import OUTSIDE_TRANSACTIONS, SessionChange
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction, XaName
from forge.engine.rows.context import DmlContext
from forge.engine.rows.foreign_keys import References
from forge.engine.session.client_ends import ClientEnds
from forge.engine.session.clients import OpenTransaction, check_waits
from forge.engine.session.definitions import apply_definition, defined
from forge.engine.session.logged import logged_statement
from forge.engine.session.memory_tables import open_for_rows
from forge.engine.session.mode_texts import check_assignments, check_definition, check_sent, in_client_charset
from forge.engine.session.placed_events import own_event
from forge.engine.session.prepared import Prepared, xa_id
from forge.engine.session.settings import wrong_settings
from forge.engine.session.transactions import RunningTransaction, check_transaction, savepoint_step
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.circumstances import Turn
from forge.plan.collations import names_collation
from forge.plan.definitions import DdlStatement
from forge.plan.gtids import given_gtid
from forge.plan.requirements import session_features
from forge.plan.session import Session as Settings
from forge.sql.parse.statements import Ddl, parse_ddl
from forge.sql.reads.features import require_statement
from forge.sql.version_comments import as_logged, as_read

#: Statements that are a transaction of their own.
_ALONE = ("ddl", "logged", "flush", "restart")
#: Where a statement is logged: the group, counted from the first that is not logged yet, and its place in it.
LogPlace = tuple[int, int]


class Session(ClientEnds):
    """Requests run one after the other against ``state``; ``journal`` has what came of them.

    All raise ScenarioError (of the request's place) for what a server would refuse, UnsupportedError for what is not
    made yet.
    """

    def __init__(self, settings: Settings, server: str, generate: CellGenerator) -> None:
        super().__init__(settings, server)
        self.generate = generate
        #: The TABLE_MAP events that the scenario places.
        self.listed = ListingState()

    def define(self, statement: Ddl, text: str, line: int | None) -> None:
        """Run a data definition statement that stands by itself."""
        check_definition(text, self.mode)
        check_sent(self, lambda: text)
        apply_definition(self, statement, text, line)

    def run(self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]) -> None:
        """Run a transaction, or a statement that is one; ``statements`` are the places of its statements."""
        with place.at():
            check_transaction(transaction)
        with place.at("connection"):
            self.clients.switch(self, transaction.connection)
        if transaction.database is not None:
            with place.at("database"):
                self.state.database = self.state.catalog.check_database(transaction.database)
                # USE sets that, too.
                self.change(msgspec.structs.replace(self.settings, collation_database=None))
        if transaction.gtid is not None:
            with place.at("gtid"):
                self._give(transaction)
                logged = self.journal.logged
        self._run_transaction(transaction, place, statements)
        if transaction.gtid is not None:
            self.gtid = None
            if self.journal.logged != logged + 1:
                with place.at("gtid"):
                    raise UnsupportedError(
                        "a transaction with a GTID of its own that is logged as"
                        f" {self.journal.logged - logged} groups is not supported yet",
                        expected="one that changes rows of one kind of tables",
                    )

    def _give(self, transaction: Transaction) -> None:
        """The client sets the GTID of the transaction.  Raises ScenarioError where it cannot."""
        if not (self.line.groups.always_gtids or self.settings.gtid):
            raise ScenarioError("the session has no GTIDs", expected="session.gtid: true")
        two_groups = transaction.xa is not None and not transaction.xa.one_phase and transaction.xa.end != "prepared"
        if two_groups and self.line.knows("xa_prepare"):
            raise ScenarioError("XA PREPARE and the second phase need a GTID each", expected="xa with `end: prepared`")
        if transaction.end == "open" or self.clients.current.open is not None:
            raise UnsupportedError("a GTID for a transaction that stays open is not supported yet")
        self.gtid = given_gtid(str(transaction.gtid), self.line)

    def _run_transaction(
        self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]
    ) -> None:
        if transaction.xa_commit is not None:
            self._end_named(transaction.xa_commit, "commit", place)
        elif transaction.xa_rollback is not None:
            self._end_named(transaction.xa_rollback, "rollback", place)
        elif all(statement.event is not None for statement in transaction.statements):
            self._place_events(transaction, place, statements)
        else:
            self._run(transaction, place, statements)

    def _run(self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]) -> None:
        in_block = transaction.in_block or self.clients.current.open is not None
        alone = None if in_block or len(statements) > 1 else transaction.statements[0]
        if alone is not None and alone.restart is not None:
            with place.at():
                self.restart(alone.restart)
            return
        with place.at():
            self.leave_prepared()
        if alone is None or not self._run_alone(alone, statements[0]):
            self._run_steps(transaction, place, statements)

    def _run_alone(self, statement: Statement, place: RequestPlace) -> bool:
        """Run a statement that is a transaction of its own, whatever it says; whether it is one."""
        if statement.flush is not None:
            self.journal.end_file("flush")
        elif statement.ddl is not None:
            text = statement.ddl
            with place.sql(text, "ddl"):
                parsed = self._read_ddl(text)
                check_definition(text, self.mode)
                apply_definition(self, parsed, text, place.inside("ddl").line)
        elif statement.logged is not None:
            with place.at("logged"):
                second, current = self.time().second, self.state.database
                logged = logged_statement(statement.logged, current, second, self.settings, self.line)
                self.record(replace(logged, line=place.inside("logged").line))
        elif statement.set is not None:
            self._set(statement.set, place)
        else:
            return False
        return True

    def _set(self, change: SessionChange, place: RequestPlace) -> None:
        """The session gets other settings."""
        with place.at("set"):
            settings = change.applied(self.settings, self.line)
        for setting, feature in session_features(settings, self.line):
            if setting in change.values:
                with place.at("set", setting):
                    self.line.require(feature)
        for path, error in wrong_settings(settings, self.line):
            with place.at("set", *path[1:]):
                raise error
        own = self.state.catalog.databases.get(self.state.database)
        named = settings.collation_database
        if named is not None and collation(named, self.line.name).id == own:
            settings = msgspec.structs.replace(settings, collation_database=None)
        if "default_collation_for_utf8mb4" in change.values and "names" not in change.values:
            # What SET NAMES chose stays.
            chosen = names_collation(self.settings, self.line)
            settings = msgspec.structs.replace(settings, names=None if chosen is None else chosen.name)
        self.change(settings)

    def _run_steps(self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]) -> None:
        """Statements that change rows, and what may stand among them."""
        with place.at():
            open_for_rows(self, transaction)
        client = self.clients.current
        opened, begun, first = client.open, self.settings, 0
        if opened is None:
            with place.at("xa"):
                running = self._begun(transaction)
        else:
            running, begun = opened.running, opened.begun
            opened.unlock()
            first = running.go_on(transaction)
        log_places = None
        if running.is_intricate and running.takes_time:
            log_places = self._log_places(transaction, statements)
        sent = len(running.steps)
        for index, statement_place in enumerate(statements, first):
            where = (0, len(running.caches.steps)) if log_places is None else log_places.get(index, (0, 0))
            self._step(running, index, where, statement_place)
        if transaction.end == "open":
            with place.at():
                self._leave_open(opened or OpenTransaction(running, begun), sent)
            return
        client.open = None
        group = running.finish()
        if group is None:
            return
        waits = group.end == "prepare" and not self.line.knows("xa_prepare")
        if not waits:
            self.record(group, begun, None if opened is None else running.logged_before)
        if opened is not None:
            self._enter_turns(opened, sent)
        if transaction.xa is not None and group.end == "prepare" and group.xa is not None:
            with place.at("xa"):
                prepared = Prepared(running.log, running.caches, (group, begun) if waits else None)
                self.state.prepared.add(group.xa, prepared, detaches=self.line.groups.detaches_xa)
            if transaction.xa.end != "prepared":
                self.end_xa(group.xa, transaction.xa.end)

    def _leave_open(self, opened: OpenTransaction, sent: int) -> None:
        """The transaction waits while other clients go on.  Raises UnsupportedError where the time would matter."""
        running, client = opened.running, self.clients.current
        if running.takes_time and self.settings.timestamp is None:
            raise UnsupportedError(
                "an open transaction that stores the time is not supported yet", expected="session.timestamp"
            )
        if running.is_intricate:
            raise UnsupportedError("an open transaction with rollbacks to savepoints, or with tables of other engines")
        running.leave()
        opened.lock()
        turn = Turn(client.number, None, sent, len(running.steps), begins=not opened.turns, ends=False)
        opened.turns.append(turn)
        self.journal.turns.append(turn)
        client.open = opened

    def _enter_turns(self, opened: OpenTransaction, sent: int) -> None:
        """The group that was entered last had turns before."""
        last = self.journal.turns[-1]
        last.first, last.begins = sent, False
        for turn in opened.turns:
            turn.group = last.group

    def _begun(self, transaction: Transaction) -> RunningTransaction:
        by_statement = self.settings.binlog_format == "statement"
        state = self.state
        return RunningTransaction(transaction, state.catalog, state.database, self.line, statement_format=by_statement)

    def _log_places(self, transaction: Transaction, statements: Sequence[RequestPlace]) -> dict[int, LogPlace]:
        """Where the statements of an intricate transaction are logged.

        What comes later decides it: a rollback to a savepoint, or a table without transactions, whose changes are a
        group ahead of the others.  So a fork of the session runs them first.
        """
        fork = self.fork()
        trial = fork._begun(transaction)
        for index, place in enumerate(statements):
            fork._step(trial, index, (0, 0), place)
        trial.finish()
        return trial.places()

    def _step(self, running: RunningTransaction, index: int, where: LogPlace, place: RequestPlace) -> None:
        """One statement inside a transaction."""
        statement = running.declared.statements[index]
        if statement.ddl is not None:
            with place.sql(statement.ddl, "ddl"):
                parsed = self._read_ddl(statement.ddl)
                if changes_no_base(parsed):
                    running.add(self._temporary_table(parsed, statement.ddl, running, where, place), index)
                    return
        for word in _ALONE:
            if getattr(statement, word) is not None:
                with place.at(word):
                    raise ScenarioError(f"{word} commits by itself", expected="a transaction with nothing else in it")
        if statement.set is not None:
            for name in statement.set.values:
                if name in OUTSIDE_TRANSACTIONS:
                    with place.at("set", name):
                        raise ScenarioError(f"{name} cannot change inside a transaction", expected="`set` before it")
            self._set(statement.set, place)
            return
        if statement.event is not None:
            with place.at("event"):
                running.add(own_event(statement.event, self.listed, self.line, inside=True), index)
                if statement.event.place == "rows" and not any(
                    later.target is not None for later in running.declared.statements[index + 1 :]
                ):
                    raise ScenarioError("no rows follow the event", expected="a statement that changes rows")
            return
        with place.at():
            step = savepoint_step(statement, self.own(self.settings))
            if step is not None:
                running.add(step, index)
                return
            if self.settings.gtid and self.line.groups.enforces_gtid_consistency:
                running.check_gtid_consistency(statement, logs_temporary=self.texts.logs_temporary())
        self._change_rows(statement, running, index, where, place)

    def _change_rows(
        self, statement: Statement, running: RunningTransaction, index: int, where: LogPlace, place: RequestPlace
    ) -> None:
        if statement.rows_query:
            with place.at("rows_query"):
                self.line.require(self.line.rows.query_event)
        context = self._context(place, where)
        follows_changes = running.caches.has_changes
        if statement.update is not None:
            with place.at("update", "set"):
                check_assignments(statement.update.set, self.mode)
        locked = {table.name for table in self.state.catalog.tables.values() if table.locked}
        rows = execute(statement, context)
        with place.at():
            check_sent(self, lambda: rows.text.sql)
            new = statement.insert or statement.replace
            if statement.query is not None or (new is not None and new.select is not None):
                require_statement(self.line, str(rows.text.sql))
            if rows.table.full_name in locked:
                check_waits(rows)
        running.logged_before = self.journal.logged
        if self.settings.gtid and self.line.groups.enforces_gtid_consistency:
            with place.at():
                running.check_engines(rows, self.line)
        session_context = replace(
            rows.context,
            follows_changes=follows_changes,
            in_xa=running.declared.xa is not None,
            in_block=running.in_block,
            rows_query=statement.rows_query,
            session=self.own(self.settings),
        )
        # One that changes nothing is replayed all the same: its table is opened, and an INSERT uses up numbers.
        finished = self.texts.finished(statement, replace(rows, context=session_context), context)
        with place.at():
            running.add(in_client_charset(finished, self.settings, self.line), index)

    def _read_ddl(self, text: str) -> Ddl:
        """Raises SqlError for what the server does not take."""
        check_sent(self, lambda: text)
        return parse_ddl(as_read(text, self.line), self.line.grammar)

    def _temporary_table(
        self, statement: Ddl, text: str, running: RunningTransaction, where: LogPlace, place: RequestPlace
    ) -> DdlStatement:
        """A temporary table comes or goes inside a transaction.  Raises SqlError where a server refuses it."""
        check_definition(text, self.mode)
        definition = defined(self, statement, as_logged(text, self.line), self.time(*where), place.inside("ddl").line)
        running.watch()
        return replace(definition, text=replace(definition.text, session=self.own(self.settings)))

    def _context(self, place: RequestPlace, where: LogPlace) -> DmlContext:
        catalog, settings = self.state.catalog, self.settings
        return DmlContext(
            catalog=catalog,
            current_database=self.state.database,
            generate=self.generate,
            time=self.time(*where),
            clips=self.clips,
            spares_rows="STRICT_ALL_TABLES" not in self.mode.names,
            keeps_zero="NO_AUTO_VALUE_ON_ZERO" in self.mode.names,
            empty_is_null="EMPTY_STRING_IS_NULL" in self.mode.names,
            numbers=(settings.auto_increment_increment, settings.auto_increment_offset),
            is_text=settings.binlog_format != "row",
            place=place.at,
            references=References(catalog, self.line, checks=settings.foreign_key_checks),
            line=place.line,
        )

    def _place_events(self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]) -> None:
        """Events outside of all groups."""
        if transaction.in_block:
            with place.at():
                raise ScenarioError("events alone make no transaction", expected="a list of them, or a statement")
        for statement, statement_place in zip(transaction.statements, statements, strict=True):
            if statement.event is not None:
                with statement_place.at("event"):
                    event = own_event(statement.event, self.listed, self.line, inside=False)
                self.journal.place_event(event)

    def _end_named(self, name: XaName, end: Literal["commit", "rollback"], place: RequestPlace) -> None:
        with place.at(f"xa_{end}"):
            self.end_xa(xa_id(name, self.line), end)
