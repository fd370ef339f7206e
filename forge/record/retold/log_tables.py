"""Tables that were there before the log begins: from a file of definitions, else from their table maps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from forge.compile.rows.table_map import wire_columns
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError
from forge.events.plain import name_text
from forge.events.query import Query
from forge.scenario.model import Scenario
from forge.scenario.places import Places
from forge.scenario.planning import opened
from forge.servers import ServerLine
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import CreateTable
from forge.sql.errors import SqlError
from forge.sql.parse.statements import parse_create_table
from forge.sql.script import ScriptStatement, statements
from forge.sql.version_comments import as_read
from forge.values.base import Column

_CREATE = re.compile(r"\s*CREATE\s+TABLE\b", re.IGNORECASE)


@dataclass(slots=True)
class SchemaFile:
    """The CREATE TABLE statements of a file, by database and table; those of no database by "" and table."""

    tables: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def text(self, database: str, table: str) -> str | None:
        """The definition of a table, with its database."""
        found = self.tables.get((database, table))
        return found if found is not None else self.tables.get(("", table))


def schema_file(text: str, line: ServerLine, file: str | None) -> SchemaFile:
    """The definitions in a SQL script, of which everything but CREATE TABLE and USE is passed over.

    Raises ScenarioError (file, line) for a definition that cannot be read.
    """
    found: dict[tuple[str, str], str] = {}
    current = ""
    for one in statements(text):
        if not isinstance(one, ScriptStatement):
            continue
        words = one.sql.split(None, 2)
        if len(words) > 1 and words[0].upper() == "USE":
            current = words[1].strip("`;")
        if [word.upper() for word in words[:2]] != ["CREATE", "TABLE"]:
            continue
        try:
            made: CreateTable = parse_create_table(as_read(one.sql, line), line.grammar)
        except SqlError as error:
            raise error.at(file, one.place.line + one.sql.count("\n", 0, error.offset)) from None
        except ScenarioError as error:
            raise error.at(file, one.place.line) from None
        found[made.table.database or current, made.table.name] = one.sql
    return SchemaFile(found)


def logged_definitions(bodies: Iterable[object], line: ServerLine) -> SchemaFile:
    """The definitions in the QUERY events of a log that can be read."""
    found: dict[tuple[str, str], str] = {}
    for body in bodies:
        if isinstance(body, Query) and _CREATE.match(body.query):
            text = body.query.removesuffix(" START TRANSACTION")
            with suppress(ScenarioError):
                table = parse_create_table(as_read(text, line), line.grammar).table
                found[table.database or name_text(body.database), table.name] = text
    return SchemaFile(found)


def columns_of_schema(schema: SchemaFile, line: ServerLine) -> dict[str, list[tuple[Column, ...]]]:
    """The columns of each table of a schema, for :func:`forge.events.columns.declared_columns`.

    Raises ScenarioError for a definition that no server of the line takes.
    """
    found: dict[str, list[tuple[Column, ...]]] = {}
    for (database, name), text in schema.tables.items():
        entry = Transaction(statements=[Statement(ddl=text)], database=database or "unnamed")
        scenario = Scenario(scenario="schema", server=line.name, existing=[entry])
        session = opened(scenario, Places(scenario))
        state = session.catalog.known(TableRef(None, name, 0), database or "unnamed")
        if state is not None:
            forms = [replace(session.settings, mysql56_temporal_format=new) for new in (True, False)]
            found[f"{database}.{name}"] = [wire_columns(state.table, settings, line) for settings in forms]
    return found
