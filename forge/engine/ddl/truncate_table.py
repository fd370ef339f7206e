"""TRUNCATE TABLE."""

from __future__ import annotations

from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.drop_table import check_droppable
from forge.engine.dictionary.table_state import TableState
from forge.plan.definitions import TableTruncation
from forge.sql.ast.statements import TruncateTable


def truncate_table(statement: TruncateTable, context: DdlContext) -> TableTruncation:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    catalog = context.catalog
    state = context.table(statement.table)
    name = (state.table.database, state.table.name)
    if not state.table.temporary:
        check_droppable(catalog, statement.table, context.current_database, [name])
    emptied = TableState(state.definition, catalog.next_version(name))
    emptied.inserted = state.inserted
    emptied.is_logged = state.is_logged
    catalog.put(name, emptied, moves=state.table.temporary and context.line.ddl.renamed_temporary_is_last)
    temporary = state.table.temporary
    return TableTruncation(context.text, (name[0],), (emptied.table,), temporary, temporary)
