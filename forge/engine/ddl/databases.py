"""CREATE, ALTER and DROP DATABASE."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import SYSTEM_DATABASES
from forge.plan.definitions import DatabaseAlteration, DatabaseCreation, DatabaseDefinition, DatabaseDrop, DroppedTable
from forge.plan.tables import is_defined_atomically
from forge.sql.ast.statements import DatabaseStatement
from forge.sql.errors import SqlError


def change_database(statement: DatabaseStatement, context: DdlContext) -> DatabaseDefinition:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    name = context.catalog.kept_name(statement.name or context.current_database)
    if not name:
        raise SqlError("no database is named, and none is current", statement.offset)
    if name.lower() in SYSTEM_DATABASES:
        raise SqlError(f"{name!r} is a system database", statement.offset, expected="another name")
    databases = context.catalog.databases
    if statement.statement == "create_database":
        return _create(statement, name, context)
    if name not in databases:
        if statement.statement == "drop_database" and statement.exists:
            return DatabaseDrop(context.text, (name,), no_effect=True)
        context.catalog.check_database(name, statement.offset)
    if statement.statement == "alter_database":
        databases[name] = statement.charset.resolve(databases[name], context.catalog.server).id
        return DatabaseAlteration(context.text, (name,))
    return _drop(name, context)


def _create(statement: DatabaseStatement, name: str, context: DdlContext) -> DatabaseCreation:
    catalog, replaces = context.catalog, False
    if name in catalog.databases and statement.replaces:
        replaces = any(database == name for database, _ in catalog.tables)
        catalog.drop_database(name)
    exists = name in catalog.databases
    if exists and not statement.exists:
        raise SqlError(f"database {name!r} exists already", statement.offset)
    if not exists:
        catalog.databases[name] = statement.charset.resolve(catalog.new_collation, catalog.server).id
    return DatabaseCreation(
        context.text, (name,), no_effect=exists, replaces=replaces, encrypts=not statement.encryption
    )


def _drop(name: str, context: DdlContext) -> DatabaseDrop:
    tables = context.catalog.tables
    inside = tuple(
        DroppedTable(table, transactional=is_defined_atomically(tables[table].table))
        for table in sorted(tables)
        if table[0] == name
    )
    context.catalog.drop_database(name)
    text = context.text
    current = "" if text.current_database == name else text.current_database
    return DatabaseDrop(replace(text, current_database=current), (name,), inside=inside)
