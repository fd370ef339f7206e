"""From a scenario to the compiler's input: every row, every statement, every table at the end."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Literal

from forge.compile.groups.clock import Clock
from forge.compile.groups.grouping import logged_groups
from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.drop_table import session_end
from forge.engine.ddl.handlers import run_definition
from forge.engine.ddl.temporary_tables import changes_no_base, check_inside, logged_of_temporary
from forge.engine.dictionary.catalog import SYSTEM_DATABASES, Catalog
from forge.engine.dictionary.names import declared_name
from forge.engine.dml.statements import execute
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.engine.rows.cells import Circumstances
from forge.engine.rows.defaults import StatementTime
from forge.engine.rows.foreign_keys import References
from forge.engine.rows.state import TableState
from forge.engine.session.logged import logged_statement
from forge.engine.session.settings import check_selects, wrong_settings
from forge.engine.session.texts import SessionText
from forge.engine.session.transactions import (
    Prepared,
    PreparedTransactions,
    RunningTransaction,
    declared_transaction,
    savepoint_step,
    xa_id,
)
from forge.errors import ScenarioError, UnsupportedError
from forge.located import Path
from forge.plan.definitions import (
    DatabaseCreation,
    DatabaseDrop,
    DdlStatement,
    DefinitionText,
    MemoryEmptied,
    dropped_tables,
)
from forge.plan.engines import is_transactional
from forge.plan.plan import EventStep, FileStep, Plan
from forge.plan.requirements import session_features
from forge.plan.transactions import Group, XaId
from forge.scenario.convert import checked
from forge.scenario.declared_tables import declared_tables, first_database, used_databases
from forge.scenario.generators import Generators
from forge.scenario.model import Scenario
from forge.scenario.placed import own_event
from forge.scenario.places import Places, statement_path, statements_of
from forge.servers import server_line
from forge.sql.ast.objects import ObjectDdl
from forge.sql.ast.statements import AlterTable, CreateTable, DatabaseStatement, DropTables
from forge.sql.parse.statements import Ddl, parse_ddl
from forge.sql.version_comments import as_logged, as_read, as_sent
from forge.sql.write.identifiers import identifier
from forge.sql.write.statements import table_sql


def plan(scenario: Scenario) -> Plan:
    """The compiler's input for a scenario.

    Groups are, in order: CREATE DATABASE for every database that the scenario does not create itself, CREATE TABLE
    for every entry of ``tables``, the transactions.  Those that change no row are replayed, and not logged.

    Raises ScenarioError (file, line, what was expected, nearest word) for what a server would refuse, and
    UnsupportedError for what this version cannot make.
    """
    return _Planner(checked(scenario)).run()


#: Statements that are a transaction of their own.
_ALONE = ("ddl", "logged", "flush", "restart")


class _Planner:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.places = Places(scenario)
        with self.places.at(("server",)):
            self.line = server_line(scenario.server)
        for setting, feature in session_features(scenario.session, self.line):
            with self.places.at(("session", setting)):
                self.line.require(feature)
        with self.places.at(("session", "timestamp")):
            self.clock = Clock(scenario.session)
        for path, error in wrong_settings(scenario.session, self.line):
            with self.places.at(path):
                raise error
        with self.places.at(("session", "sql_mode")):
            if scenario.session.sql_mode:
                raise UnsupportedError(
                    f"sql_mode {scenario.session.sql_mode!r} is not supported yet",
                    expected="'' (nothing is refused that can be clipped), or no sql_mode for the server's default",
                )
        self.catalog = Catalog(
            scenario.server,
            generates_keys=scenario.session.generate_invisible_primary_key,
            foreign_key_checks=scenario.session.foreign_key_checks,
            zero_dates=scenario.session.sql_mode is not None or not server_line(scenario.server).query.strict,
        )
        self.groups: list[Group] = []
        self.file_steps: list[FileStep] = []
        self.event_steps: list[EventStep] = []
        self.reconnects: list[int] = []
        #: How many groups the log has so far.
        self.logged = 0
        self.prepared = PreparedTransactions()
        self.text = SessionText(scenario)
        self.tables = list(declared_tables(scenario, self.places, self.line))
        self.home = scenario.session.database or first_database(self.tables)
        #: The session's database: that of the first table, as soon as it exists, until a transaction names another.
        self.current = ""

    def run(self) -> Plan:
        self._create_databases()
        for path, text, statement in self.tables:
            with self.places.sql(path, text):
                self._apply(statement, text, path)
        for number, transaction in enumerate(self.scenario.transactions):
            self._transaction(("transactions", number), transaction)
        self._end_session()
        self.prepared.forget()
        states = {state.name: state for state in self.catalog.tables.values()}
        return Plan(
            name=self.scenario.scenario,
            server=self.scenario.server,
            session=self.scenario.session,
            groups=tuple(self.groups),
            file_steps=tuple(self.file_steps),
            event_steps=tuple(self.event_steps),
            reconnects=tuple(self.reconnects),
            contents={name: tuple(s.rows[n] for n in s.ordered()) for name, s in states.items()},
            tables={name: state.table for name, state in states.items()},
            unopened=frozenset(name for name, state in states.items() if state.lost_rows),
        )

    def _create_databases(self) -> None:
        """CREATE DATABASE for every database that is used before the scenario creates it."""
        for name, path in used_databases(self.scenario, self.tables, self.places, self.line).items():
            with self.places.at(path):
                if name.lower() in SYSTEM_DATABASES:
                    raise ScenarioError(f"{name!r} is a system database", expected="another name")
                sql = f"CREATE DATABASE {identifier(name)}"
                self._apply(DatabaseStatement("create_database", name, 0), sql, None)
        self._use_home()

    def _use_home(self) -> None:
        if not self.current and self.home in self.catalog.databases:
            self.current = self.home

    def _time(self, group: int = 0, statement: int = 0) -> StatementTime:
        """``group`` counts from the first that is not logged yet."""
        return StatementTime(*self.clock.statement_time(self.logged + group, statement))

    def _apply(self, statement: Ddl, text: str, path: Path | None) -> None:
        sent = as_sent(text, self.line)
        sql = as_logged(text, self.line)
        self._open_for_ddl(statement)
        locked = {state.name for state in self.catalog.tables.values() if state.locked}
        done = self._defined(statement, sql, self._time(), path)
        if locked & {*(table.full_name for table in done.tables), *dropped_tables(done)}:
            raise ScenarioError(
                "a prepared XA transaction has changed the table: the statement would wait for its end",
                expected="xa_commit or xa_rollback before",
            )
        self._add(replace(done, text=replace(done.text, sent=sent)) if sql != sent else done)
        if isinstance(done, DatabaseDrop) and self.current not in self.catalog.databases:
            self.current = ""
        elif isinstance(done, DatabaseCreation) and path is not None:
            self._use_home()

    def _defined(self, statement: Ddl, sql: str, time: StatementTime, path: Path | None) -> DdlStatement:
        if not self.line.ddl.temporary_tables and changes_no_base(statement):
            raise UnsupportedError(f"temporary tables on {self.line.name} are not supported yet")
        self.line.require_statement(sql)
        logs = self.text.logs_temporary(self.catalog)
        as_text = False
        if isinstance(statement, CreateTable) and statement.select is not None:
            check_selects(self.scenario.session, self.line)
            as_text = self.text.selects_as_text(statement, sql, self.catalog, self.current)
            logs &= as_text
        context = DdlContext(self.catalog, sql, self.current, time, logs, as_text)
        done = logged_of_temporary(run_definition(statement, context), logs=logs)
        return replace(done, text=replace(done.text, line=self.places.line(path)))

    def _transaction(self, path: tuple[str | int, ...], entry: list[Statement] | Transaction) -> None:
        with self.places.at(path):
            declared = declared_transaction(entry)
        if declared.database is not None:
            with self.places.at((*path, "database")):
                self.catalog.check_database(declared.database)
                self.current = declared.database
        if declared.xa_commit is not None or declared.xa_rollback is not None:
            self._xa_end(path, declared)
            return
        statements = declared.statements
        in_block = declared.explicit or declared.xa is not None or declared.end != "commit"
        alone = statements[0] if len(statements) == 1 and not in_block else Statement(savepoint="")
        if all(statement.event is not None for statement in statements):
            if in_block:
                with self.places.at(path):
                    raise ScenarioError("events alone make no transaction", expected="a list of them, or a statement")
            self._events(path, entry)
            return
        if alone.flush is not None or alone.restart is not None:
            if alone.flush is not None:
                with self.places.at(path):
                    self._leave_prepared()
            self._end_file(alone)
            return
        with self.places.at(path):
            self._leave_prepared()
        if alone.ddl is not None:
            ddl_path = (*statement_path(path, entry, 0), "ddl")
            with self.places.sql(ddl_path, alone.ddl):
                parsed = parse_ddl(as_read(alone.ddl, self.line), self.line.grammar)
                self._apply(parsed, alone.ddl, ddl_path)
            return
        if alone.logged is not None:
            logged_path = (*statement_path(path, entry, 0), "logged")
            with self.places.at(logged_path):
                statement = logged_statement(alone.logged, self.current, self._time().second, self.line)
                self._add(replace(statement, line=self.places.line(logged_path)))
            return
        with self.places.at(path):
            self._open_for_rows(declared)
        running = self._run(path, entry, declared)
        done = running.finish()
        if done is not None:
            self._add(done)
        if done is not None and declared.xa is not None and done.end == "prepare" and done.xa is not None:
            with self.places.at((*path, "xa")):
                self.prepared.add(done.xa, Prepared(running.log, running.caches), detaches=self.line.groups.detaches_xa)
            if declared.xa.end != "prepared":
                self._end_xa(done.xa, declared.xa.end)

    def _open_for_ddl(self, statement: Ddl) -> None:
        """ALTER TABLE opens its table; what others do with one that has lost its rows is not made yet."""
        lost = {name for name, state in self.catalog.tables.items() if state.lost_rows}
        if not lost or isinstance(statement, (CreateTable, DatabaseStatement, DropTables, ObjectDdl)):
            return
        ref = statement.table if isinstance(statement, AlterTable) else None
        if ref is None:
            raise UnsupportedError("this statement after a restart, with MEMORY tables that were not used since")
        state = self.catalog.tables.get((ref.database or self.current, ref.name))
        if state is not None:
            self._open(state, caused_by_ddl=True)

    def _open_for_rows(self, declared: Transaction) -> None:
        """The tables of a transaction are opened; a group that tells of lost rows stands ahead of it."""
        written = False
        for statement in declared.statements:
            if statement.target is None or not any(state.lost_rows for state in self.catalog.tables.values()):
                continue
            try:
                state = self.catalog.table(declared_name(statement.target), self.current)
            except ScenarioError:
                continue
            if state.lost_rows and written:
                # It would have to stand between the groups of the transaction's statements (recorded).
                raise UnsupportedError(
                    f"{state.name} is first used after a restart behind a table without transactions",
                    expected="a transaction of its own before",
                )
            self._open(state)
            written |= not is_transactional(state.table)

    def _open(self, state: TableState, *, caused_by_ddl: bool = False) -> None:
        if not state.lost_rows:
            return
        state.lost_rows = False
        sql = f"TRUNCATE TABLE {table_sql(state.table)} {self.line.ddl.memory_comment}"
        self._add(MemoryEmptied(DefinitionText(sql, self.current), tables=(state.table,), caused_by_ddl=caused_by_ddl))

    def _run(
        self, path: tuple[str | int, ...], entry: list[Statement] | Transaction, declared: Transaction
    ) -> RunningTransaction:
        """Run a transaction's statements, with the times of the groups that log them."""
        places = None
        with self.places.at((*path, "xa")):
            running = self._begun(declared)
        if running.is_intricate and running.takes_time:
            places = self._places(path, entry, declared)
            running.watch()
        for index in range(len(declared.statements)):
            place = (0, len(running.caches.steps)) if places is None else places.get(index, (0, 0))
            self._step(running, index, place, statement_path(path, entry, index))
        return running

    def _begun(self, declared: Transaction) -> RunningTransaction:
        by_statement = self.scenario.session.binlog_format == "statement"
        return RunningTransaction(declared, self.catalog, self.current, self.line, statement_format=by_statement)

    def _places(
        self, path: tuple[str | int, ...], entry: list[Statement] | Transaction, declared: Transaction
    ) -> dict[int, tuple[int, int]]:
        """Where the statements of an intricate transaction are logged, by a trial on a copy of the tables."""
        catalog = self.catalog
        self.catalog = copy.deepcopy(catalog)
        try:
            trial = self._begun(declared)
            for index in range(len(declared.statements)):
                self._step(trial, index, (0, 0), statement_path(path, entry, index))
            trial.finish()
            return trial.places()
        finally:
            self.catalog = catalog

    def _step(
        self, running: RunningTransaction, index: int, place: tuple[int, int], path: tuple[str | int, ...]
    ) -> None:
        statement = running.declared.statements[index]
        if statement.ddl is not None:
            with self.places.sql((*path, "ddl"), statement.ddl):
                parsed = parse_ddl(as_read(statement.ddl, self.line), self.line.grammar)
                if changes_no_base(parsed):
                    running.add(self._inside(parsed, as_logged(statement.ddl, self.line), running, place, path), index)
                    return
        for word in _ALONE:
            if getattr(statement, word) is not None:
                with self.places.at((*path, word)):
                    raise ScenarioError(f"{word} commits by itself", expected="a transaction with nothing else in it")
        if statement.event is not None:
            with self.places.at((*path, "event")):
                running.add(own_event(statement.event, inside=True), index)
                if statement.event.place == "rows" and not any(
                    later.target is not None for later in running.declared.statements[index + 1 :]
                ):
                    raise ScenarioError("there are no rows behind the event", expected="a statement that changes rows")
            return
        with self.places.at(path):
            step = savepoint_step(statement)
            if step is not None:
                running.add(step, index)
                return
        with self.places.at(path):
            if self.scenario.session.gtid and self.line.groups.enforces_gtid_consistency:
                running.check_gtid_consistency(statement, logs_temporary=self.text.logs_temporary(self.catalog))
        if statement.rows_query:
            with self.places.at((*path, "rows_query")):
                self.line.require(self.line.rows.query_event)
        circumstances = self._circumstances(path, place)
        follows = running.caches.has_changes
        done = execute(statement, circumstances)
        context = replace(
            done.context,
            follows_changes=follows,
            in_xa=running.declared.xa is not None,
            in_block=running.in_block,
            rows_query=statement.rows_query,
        )
        # One that changes nothing is replayed all the same: its table is opened, and an INSERT uses up numbers.
        running.add(self.text.finished(statement, replace(done, context=context), circumstances), index)

    def _inside(
        self, statement: Ddl, sql: str, running: RunningTransaction, place: tuple[int, int], path: Path
    ) -> DdlStatement:
        """A temporary table comes or goes inside a transaction.  Raises SqlError where a server refuses it."""
        check_inside(statement, running, self.scenario.session, self.line)
        done = self._defined(statement, sql, self._time(*place), (*path, "ddl"))
        running.watch()
        return done

    def _events(self, path: tuple[str | int, ...], entry: list[Statement] | Transaction) -> None:
        """Events outside of all groups."""
        for index, statement in enumerate(statements_of(entry)):
            assert statement.event is not None
            with self.places.at((*statement_path(path, entry, index), "event")):
                event = own_event(statement.event, inside=False)
            self.event_steps.append(EventStep(event, len(self.groups), len(self.file_steps)))

    def _xa_end(self, path: tuple[str | int, ...], declared: Transaction) -> None:
        end: Literal["commit", "rollback"] = "commit" if declared.xa_commit is not None else "rollback"
        name = declared.xa_commit or declared.xa_rollback
        assert name is not None
        with self.places.at((*path, f"xa_{end}")):
            self._end_xa(xa_id(name), end)

    def _end_xa(self, xa: XaId, end: Literal["commit", "rollback"]) -> None:
        self._leave_prepared(xa)
        self._add(self.prepared.end(xa, end, self.current))

    def _leave_prepared(self, ended: XaId | None = None) -> None:
        """Where the session may only end the transaction that it has prepared, another one goes on.

        Raises ScenarioError for lines on which the transaction does not outlive its session.
        """
        if self.prepared.bound in (None, ended):
            return
        if not self.line.knows("xa_prepare"):
            self.prepared.check_free()
        self._end_session()
        self.reconnects.append(len(self.groups))
        self.prepared.leave()
        self.text.begin()

    def _add(self, group: Group) -> None:
        self.groups.append(group)
        self.logged += sum(1 for _ in logged_groups((group,), self.line))

    def _end_file(self, statement: Statement) -> None:
        """FLUSH BINARY LOGS, or a new start of the server, after which the session is a new one."""
        if statement.restart is None:
            self.file_steps.append(FileStep("flush", len(self.groups)))
            return
        self._end_session()
        self.file_steps.append(FileStep("crash" if statement.restart == "crash" else "restart", len(self.groups)))
        for state in self.catalog.tables.values():
            state.restart()
        self.prepared.restart()
        self.text.begin()

    def _end_session(self) -> None:
        """The client goes, and its temporary tables with it."""
        flushed = bool(self.file_steps) and self.file_steps[-1].after == len(self.groups)
        for statement in session_end(self.catalog, idle=flushed):
            self._add(statement)

    def _circumstances(self, path: tuple[str | int, ...], place: tuple[int, int]) -> Circumstances:
        return Circumstances(
            catalog=self.catalog,
            current_database=self.current,
            generate=Generators(self.scenario.seed),
            time=self._time(*place),
            clips=self.scenario.session.sql_mode is not None or not self.line.query.strict,
            numbers=(self.scenario.session.auto_increment_increment, self.scenario.session.auto_increment_offset),
            is_text=self.scenario.session.binlog_format != "row",
            place=lambda *steps: self.places.at((*path, *steps)),
            references=References(self.catalog, self.line, checks=self.scenario.session.foreign_key_checks),
            line=self.places.line(path),
        )
