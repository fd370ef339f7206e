"""Databases, views, triggers, sequences and the upkeep of tables: what their statements are logged as.

Servers write most of these statements anew, with the definer and names that they stand for (recorded on 9.7; of
MariaDB on servers without grant tables).  What the objects do is not followed: the rows that a trigger changes are
declared with the statement that fires it.
"""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import SYSTEM_DATABASES, ObjectName, trigger_of
from forge.plan.definitions import (
    DatabaseAlteration,
    DatabaseCreation,
    DatabaseDefinition,
    DatabaseDrop,
    DroppedTable,
    ObjectDefinition,
    TableUpkeep,
)
from forge.plan.tables import is_defined_atomically
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.objects import CreateTrigger, DropObjects, SequenceStatement, Upkeep, ViewStatement
from forge.sql.ast.statements import DatabaseStatement
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.lexer import tokenize
from forge.sql.words import calls
from forge.sql.write import qualified, trigger_sql, view_sql


def change_view(view: ViewStatement, context: DdlContext) -> ObjectDefinition:
    """CREATE and ALTER VIEW.  Raises SqlError for what a server would refuse, SqlUnsupported for unknown forms."""
    catalog, current = context.catalog, context.current_database
    name = ("view", *context.resolve(view.name))
    if catalog.lowers_names:
        view = replace(view, name=replace(view.name, database=view.name.database and name[1], name=name[2]))
    if context.line.ddl.views_log_seeds and calls(tokenize(view.body), "RAND", "FROM_UNIXTIME"):
        # It logs the seeds before the view, 10.11 the time zone with it.
        problem = "views of MariaDB with RAND or FROM_UNIXTIME are not supported yet"
        raise SqlUnsupported(problem, view.name.offset)
    text = view_sql(view, view.definer or context.line.query.session_user, current)
    plan = _planned(text, context, name)
    if view.verb == "alter":
        _check_exists(context, view.name, name)
        return plan
    plan = replace(plan, invoker=view.definer is None)
    if name[1:] in catalog.tables:
        raise SqlError(f"{name[1]}.{name[2]} is a table", view.name.offset, expected="another name")
    if catalog.has_object(name):
        if view.exists:
            return replace(plan, no_effect=True)
        if not view.replaces:
            raise SqlError(f"view {view.name.name!r} exists already", view.name.offset)
    catalog.objects[name] = None
    return plan


def create_trigger(trigger: CreateTrigger, context: DdlContext) -> ObjectDefinition:
    """CREATE TRIGGER.  Raises SqlError for what a server would refuse."""
    catalog = context.catalog
    name = ("trigger", *context.resolve(trigger.name))
    text = trigger_sql(trigger, trigger.definer or context.line.query.session_user)
    fraction = context.line.ddl.dates_triggers
    plan = replace(_planned(text, context, name), fraction=fraction, invoker=trigger.definer is None)
    # Without a database the table is in the trigger's.
    table = catalog.resolve(trigger.table, name[1])
    if table not in catalog.tables:
        raise SqlError(f"there is no table {'.'.join(table)}", trigger.table.offset)
    if catalog.has_object(name):
        if trigger.exists:
            return replace(plan, no_effect=True)
        raise SqlError(f"trigger {trigger.name.name!r} exists already", trigger.name.offset)
    catalog.objects[name] = table
    catalog.triggers[name] = trigger_of(trigger, table)
    return plan


def keep_up_tables(statement: Upkeep, context: DdlContext) -> TableUpkeep:
    """ANALYZE, OPTIMIZE and REPAIR TABLE, and FLUSH."""
    # What is not there, or a view, is the concern of the statement's answer (recorded).
    found = [context.catalog.find(context.resolve(ref)) for ref in statement.names]
    tables = [state.table for state in found if state is not None]
    remade = tuple(table for table in tables if statement.remakes and is_defined_atomically(table))
    return TableUpkeep(
        replace(context.text, sent=context.sql),
        databases=tuple(dict.fromkeys(table.database for table in remade)),
        tables=remade,
        touches_temporary=any(table.temporary for table in tables),
        unlogged=statement.local,
        commits=not statement.flushes,
    )


def drop_objects(statement: DropObjects, context: DdlContext) -> ObjectDefinition:
    """DROP VIEW and DROP TRIGGER.  Raises SqlError for what is not there."""
    names = [(statement.kind, *context.resolve(ref)) for ref in statement.names]
    exists = any(map(context.catalog.has_object, names))
    for ref, name in zip(statement.names, names, strict=True):
        if not statement.exists:
            _check_exists(context, ref, name)
    plan = _planned(context.sql, context, *names)
    for name in names:
        context.catalog.objects.pop(name, None)
    return plan if exists else replace(plan, databases=(), no_effect=True)


def _planned(text: str, context: DdlContext, *names: ObjectName) -> ObjectDefinition:
    databases = tuple(dict.fromkeys(database for _, database, _ in names))
    return ObjectDefinition(replace(context.text, sql=text, sent=context.sql), databases)


def _check_exists(context: DdlContext, ref: TableRef, name: ObjectName) -> None:
    if not context.catalog.has_object(name):
        raise SqlError(f"there is no {name[0]} {ref.name!r}", ref.offset)


def change_sequence(statement: SequenceStatement, context: DdlContext) -> ObjectDefinition:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    catalog, current = context.catalog, context.current_database
    names = [context.resolve(ref) for ref in statement.names]
    exists = [("sequence", *name) in catalog.objects for name in names]
    text = replace(context.text, sent=context.sql)
    if statement.verb == "create":
        ref, name = statement.names[0], names[0]
        if name in catalog.tables:
            raise SqlError(f"{ref.name!r} is a table", ref.offset, expected="another name")
        if exists[0] and not (statement.exists or statement.replaces):
            raise SqlError(f"sequence {ref.name!r} exists already", ref.offset)
        catalog.objects[("sequence", *name)] = None
        if exists[0] and statement.exists:
            return ObjectDefinition(text, unlogged=True, no_effect=True)
        return ObjectDefinition(text, replaces=exists[0])
    for ref, there in zip(statement.names, exists, strict=True):
        if not there and not statement.exists:
            raise SqlError(f"there is no sequence {ref.name!r}", ref.offset)
    if statement.verb == "alter":
        return ObjectDefinition(text, unlogged=not exists[0], numbered=False)
    for name in names:
        catalog.objects.pop(("sequence", *name), None)
    texts = [qualified(*name, current) for name in names]
    condition = "IF EXISTS " if statement.exists else ""
    sql = f"DROP SEQUENCE {condition}{','.join(texts)} /* generated by server */"
    return ObjectDefinition(replace(text, sql=sql), replaces=True)


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
    return DatabaseCreation(context.text, (name,), no_effect=exists, replaces=replaces)


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
