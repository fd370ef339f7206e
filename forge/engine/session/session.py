"""A client's session on a server: it runs requests, and keeps what the plan tells of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from forge.binlog.listing.fields import ListingState
from forge.charsets import collation
from forge.engine.ddl.handlers import changes_no_base
from forge.engine.dml.statements import execute
from forge.engine.requests.cells import CellGenerator
from forge.engine.requests.settings import OUTSIDE_TRANSACTIONS, SessionChange
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import RequestPlace, Transaction, XaName
from forge.engine.rows.context import DmlContext
from forge.engine.rows.foreign_keys import References
from forge.engine.session.client_texts import check_definition, check_sent, in_client_charset
from forge.engine.session.connection import Connection
from forge.engine.session.definitions import apply_definition, defined, open_for_rows
from forge.engine.session.given_events import logged_statement, own_event
from forge.engine.session.settings import wrong_settings
from forge.engine.session.texts import SessionText
from forge.engine.session.transactions import Prepared, RunningTransaction, check_transaction, savepoint_step, xa_id
from forge.engine.session.user_variables import user_variable
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.circumstances import Turn
from forge.plan.collations import connection_charset, names_collation
from forge.plan.definitions import DdlStatement
from forge.plan.gtids import given_gtid
from forge.plan.requirements import session_features
from forge.plan.session import Session as Settings
from forge.sql.ast.statements import Ddl
from forge.sql.parse.statements import parse_ddl
from forge.sql.reads.features import require_statement
from forge.sql.version_comments import as_logged, as_read


class Session(Connection):
    """Requests run one after the other against the catalog; ``journal`` has what came of them.

    All raise ScenarioError (of the request's place) for what a server would refuse, UnsupportedError for what is not
    made yet.
    """

    def __init__(self, settings: Settings, server: str, generate: CellGenerator) -> None:
        super().__init__(settings, server)
        self.generate = generate
        #: The TABLE_MAP events that the scenario places.
        self.listed = ListingState()
        #: What runs a statement that is a transaction of its own, by its kind.
        self._alone: dict[str, Callable[[Statement, RequestPlace], None]] = {
            "flush": lambda statement, place: self.journal.end_file("flush"),
            "restart": self._restart,
            "ddl": self._define,
            "logged": self._enter_logged,
            "set": lambda statement, place: self._set(statement.set, place),
        }

    def _texts(self, statement: Statement | None = None) -> SessionText:
        logged_as = None if statement is None else statement.logged_as
        return SessionText(self.client, self.catalog, self.line, logged_as)

    def define(self, statement: Ddl, text: str, line: int | None) -> None:
        """Run a data definition statement that stands by itself."""
        check_definition(text, self.mode)
        check_sent(text, self.mode, self.settings, self.line)
        apply_definition(self, self._texts(), statement, text, line)

    def run(self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]) -> None:
        """Run a transaction, or a statement that is one; ``statements`` are the places of its statements."""
        with place.at():
            check_transaction(transaction)
        with place.at("connection"):
            self.switch(transaction.connection)
        if transaction.database is not None:
            with place.at("database"):
                self.client.database = self.catalog.check_database(transaction.database)
                # USE sets that, too.
                self.change(msgspec.structs.replace(self.settings, collation_database=None))
        if transaction.gtid is None:
            self._run_transaction(transaction, place, statements)
            return
        with place.at("gtid"):
            self._give_gtid(transaction)
        logged = self.journal.logged
        self._run_transaction(transaction, place, statements)
        self.gtid = None
        groups = self.journal.logged - logged
        if groups != 1:
            with place.at("gtid"):
                raise UnsupportedError(
                    f"a transaction with a GTID of its own that is logged as {groups} groups is not supported yet",
                    expected="one that changes rows of one kind of tables",
                )

    def _give_gtid(self, transaction: Transaction) -> None:
        """The client sets the GTID of the transaction.  Raises ScenarioError where it cannot."""
        if not (self.line.groups.always_gtids or self.settings.gtid):
            raise ScenarioError("the session has no GTIDs", expected="session.gtid: true")
        two_groups = transaction.xa is not None and not transaction.xa.one_phase and transaction.xa.end != "prepared"
        if two_groups and self.line.knows("xa_prepare"):
            raise ScenarioError("XA PREPARE and the second phase need a GTID each", expected="xa with `end: prepared`")
        if transaction.end == "open" or self.client.open is not None:
            raise UnsupportedError("a GTID for a transaction that stays open is not supported yet")
        self.gtid = given_gtid(str(transaction.gtid), self.line)

    def _run_transaction(
        self, transaction: Transaction, place: RequestPlace, statements: Sequence[RequestPlace]
    ) -> None:
        if transaction.xa_commit is not None:
            self._end_named(transaction.xa_commit, "commit", place)
        elif transaction.xa_rollback is not None:
            self._end_named(transaction.xa_rollback, "rollback", place)
        elif not transaction.statements and self.client.open is None:
            with place.at():
                raise ScenarioError("there is no open transaction to end", expected="a statement")
        elif transaction.statements and all(statement.event is not None for statement in transaction.statements):
            self._place_events(transaction, place, statements)
        else:
            in_block = transaction.in_block or self.client.open is not None
            alone = None if in_block or len(statements) > 1 else self._alone.get(transaction.statements[0].kind)
            if alone is None or transaction.statements[0].restart is None:
                with place.at():
                    self.leave_prepared()
            if alone is None:
                self._run_steps(transaction, place, statements)
            else:
                alone(transaction.statements[0], statements[0])

    def _end_named(self, name: XaName, end: Literal["commit", "rollback"], place: RequestPlace) -> None:
        with place.at(f"xa_{end}"):
            self.end_xa(xa_id(name, self.line), end)

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

    def _restart(self, statement: Statement, place: RequestPlace) -> None:
        assert statement.restart is not None
        with place.at():
            self.restart(statement.restart)

    def _define(self, statement: Statement, place: RequestPlace) -> None:
        text = statement.ddl or ""
        with place.sql(text, "ddl"):
            parsed = self._read_ddl(text)
            apply_definition(self, self._texts(statement), parsed, text, place.inside("ddl").line)

    def _enter_logged(self, statement: Statement, place: RequestPlace) -> None:
        assert statement.logged is not None
        with place.at("logged"):
            second, current = self.time().second, self.client.database
            logged = logged_statement(statement.logged, current, second, self.settings, self.line)
            self.record(replace(logged, line=place.inside("logged").line))

    def _set(self, change: SessionChange | None, place: RequestPlace) -> None:
        """The session gets other settings."""
        assert change is not None
        with place.at("set"):
            settings = change.applied(self.settings, self.line)
        for setting, feature in session_features(settings, self.line):
            if setting in change.values:
                with place.at("set", setting):
                    self.line.require(feature)
        for path, error in wrong_settings(settings, self.line):
            with place.at("set", *path[1:]):
                raise error
        own = self.catalog.databases.get(self.client.database)
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
        running, first = self.client.open, 0
        if running is None:
            with place.at("xa"):
                running = RunningTransaction(transaction, self.catalog, self.client.database, self.settings, self.line)
        else:
            first = running.go_on(transaction)
        sent = len(running.steps)
        for index, statement_place in enumerate(statements, first):
            self._step(running, index, statement_place)
        if transaction.end == "open":
            turn = Turn(self.client.number, None, sent, len(running.steps), begins=not running.turns, ends=False)
            with place.at():
                running.leave(turn)
            self.journal.turns.append(turn)
            self.client.open = running
        else:
            self._finish(running, transaction, sent, place)

    def _finish(self, running: RunningTransaction, transaction: Transaction, sent: int, place: RequestPlace) -> None:
        """The transaction is over; ``sent`` of its statements were sent in turns before."""
        self.client.open = None
        group = running.finish()
        if group is None:
            return
        waits = group.end == "prepare" and not self.line.knows("xa_prepare")
        if not waits:
            self.record(group, running.begun, running.logged_before if running.turns else None)
        if running.turns:
            last = self.journal.turns[-1]
            last.first, last.begins = sent, False
            for turn in running.turns:
                turn.group = last.group
        if transaction.xa is not None and group.end == "prepare" and group.xa is not None:
            with place.at("xa"):
                later = (group, running.begun) if waits else None
                self.prepared.add(group.xa, Prepared(running.log, running.caches, self.client.session, later))
            self.client.bound = None if self.line.groups.detaches_xa else group.xa
            if transaction.xa.end != "prepared":
                self.end_xa(group.xa, transaction.xa.end)

    def _step(self, running: RunningTransaction, index: int, place: RequestPlace) -> None:
        """One statement inside a transaction."""
        statement, later = running.declared.statements[index], running.declared.statements[index + 1 :]
        if statement.target is not None:
            self._change_rows(statement, running, running.log_place(statement, later), place)
        elif statement.event is not None:
            with place.at("event"):
                running.add(own_event(statement.event, self.listed, self.line, inside=True))
                if statement.event.place == "rows" and not any(other.target is not None for other in later):
                    raise ScenarioError("no rows follow the event", expected="a statement that changes rows")
        elif statement.set is not None:
            for name in statement.set.values:
                if name in OUTSIDE_TRANSACTIONS:
                    with place.at("set", name):
                        raise ScenarioError(f"{name} cannot change inside a transaction", expected="`set` before it")
            self._set(statement.set, place)
        elif statement.kind in self._alone:
            where = running.log_place(statement, later)
            if statement.ddl is None or not self._change_temporary(statement, running, where, place):
                with place.at(statement.kind):
                    expected = "a transaction with nothing else in it"
                    raise ScenarioError(f"{statement.kind} commits by itself", expected=expected)
        else:
            step = savepoint_step(statement, self.own(self.settings))
            assert step is not None
            with place.at():
                running.add(step)

    def _change_temporary(
        self, statement: Statement, running: RunningTransaction, where: tuple[int, int], place: RequestPlace
    ) -> bool:
        """A temporary table comes or goes inside a transaction; False for other statements."""
        text = statement.ddl or ""
        with place.sql(text, "ddl"):
            parsed = self._read_ddl(text)
            if not changes_no_base(parsed):
                return False
            time, line, texts = self.time(*where), place.inside("ddl").line, self._texts(statement)
            definition: DdlStatement = defined(self, texts, parsed, as_logged(text, self.line), time, line)
            running.watch()
            session = self.own(self.settings)
            running.add(replace(definition, text=replace(definition.text, session=session)))
        return True

    def _change_rows(
        self, statement: Statement, running: RunningTransaction, where: tuple[int, int], place: RequestPlace
    ) -> None:
        if statement.rows_query:
            with place.at("rows_query"):
                self.line.require(self.line.rows.query_event)
        context = self._context(place, where)
        for name, declared in (statement.user_variables or {}).items():
            with place.at("user_variables", name):
                variable = user_variable(name, declared, self.line.name)
            context = replace(context, variables={**context.variables, variable.name: variable})
        follows_changes = running.caches.has_changes
        rows = execute(statement, context)
        with place.at():
            check_sent(lambda: rows.text.sql, self.mode, self.settings, self.line)
            new = statement.insert or statement.replace
            if statement.query is not None or (new is not None and new.select is not None):
                require_statement(self.line, str(rows.text.sql))
        running.logged_before = self.journal.logged
        session_context = replace(
            rows.context,
            follows_changes=follows_changes,
            in_xa=running.declared.xa is not None,
            in_block=running.in_block,
            rows_query=statement.rows_query,
            session=self.own(self.settings),
        )
        # One that changes nothing is replayed all the same: its table is opened, and an INSERT uses up numbers.
        finished = self._texts(statement).finished(statement, replace(rows, context=session_context), context)
        with place.at():
            running.add(in_client_charset(finished, self.settings, self.line))

    def _read_ddl(self, text: str) -> Ddl:
        """Raises SqlError for what the server does not take."""
        check_sent(text, self.mode, self.settings, self.line)
        check_definition(text, self.mode)
        return parse_ddl(as_read(text, self.line), self.line.grammar)

    def _context(self, place: RequestPlace, where: tuple[int, int]) -> DmlContext:
        settings = self.settings
        return DmlContext(
            catalog=self.catalog,
            current_database=self.client.database,
            generate=self.generate,
            time=self.time(*where),
            clips=self.clips,
            keeps_zero="NO_AUTO_VALUE_ON_ZERO" in self.mode.names,
            empty_is_null="EMPTY_STRING_IS_NULL" in self.mode.names,
            assigns_at_once="SIMULTANEOUS_ASSIGNMENT" in self.mode.names,
            numbers=(settings.auto_increment_increment, settings.auto_increment_offset),
            is_text=settings.binlog_format != "row",
            place=place.at,
            references=References(self.catalog, self.line, checks=settings.foreign_key_checks),
            line=place.line,
            connection_collation=connection_charset(settings, self.line)[1],
            variables={**self.client.variables, **dict.fromkeys(self.client.unknown)},
            known={
                "@@database": self.client.database,
                "@@last_insert_id": self.client.last_insert_id,
                "@@lc_time_names": self.settings.lc_time_names,
            },
        )
