"""Views and triggers: what their statements are logged as.

Servers write most of these statements anew, with the definer and names that they stand for (recorded on 9.7; of
MariaDB on servers without grant tables).  What the objects do is not followed: the rows that a trigger changes are
declared with the statement that fires it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import ObjectName
from forge.engine.dictionary.triggers import trigger_of
from forge.engine.dictionary.view_columns import moments_of
from forge.plan.definitions import DdlStatement
from forge.sql.ast.objects import Definer, ObjectStatement, Piece
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.write.identifiers import identifier, qualified


def change_object(statement: ObjectStatement, context: DdlContext) -> DdlStatement:
    """Run the statement.  Raises SqlError for what a server would refuse, SqlUnsupported for what is not made yet."""
    catalog, current = context.catalog, context.current_database
    names = [(statement.kind, *context.resolve(ref)) for ref in statement.names]
    exists = [catalog.has_object(name) for name in names]
    plan = DdlStatement(
        kind="other",
        sql="".join(_piece(piece, context) for piece in statement.pieces) or context.sql,
        current_database=current,
        databases=tuple(dict.fromkeys(name[1] for name in names)),
        invoker=statement.invoker,
        atomic=True,
        replayed=context.sql,
    )
    facts = context.line.ddl
    if re.search(r"\b(?:RAND|FROM_UNIXTIME)\s*\(", statement.body, re.IGNORECASE) and facts.views_log_seeds:
        # It logs the seeds before the view, 10.11 the time zone with it.
        raise SqlUnsupported("views of MariaDB with RAND or FROM_UNIXTIME are not supported yet", statement.offset)
    if statement.body and facts.views_check_defaults:
        moments = moments_of(catalog, statement.body, current, statement.columns, statement.names[0].offset)
        catalog.view_moments[names[0][1:]] = moments
        plan = replace(plan, zone=bool(moments))
    if statement.verb == "create":
        return _create(statement, names[0], plan, context)
    for ref, there in zip(statement.names, exists, strict=True):
        if not there and not statement.exists:
            raise SqlError(f"there is no {statement.kind} {ref.name!r}", ref.offset)
    if statement.verb == "alter":
        return plan
    for name in names:
        catalog.objects.pop(name, None)
    return plan if any(exists) else replace(plan, databases=(), no_effect=True)


def _create(statement: ObjectStatement, name: ObjectName, plan: DdlStatement, context: DdlContext) -> DdlStatement:
    catalog, ref = context.catalog, statement.names[0]
    if statement.kind == "view" and name[1:] in catalog.tables:
        raise SqlError(f"{name[1]}.{name[2]} is a table", ref.offset, expected="another name")
    plan = replace(plan, fraction=statement.kind == "trigger")
    table = None
    if statement.table is not None:
        # Without a database the table is in the trigger's.
        table = catalog.resolve(statement.table, name[1])
        if table not in catalog.tables:
            raise SqlError(f"there is no table {'.'.join(table)}", statement.table.offset)
    if catalog.has_object(name):
        if statement.exists:
            return replace(plan, no_effect=True)
        if not statement.replaces:
            raise SqlError(f"{statement.kind} {ref.name!r} exists already", ref.offset)
    catalog.objects[name] = table
    trigger = trigger_of(context.sql, table) if table is not None else None
    if trigger is not None:
        catalog.triggers[name] = trigger
    return plan


def _piece(piece: Piece, context: DdlContext) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Definer):
        user, host = piece.account or context.line.query.session_user
        return identifier(user) + (f"@{identifier(host)}" if host or user else "")
    current = context.current_database
    return qualified(piece.database or current, piece.name, current)
