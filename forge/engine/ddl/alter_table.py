"""ALTER TABLE, CREATE INDEX and DROP INDEX."""

from __future__ import annotations

from msgspec.structs import replace

from forge.engine.ddl.alter_actions import apply_action
from forge.engine.ddl.alteration import Alteration
from forge.engine.ddl.altered_definition import finish_alteration
from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.ddl.drop_table import distinct
from forge.engine.ddl.rename_table import follow_table
from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.engines import check_engine
from forge.engine.dictionary.partitions import partition_places
from forge.engine.dictionary.table_state import TableState
from forge.errors import UnsupportedError
from forge.plan.definitions import TableAlteration, TableChange
from forge.plan.tables import Table
from forge.sql.ast.actions import Action, AlterPartitions, RenameTo, SwitchKeys
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import AlterTable
from forge.sql.errors import SqlError

#: What is only done inside the storage engine, which names no database (recorded on 9.7).
_INSIDE = ("exchange", "truncate", "analyze", "repair", "check")
#: The answer of these is a table, not a change.
_ANSWERING = ("optimize", "analyze", "repair", "check")
#: What changes no record of the definition.
_TOUCHING = ("truncate", "analyze", "repair", "check")


def alter_table(statement: AlterTable, context: DdlContext) -> TableAlteration:
    """Run the statement.  Raises SqlError for what a server would refuse."""
    catalog = context.catalog
    plan = TableAlteration(context.text, form=statement.statement)
    old_name = context.resolve(statement.table)
    if statement.if_exists and catalog.find(old_name) is None:
        return replace(plan, unlogged=True, no_effect=True)
    state = context.table(statement.table)
    state.enforces_checks = catalog.checks_constraints
    before = state.table
    alteration = Alteration(state, context)
    for action in statement.actions:
        apply_action(alteration, action)
    plan = replace(
        plan,
        databases=(before.database,),
        tables=(before,),
        temporary=before.temporary,
        touches_temporary=before.temporary,
    )
    actions = alteration.applied
    if not actions:
        return replace(plan, no_effect=True, unnumbered=True)
    name = old_name if alteration.renamed is None else _new_name(alteration.renamed, before, context)
    altered = finish_alteration(alteration, name)
    check_engine(altered.table, altered.definition.keys, context.line)
    altered.is_logged = state.is_logged
    renames = all(isinstance(action, RenameTo) for action in actions)
    moves = context.line.ddl.renamed_temporary_is_last or not (renames and before.temporary)
    catalog.put(old_name, altered, moves=moves)
    follow_table(catalog, state, altered, alteration.renamed_columns())
    defined = {draft.name.lower() for draft in alteration.defined}
    plan = replace(
        plan,
        databases=distinct((before.database, name[0])),
        tables=(altered.table,),
        no_effect=name == old_name and renames,
        change=TableChange(
            before,
            tuple(column for column in altered.table.columns if column.name.lower() in defined),
            touches_names_only=all(map(_touches_names_only, actions)),
        ),
    )
    managing = next((action for action in actions if isinstance(action, AlterPartitions) and action.is_of_parts), None)
    return plan if managing is None else _of_partitions(managing, plan, altered, context)


def _new_name(target: TableRef, before: Table, context: DdlContext) -> TableName:
    # Without a database the new name is in the current one, wherever the table was (recorded).
    renamed = context.resolve(target)
    if renamed != (before.database, before.name) and renamed in context.catalog.shelf(temporary=before.temporary):
        raise SqlError(f"table {'.'.join(renamed)} exists already", target.offset)
    return renamed


def _touches_names_only(action: Action) -> bool:
    is_touching = isinstance(action, AlterPartitions) and action.kind in _TOUCHING
    return is_touching or isinstance(action, RenameTo | SwitchKeys)


def _of_partitions(
    action: AlterPartitions, plan: TableAlteration, state: TableState, context: DdlContext
) -> TableAlteration:
    """The statement as it is logged where it does something to single partitions."""
    if action.kind == "exchange":
        assert action.table is not None
        plan = replace(plan, tables=(*plan.tables, exchange(action, state, action.table, context).table))
    assert plan.change is not None
    # MySQL keeps out of the log what answers with a table, MariaDB all.
    keeps_all = context.line.ddl.local_keeps_out
    return replace(
        plan,
        databases=() if action.kind in _INSIDE else plan.databases,
        change=replace(plan.change, manages_partitions=True),
        unnumbered=action.kind in _ANSWERING,
        unlogged=action.kind == "check" or (action.local and (keeps_all or action.kind in _ANSWERING)),
    )


def exchange(action: AlterPartitions, state: TableState, ref: TableRef, context: DdlContext) -> TableState:
    """A partition and a table exchange their rows; the table.  Raises SqlError and UnsupportedError."""
    clause, choose = state.definition.partitions, state.table.partition
    other = context.table(ref)
    if clause is None or choose is None:
        raise SqlError(f"table {state.name} has no partitions", action.offset)
    if [column.type for column in state.columns] != [column.type for column in other.columns]:
        raise SqlError("Tables have different definitions", ref.offset, expected=f"the definition of {state.name}")
    if clause.inner is not None:
        raise UnsupportedError("EXCHANGE PARTITION of a table with subpartitions is not supported yet")
    place = partition_places(clause, action)[0]
    if any(choose(row) != place for row in other.rows.values()):
        raise SqlError(f"a row of {other.name} does not belong to partition {action.names[0]}", ref.offset)
    name = (other.table.database, other.table.name)
    swapped = TableState(other.definition, context.catalog.next_version(name))
    going = [number for number in state.ordered() if choose(state.rows[number]) == place]
    rows = [state.rows[number] for number in going]
    for number in going:
        state.remove(number)
    for number in other.ordered():
        state.add(other.rows[number])
    for row in rows:
        swapped.add(row)
    state.number_is_lost = swapped.number_is_lost = True
    context.catalog.tables[name] = swapped
    return swapped
