"""RENAME TABLE, and what follows a table to its new name."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from msgspec.structs import replace

from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.ddl.drop_table import distinct
from forge.engine.dictionary.catalog import Catalog, TableName
from forge.engine.dictionary.foreign_key_definition import follow_parent, renamed_constraints
from forge.engine.dictionary.table_state import TableState
from forge.engine.dictionary.tables import plan_table
from forge.plan.definitions import TableRename
from forge.sql.ast.statements import RenameTables


def rename_tables(statement: RenameTables, context: DdlContext) -> TableRename:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    catalog = context.catalog
    renamed: list[TableName] = []
    for old, new in statement.pairs:
        if statement.if_exists and catalog.find(context.resolve(old)) is None:
            continue
        # MySQL renames no temporary tables, and does not see them here.
        sees_temporary = context.line.ddl.renames_temporary
        hidden = None if sees_temporary else catalog.tables.get(context.resolve(old))
        state = hidden or context.table(old)
        name = context.resolve(new)
        catalog.check_free(name, new.offset, temporary=state.table.temporary)
        _rename(catalog, state, name)
        renamed.append(name)
    return TableRename(
        context.text,
        databases=distinct(
            catalog.name_of(ref, context.current_database)[0] for pair in statement.pairs for ref in pair
        ),
        tables=tuple(catalog.tables[name].table for name in renamed if name in catalog.tables),
    )


def _rename(catalog: Catalog, state: TableState, name: TableName) -> None:
    before = copy.copy(state)
    old = (state.table.database, state.table.name)
    own = tuple(
        replace(foreign, parent=name) if foreign.parent == old else foreign for foreign in state.definition.foreign_keys
    )
    renamed = replace(state.definition, database=name[0], name=name[1], foreign_keys=own)
    state.definition = renamed_constraints(renamed, old[1])
    state.table = plan_table(state.definition, catalog.next_version(name))
    catalog.put(old, state, moves=not state.table.temporary)
    follow_table(catalog, before, state, {})


def follow_table(catalog: Catalog, before: TableState, after: TableState, renamed: Mapping[str, str]) -> None:
    """What belongs to a table goes with it: its triggers, and the foreign keys that refer to it.

    ``renamed`` are columns, the old name in lower case to the new one.  Raises SqlError where a child forbids it.
    """
    old, new = ((state.table.database, state.table.name) for state in (before, after))
    if after.table.temporary:
        return
    follow_parent(catalog, before.definition, after.definition, renamed)
    for name, table in list(catalog.objects.items()):
        if table == old:
            catalog.objects[name] = new
    for name, trigger in catalog.triggers.items():
        if trigger.table == old:
            catalog.triggers[name] = replace(trigger, table=new)
