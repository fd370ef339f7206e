"""CREATE, ALTER and DROP DATABASE."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import SYSTEM_DATABASES
from forge.plan.definitions import DdlStatement
from forge.plan.engines import is_defined_atomically
from forge.sql.ast.statements import DatabaseStatement
from forge.sql.errors import SqlError


def change_database(statement: DatabaseStatement, context: DdlContext) -> DdlStatement:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    name = statement.name or context.current_database
    if not name:
        raise SqlError("no database is named, and none is current", statement.offset)
    if name.lower() in SYSTEM_DATABASES:
        raise SqlError(f"{name!r} is a system database", statement.offset, expected="another name")
    plan = DdlStatement(
        kind=statement.statement, sql=context.sql, current_database=context.current_database, databases=(name,)
    )
    if statement.statement == "create_database":
        return _create(statement, name, plan, context)
    if name not in context.catalog.databases:
        if statement.statement == "drop_database" and statement.exists:
            return replace(plan, no_effect=True)
        context.catalog.check_database(name, statement.offset)
    if statement.statement == "alter_database":
        databases = context.catalog.databases
        databases[name] = statement.charset.resolve(databases[name], context.catalog.server).id
        return plan
    return _drop(name, plan, context)


def _create(statement: DatabaseStatement, name: str, plan: DdlStatement, context: DdlContext) -> DdlStatement:
    catalog = context.catalog
    if name in catalog.databases and statement.replaces:
        plan = replace(plan, replaces=any(database == name for database, _ in catalog.tables))
        catalog.drop_database(name)
    exists = name in catalog.databases
    if exists and not statement.exists:
        raise SqlError(f"database {name!r} exists already", statement.offset)
    if not exists:
        catalog.databases[name] = statement.charset.resolve(context.line.ddl.default_collation, catalog.server).id
    return replace(plan, no_effect=exists, encrypts=not statement.encryption)


def _drop(name: str, plan: DdlStatement, context: DdlContext) -> DdlStatement:
    tables = context.catalog.tables
    dropped = tuple(table for table in tables if table[0] == name)
    irrevocable = tuple(sorted(table for table in dropped if not is_defined_atomically(tables[table].table)))
    context.catalog.drop_database(name)
    current = "" if context.current_database == name else context.current_database
    return replace(plan, current_database=current, dropped=dropped, irrevocable=irrevocable)
