"""ANALYZE, OPTIMIZE and REPAIR TABLE, and FLUSH: what the log says of the upkeep of tables."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.ddl.context import DdlContext
from forge.plan.definitions import TableUpkeep
from forge.plan.engines import is_defined_atomically
from forge.sql.ast.objects import Upkeep
from forge.sql.errors import SqlUnsupported


def keep_up_tables(statement: Upkeep, context: DdlContext) -> TableUpkeep:
    """Run the statement.  Raises SqlError for what a server would refuse, SqlUnsupported for what is not made yet."""
    # What is not there, or a view, is the concern of the statement's answer (recorded).
    found = [context.catalog.find(context.resolve(ref)) for ref in statement.names]
    states = [state for state in found if state is not None]
    tables = [state.table for state in states]
    anew = statement.remakes or statement.repairs
    read = []
    for state in states:
        is_made = anew and is_defined_atomically(state.table)
        if is_made or not state.is_open:
            read.append(state.definition)
        state.is_open = not is_made
    plan = TableUpkeep(
        replace(context.reading(*read), sent=context.sql),
        touches_temporary=any(table.temporary for table in tables),
        zone=statement.zone,
        commits=not statement.flushes,
    )
    if statement.local:
        return replace(plan, unlogged=True)
    if plan.touches_temporary and statement.remakes:
        raise SqlUnsupported("OPTIMIZE TABLE of temporary tables is not supported yet", statement.offset)
    if statement.repairs and context.line.ddl.repair_remakes:
        repaired = tuple(table for table in tables if table.partition is None and is_defined_atomically(table))
        return replace(plan, tables=repaired, method="metadata")
    remade = tuple(table for table in tables if statement.remakes and is_defined_atomically(table))
    if not remade:
        return plan
    databases = tuple(dict.fromkeys(table.database for table in remade))
    return replace(plan, databases=databases, tables=remade, method="in_place")
