"""The replica before the log: its tables, from SQL text or a scenario, and the statements of the log that define."""

from __future__ import annotations

import re

from forge.compile.rows.table_map import wire_columns
from forge.engine.dictionary.table_state import TableState
from forge.engine.session.session import Session
from forge.errors import ScenarioError, UnsupportedError
from forge.replay.replica_table import ReplicaTable
from forge.replay.stops import StopError
from forge.scenario.convert import checked
from forge.scenario.model import Scenario
from forge.scenario.places import Entry, Places, entries
from forge.scenario.planning import opened, run_entry
from forge.servers import ServerLine, server_line, server_names
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import CreateTable, DatabaseStatement, DropTables
from forge.sql.parse.statements import parse_ddl
from forge.sql.version_comments import as_read


class Replica:
    """A server of a line with tables.

    Raises ScenarioError for a scenario that it would refuse, UnsupportedError for a line whose appliers are not known.
    """

    def __init__(self, scenario: Scenario) -> None:
        scenario = checked(scenario)
        self.line: ServerLine = server_line(scenario.server)
        if not self.line.applier.measured:
            known = ", ".join(name for name in server_names() if server_line(name).applier.measured)
            raise UnsupportedError(f"what a replica of {self.line.name} does is not measured", expected=known)
        places = Places(scenario)
        self.session: Session = opened(scenario, places)
        for path, entry in entries(scenario, "transactions"):
            run_entry(self.session, Entry(places, path), entry)
        self.tables: dict[tuple[str, str], ReplicaTable] = {}
        self._take()
        #: What is there before the log.
        self.declared = frozenset(self.session.catalog.databases), frozenset(self.tables)

    def _take(self) -> None:
        """Take over the tables that the engine has defined anew."""
        self.tables = {name: self._taken(name, state) for name, state in self.session.catalog.tables.items()}

    def is_view(self, name: tuple[str, str]) -> bool:
        """Whether a name is that of a view."""
        return ("view", *name) in self.session.catalog.objects

    def triggers_of(self, name: tuple[str, str]) -> bool:
        """Whether a table has triggers."""
        return any(kind == "trigger" and table == name for (kind, _, _), table in self.session.catalog.objects.items())

    def define(self, text: str, database: str, *, rows_only: bool = False) -> bool:
        """Run a data definition statement of the log; False for one that is left out.

        ``rows_only`` leaves out those that make or drop what was declared.  Raises StopError where the server does,
        UnsupportedError for a statement that changes rows, and for another definition that the engine refuses.
        """
        session = self.session
        statement = None
        try:
            statement = parse_ddl(as_read(text, self.line), self.line.grammar)
        except ScenarioError as error:
            raise UnsupportedError(f"the log has a statement that is not replayed: {_short(text)} ({error})") from None
        if rows_only and self._is_of_declared(statement, database):
            return False
        where = f"on query. Default database: '{database}'. Query: '{text}'"
        problem = self._problem(statement, database)
        if problem is not None:
            rule = "it is there already; --rows-only leaves out what makes or drops what is declared"
            raise StopError(problem[0], f"Error '{problem[1]}' {where}", rule)
        self._give_rows()
        current, session.client.database = session.client.database, database
        try:
            session.define(statement, text, None)
        except ScenarioError as error:
            twice = _COLUMN_TWICE.search(str(error))
            if twice is not None:
                text = f"Error 'Duplicate column name '{twice[1]}'' {where}"
                raise StopError(1060, text, "the column is there already") from None
            raise UnsupportedError(f"the replica would refuse {_short(text)}: {error}") from None
        finally:
            session.client.database = current
        self._take()
        return True

    def _problem(self, statement: object, database: str) -> tuple[int, str] | None:
        """The error of a statement that makes what is there."""
        catalog = self.session.catalog
        if isinstance(statement, DatabaseStatement):
            name = statement.name or ""
            makes = statement.statement == "create_database" and not (statement.exists or statement.replaces)
            if makes and catalog.kept_name(name) in catalog.databases:
                return 1007, f"Can't create database '{name}'; database exists"
        elif isinstance(statement, CreateTable):
            makes = not (statement.if_not_exists or statement.replaces or statement.temporary)
            if makes and self._full(statement.table, database) in catalog.tables:
                return 1050, f"Table '{statement.table.name}' already exists"
        return None

    def _is_of_declared(self, statement: object, database: str) -> bool:
        databases, tables = self.declared
        if isinstance(statement, DatabaseStatement):
            of_it = statement.statement != "alter_database" and statement.name is not None
            return of_it and self.session.catalog.kept_name(statement.name or "") in databases
        if isinstance(statement, CreateTable):
            return not statement.temporary and self._full(statement.table, database) in tables
        if isinstance(statement, DropTables):
            return not statement.temporary and {self._full(one, database) for one in statement.tables} <= tables
        return False

    def _full(self, table: TableRef, database: str) -> tuple[str, str]:
        kept = self.session.catalog.kept_name
        return kept(table.database or database), kept(table.name)

    def _taken(self, name: tuple[str, str], state: TableState) -> ReplicaTable:
        old = self.tables.get(name)
        if old is not None and old.state is state and old.table is state.table:
            return old
        return ReplicaTable(state, wire_columns(state.table, self.session.settings, self.line))

    def _give_rows(self) -> None:
        """The engine gets the rows as they are now."""
        for name, table in self.tables.items():
            state = self.session.catalog.tables.get(name)
            if state is not None and table.changed:
                rows = {number: table.decoded(cells) for number, cells in table.rows.items()}
                state.refill(rows, table.inserted, table.next_auto_increment)
                table.changed = False


#: How the engine says that an ALTER TABLE adds a column that is there (recorded: corpora/replays/several-tables.jsonl).
_COLUMN_TWICE = re.compile(r"has a column '(.+)' already")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "...")
