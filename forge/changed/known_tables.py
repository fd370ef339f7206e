"""Definitions of tables that a log is read with: those of a file, and those that its own statements make of them."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext

from msgspec.structs import replace

from forge.changed.texts_of_log import without_transaction
from forge.compile.rows.table_map import wire_columns
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import RequestPlace, Transaction
from forge.engine.rows.context import DmlContext
from forge.engine.session.session import Session
from forge.errors import ForgeError, ScenarioError
from forge.events.plain import name_text
from forge.events.table_map import TableMap
from forge.render.definition_of import definition_of
from forge.scenario.model import Scenario
from forge.scenario.places import Places
from forge.scenario.planning import opened
from forge.servers import ServerLine
from forge.sql.ast.statements import DatabaseStatement
from forge.sql.errors import SqlError
from forge.sql.script import ScriptStatement, statements
from forge.sql.write import identifier
from forge.values.base import Column

_DEFINES = re.compile(
    r"\s*(?:/\*.*?\*/\s*)*(?:(?:CREATE|ALTER|DROP|RENAME)\b[^(`]*?\b(?:TABLES?|INDEX|KEY|DATABASE|SCHEMA)\b|TRUNCATE\b)",
    re.IGNORECASE | re.DOTALL,
)
_USE = re.compile(r"USE\s+`?([^`;\s]+)", re.IGNORECASE)
#: What may be the database of a name.
_QUALIFIER = re.compile(r"`?([\w$]+)`?\s*\.")
_WORD = re.compile(r"[\w$]+")
#: Of a database that nobody named.
_UNNAMED = "unnamed"


def defines(text: str) -> bool:
    """Whether a statement may define tables."""
    return _DEFINES.match(text) is not None


class _Nowhere:
    """The place of statements that no file of ours has."""

    line = None

    def at(self, *steps: str | int) -> AbstractContextManager[None]:
        return nullcontext()

    def sql(self, text: str, *steps: str | int) -> AbstractContextManager[None]:
        return nullcontext()

    def inside(self, *steps: str | int) -> RequestPlace:
        return self


class KnownTables:
    """The tables as a session of the log's server line has them, where a reader stands."""

    def __init__(self, line: ServerLine) -> None:
        self.line = line
        #: How many statements have changed definitions.
        self.changes = 0
        self._session = self._opened()

    def _opened(self) -> Session:
        scenario = Scenario(scenario="log", server=self.line.name, existing=False)
        return opened(scenario, Places(scenario))

    def read_schema(self, text: str, file: str) -> None:
        """Take the definitions of a SQL script, and pass over what else it has.

        Raises ScenarioError (file, line) for a definition that no server of the line takes.
        """
        database = _UNNAMED
        for one in statements(text):
            if not isinstance(one, ScriptStatement):
                continue
            if use := _USE.match(one.sql):
                database = use[1]
            elif _DEFINES.match(one.sql):
                try:
                    self._run(one.sql, database)
                except SqlError as error:
                    raise error.at(file, one.place.line) from None
                except ScenarioError as error:
                    raise error.at(file, one.place.line) from None

    def follow(self, text: str, database: str) -> None:
        """A statement of the log has run; what it makes of tables is known if it is understood."""
        if not defines(text):
            return
        self.changes += 1
        text = without_transaction(text)
        for _ in range(2):
            try:
                self._run(text, database or _UNNAMED)
                return
            except (ForgeError, ValueError, LookupError):
                # It may have been there, with another definition, or be one of those that are not understood.
                self._forget(text)

    def _run(self, text: str, database: str) -> None:
        for name in (database, *_QUALIFIER.findall(text)):
            if self._session.catalog.kept_name(name) not in self._session.catalog.databases:
                made = DatabaseStatement("create_database", name, 0)
                self._session.define(made, f"CREATE DATABASE {identifier(name)}", None)
        place = _Nowhere()
        transaction = Transaction(statements=[Statement(ddl=text)], database=database)
        self._session.run(transaction, place, [place])

    def _forget(self, text: str) -> None:
        words = {word.lower() for word in _WORD.findall(text)}
        tables = self._session.catalog.tables
        for name in [name for name in tables if name[1].lower() in words]:
            del tables[name]

    def state_of(self, mapped: TableMap) -> tuple[TableState, tuple[Column, ...]] | None:
        """The definition of the table that is mapped, with the columns as its line writes them, if it is known and has
        those of the map.
        """
        tables = self._session.catalog.tables
        table = name_text(mapped.table)
        state = tables.get((name_text(mapped.database), table)) or tables.get((_UNNAMED, table))
        if state is None:
            return None
        for new in (True, False):
            settings = replace(self._session.settings, mysql56_temporal_format=new)
            columns = wire_columns(state.table, settings, self.line)
            types, metadata = zip(*((column.type_code, column.metadata) for column in columns), strict=True)
            if bytes(types) == bytes(mapped.types) and b"".join(metadata) == mapped.metadata:
                return state, columns
        return None

    def guessed(self, mapped: TableMap) -> TableState:
        """A table that has this map.  Raises ForgeError where the map does not tell enough."""
        guess = KnownTables(self.line)
        database = name_text(mapped.database)
        guess._run(definition_of(mapped, self.line, engine=None), database)
        return guess._session.catalog.tables[database, name_text(mapped.table)]

    def context(self) -> DmlContext:
        """What expressions over a row are computed in."""
        return self._session._context(_Nowhere(), (0, 0))
