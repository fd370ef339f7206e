"""From a scenario to the compiler's input: every row, every statement, every table at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from forge.compile.clock import Clock
from forge.compile.model import FileStep, Group, Plan, RowsStatement
from forge.compile.model import Transaction as CompiledTransaction
from forge.errors import ScenarioError, UnsupportedError
from forge.located import Path
from forge.scenario.catalog import SYSTEM_DATABASES, Catalog
from forge.scenario.convert import checked
from forge.scenario.ddl import parse_create_table, parse_ddl
from forge.scenario.model import Scenario, Statement, TableDeclaration, Transaction
from forge.scenario.rows import StatementTime
from forge.scenario.sqltext import identifier
from forge.scenario.statements import Circumstances, execute
from forge.scenario.syntax import CreateLike, CreateTable, DatabaseStatement, Ddl
from forge.scenario.table_text import table_text
from forge.scenario.tokens import SqlError
from forge.servers import server_line


def plan(scenario: Scenario) -> Plan:
    """The compiler's input for a scenario.

    Groups are, in order: CREATE DATABASE for every database that the scenario does not create itself, CREATE TABLE
    for every entry of ``tables``, the transactions.  A transaction that changes no row is not logged and left out.

    Raises ScenarioError (file, line, what was expected, nearest word) for what a server would refuse, and
    UnsupportedError for what this version cannot make.
    """
    return _Planner(checked(scenario)).run()


#: Statements that are a transaction of their own.
_ALONE = ("ddl", "flush", "restart")


class _Planner:
    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        with self._place(("server",)):
            server_line(scenario.server)
        with self._place(("session", "timestamp")):
            self.clock = Clock(scenario.session)
        with self._place(("session", "sql_mode")):
            if scenario.session.sql_mode:
                raise UnsupportedError(
                    f"sql_mode {scenario.session.sql_mode!r} is not supported yet",
                    expected="'' (nothing is refused that can be clipped), or no sql_mode for the server's default",
                )
        self.catalog = Catalog(scenario.server)
        self.groups: list[Group] = []
        self.file_steps: list[FileStep] = []
        self.tables = list(self._declared_tables())
        self.home = scenario.session.database or self._first_database()
        #: The session's database: that of the first table, as soon as it exists.
        self.current = ""

    def run(self) -> Plan:
        self._create_databases()
        for path, text, statement in self.tables:
            with self._sql_place(path, text):
                self._apply(statement, _trimmed(text), path)
        for number, transaction in enumerate(self.scenario.transactions):
            self._transaction(("transactions", number), transaction)
        states = {state.name: state for state in self.catalog.tables.values()}
        return Plan(
            name=self.scenario.scenario,
            server=self.scenario.server,
            session=self.scenario.session,
            groups=tuple(self.groups),
            file_steps=tuple(self.file_steps),
            contents={name: tuple(s.rows[n] for n in s.ordered()) for name, s in states.items()},
            tables={name: state.table for name, state in states.items()},
        )

    def _declared_tables(self) -> Iterator[tuple[Path, str, CreateTable]]:
        for number, table in enumerate(self.scenario.tables):
            path = ("tables", number)
            with self._place(path):
                text = table_text(table) if isinstance(table, TableDeclaration) else table
            with self._sql_place(path, text):
                yield path, text, parse_create_table(_trimmed(text))

    def _first_database(self) -> str:
        return next((s.table.database for _, _, s in self.tables if s.table.database is not None), "")

    def _create_databases(self) -> None:
        """CREATE DATABASE for every database that is used before the scenario creates it."""
        for name, path in self._databases().items():
            with self._place(path):
                if name.lower() in SYSTEM_DATABASES:
                    raise ScenarioError(f"{name!r} is a system database", expected="another name")
                sql = f"CREATE DATABASE {identifier(name)}"
                self._apply(DatabaseStatement("create_database", name, 0), sql, None)
        self._use_home()

    def _databases(self) -> dict[str, Path]:
        """Databases to create, with the entry that first names each."""
        found: dict[str, Path] = {}
        created: set[str] = set()
        for path, _, table in self.tables:
            if table.table.database is not None:
                found.setdefault(table.table.database, path)
        for path, step in self._statements():
            if step.ddl is None:
                continue
            with self._sql_place((*path, "ddl"), step.ddl):
                statement = parse_ddl(_trimmed(step.ddl))
            if isinstance(statement, DatabaseStatement):
                if statement.statement == "create_database" and statement.name:
                    created.add(statement.name)
            elif isinstance(statement, (CreateTable, CreateLike)) and statement.table.database is not None:
                name = statement.table.database
                if name not in created:
                    found.setdefault(name, (*path, "ddl"))
        home = self.scenario.session.database
        if home is not None and home not in created:
            return {home: ("session", "database"), **found}
        return found

    def _statements(self) -> Iterator[tuple[tuple[str | int, ...], Statement]]:
        for number, transaction in enumerate(self.scenario.transactions):
            for index, statement in enumerate(_statements_of(transaction)):
                yield _statement_path(("transactions", number), transaction, index), statement

    def _use_home(self) -> None:
        if self.home in self.catalog.databases:
            self.current = self.home

    def _time(self, statement: int) -> StatementTime:
        return StatementTime(*self.clock.statement_time(len(self.groups), statement))

    def _apply(self, statement: Ddl, sql: str, path: Path | None) -> None:
        done = self.catalog.apply(statement, sql, self.current, self._time(0))
        self.groups.append(replace(done, line=self._line(path)))
        if done.kind == "drop_database" and self.current not in self.catalog.databases:
            self.current = ""
        elif done.kind == "create_database" and path is not None:
            self._use_home()

    def _transaction(self, path: tuple[str | int, ...], transaction: list[Statement] | Transaction) -> None:
        statements = _statements_of(transaction)
        with self._place(path):
            if not statements:
                raise ScenarioError("the transaction is empty", expected="at least one statement")
            explicit = _is_explicit(transaction)
        if len(statements) == 1 and not explicit and (statements[0].flush or statements[0].restart):
            self._end_file(statements[0])
            return
        if statements[0].ddl is not None and len(statements) == 1 and not explicit:
            ddl_path = (*_statement_path(path, transaction, 0), "ddl")
            sql = _trimmed(statements[0].ddl)
            with self._sql_place(ddl_path, statements[0].ddl):
                self._apply(parse_ddl(sql), sql, ddl_path)
            return
        compiled: list[RowsStatement] = []
        for index, statement in enumerate(statements):
            its_path = _statement_path(path, transaction, index)
            for word in _ALONE:
                if getattr(statement, word) is not None:
                    with self._place((*its_path, word)):
                        raise ScenarioError(
                            f"{word} commits by itself", expected="a transaction with nothing else in it"
                        )
            done = execute(statement, self._circumstances(its_path, len(compiled)))
            if done.changes:
                compiled.append(done)
        if compiled:
            self.groups.append(CompiledTransaction(tuple(compiled), self.current, explicit))

    def _end_file(self, statement: Statement) -> None:
        """FLUSH BINARY LOGS, or a new start of the server, after which the session is a new one."""
        if statement.restart is None:
            self.file_steps.append(FileStep("flush", len(self.groups)))
            return
        self.file_steps.append(FileStep("crash" if statement.restart == "crash" else "restart", len(self.groups)))
        for state in self.catalog.tables.values():
            state.restart()

    def _circumstances(self, path: tuple[str | int, ...], index: int) -> Circumstances:
        return Circumstances(
            catalog=self.catalog,
            current_database=self.current,
            seed=self.scenario.seed,
            time=self._time(index),
            clips=self.scenario.session.sql_mode is not None,
            place=lambda *steps: self._place((*path, *steps)),
            line=self._line(path),
        )

    def _line(self, path: Path | None) -> int | None:
        origin = self.scenario.origin
        return None if origin is None or path is None else origin.line(path)

    @contextmanager
    def _place(self, path: Path) -> Iterator[None]:
        """Errors of the block belong to the entry at ``path``, unless they know better."""
        try:
            yield
        except ScenarioError as error:
            origin = self.scenario.origin
            raise error.at(None if origin is None else origin.file, self._line(path)) from None

    @contextmanager
    def _sql_place(self, path: Path, text: str) -> Iterator[None]:
        """Errors of the block with a place in the SQL ``text`` at ``path``, trimmed, get the line of that place."""
        with self._place(path):
            try:
                yield
            except SqlError as error:
                origin = self.scenario.origin
                if origin is None:
                    raise
                offset = error.offset + len(text) - len(text.lstrip())
                line = origin.line_at((*path, *self._piece(path, text, offset)), offset)
                raise error.at(origin.file, line) from None

    def _piece(self, path: Path, text: str, offset: int) -> tuple[str | int, ...]:
        """The steps to the column or key of a table in pieces that stands at a place of its rendered text."""
        table = self.scenario.tables[int(path[1])] if path[0] == "tables" else None
        if not isinstance(table, TableDeclaration):
            return ()
        row = text.count("\n", 0, offset) - 1
        if 0 <= row < len(table.columns):
            return ("columns", row)
        return ("keys", row - len(table.columns)) if row >= 0 else ()


def _trimmed(sql: str) -> str:
    """The text as a client sends it: without space around it and without the semicolon at its end."""
    return sql.strip().rstrip(";").rstrip()


def _statements_of(transaction: list[Statement] | Transaction) -> list[Statement]:
    return transaction if isinstance(transaction, list) else transaction.statements


def _statement_path(
    path: tuple[str | int, ...], transaction: list[Statement] | Transaction, index: int
) -> tuple[str | int, ...]:
    return (*path, index) if isinstance(transaction, list) else (*path, "statements", index)


def _is_explicit(transaction: list[Statement] | Transaction) -> bool:
    """BEGIN ... COMMIT is there for several statements, and where it is asked for.  Raises ScenarioError."""
    several = len(_statements_of(transaction)) > 1
    asked = transaction.explicit if isinstance(transaction, Transaction) else None
    if asked is False and several:
        raise ScenarioError("several statements commit together only in BEGIN ... COMMIT", expected="explicit: true")
    return several if asked is None else asked
