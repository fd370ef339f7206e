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
from forge.events.column_kinds import is_character, is_enum, is_set
from forge.events.columns import columns_of
from forge.events.plain import name_text
from forge.events.query import Query
from forge.events.table_map import TableMap
from forge.render.column_facts import ColumnFacts, column_facts
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
from forge.sql.write import identifier
from forge.values.base import Column

#: Members that a table map does not name, of which there are more than one byte can count, or fewer.
_CREATE = re.compile(r"\s*CREATE\s+TABLE\b", re.IGNORECASE)
_MEMBERS = {1: 255, 2: 256}


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


def definition_of(mapped: TableMap, line: ServerLine, *, engine: str | None) -> str:
    """CREATE TABLE of a table that has this table map.  Raises ForgeError where it cannot be read."""
    columns = columns_of(mapped, mariadb=line.family == "mariadb")
    facts = column_facts(mapped, columns, mariadb=line.family == "mariadb")
    names = [fact.name if fact.name is not None else f"col{fact.position}" for fact in facts]
    lines = [
        f"  {identifier(name)} {_type(column, fact)}{_charset(column, fact)} {_nullability(fact)}"
        for name, column, fact in zip(names, columns, facts, strict=True)
    ]
    key = mapped.primary_key()
    if key:
        parts = ", ".join(identifier(names[index]) + (f"({prefix})" if prefix else "") for index, prefix in key)
        lines.append(f"  PRIMARY KEY ({parts})")
    table = f"{identifier(name_text(mapped.database))}.{identifier(name_text(mapped.table))}"
    return f"CREATE TABLE {table} (\n" + ",\n".join(lines) + "\n)" + (f" ENGINE={engine}" if engine else "")


def _type(column: Column, fact: ColumnFacts) -> str:
    if column.members is not None or not (is_enum(column) or is_set(column)):
        # A length in bytes is one in characters of latin1.
        return fact.sql_type.replace(" bytes)", ")")
    size = column.metadata[1] if len(column.metadata) == 2 else 1
    count = _MEMBERS.get(size, 255) if is_enum(column) else 8 * size
    return f"{fact.sql_type}({','.join(repr(str(number)) for number in range(1, count + 1))})"


def _nullability(fact: ColumnFacts) -> str:
    # Old servers give a TIMESTAMP without a default one that a strict mode refuses.
    default = " DEFAULT '1970-01-02 00:00:00'" if fact.sql_type.startswith("TIMESTAMP") else ""
    return "NULL" if fact.nullable else f"NOT NULL{default}"


def _charset(column: Column, fact: ColumnFacts) -> str:
    if fact.collation is not None:
        return f" CHARACTER SET {fact.charset} COLLATE {fact.collation}"
    words = fact.sql_type.upper()
    texts = is_character(column) and "BINARY" not in words and "BLOB" not in words
    # Of the same number of bytes as the metadata says.
    return " CHARACTER SET latin1" if texts or is_enum(column) or is_set(column) else ""


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
