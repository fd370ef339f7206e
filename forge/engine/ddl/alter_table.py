"""ALTER TABLE, CREATE INDEX and DROP INDEX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.engine.ddl.alter_actions import apply_action
from forge.engine.ddl.alter_copy import (
    Kept,
    changes_timestamps,
    check_changed_moments,
    check_copied_moments,
    copies_moments,
)
from forge.engine.ddl.alter_method import alter_method, keeps_keys
from forge.engine.ddl.alteration import Alteration
from forge.engine.ddl.altered_definition import finish_alteration
from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.drop_table import distinct
from forge.engine.ddl.partition_upkeep import manage_partitions
from forge.engine.ddl.rename_table import follow_table
from forge.engine.ddl.timestamp_columns import with_timestamps
from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.column_defaults import check_clocks, check_read_again
from forge.engine.dictionary.engines import check_engine
from forge.engine.dictionary.foreign_key_definition import declared_references
from forge.engine.dictionary.generated_moments import check_generated_moments
from forge.engine.dictionary.table_state import TableState
from forge.plan.definitions import AlterMethod, TableAlteration, TableChange
from forge.plan.tables import Table
from forge.sql.ast.alter_actions import (
    Action,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterPartitions,
    ChangeColumn,
    DropCheck,
    DropKey,
    OrderRows,
    RenameColumn,
    RenameKey,
    RenameTo,
    SwitchKeys,
)
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import AlterTable
from forge.sql.errors import SqlError


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
    if before.temporary and any(isinstance(action, AlterPartitions) for action in statement.actions):
        raise SqlError("a temporary table has no partitions", statement.table.offset)
    alteration = Alteration(
        state, catalog.server, catalog.databases[old_name[0]], dialect=catalog.dialect, clips=catalog.clips,
        forbids_zero_dates=catalog.forbids_zero_dates,
    )  # fmt: skip
    for action in with_timestamps(_with_replaced_key(statement, state), state, catalog):
        apply_action(alteration, action)
    plan = replace(
        plan,
        databases=(before.database,),
        tables=(before,),
        temporary=before.temporary,
        touches_temporary=before.temporary,
    )
    actions = alteration.applied
    later = any(_is_told_later(action) for action in alteration.skipped)
    copies = statement.algorithm == "copy" and context.line.ddl.copy_is_a_change
    if not actions and not later and not copies:
        return replace(plan, no_effect=True, unnumbered=True)
    managing = next((action for action in actions if isinstance(action, AlterPartitions) and action.is_of_parts), None)
    name = old_name if alteration.renamed is None else _new_name(alteration.renamed, before, context)
    altered = finish_alteration(alteration, name, context)
    check_engine(altered.table, altered.definition.keys, catalog.server)
    check_generated_moments(altered.definition)
    altered.is_logged = state.is_logged
    renames = bool(actions) and all(isinstance(action, RenameTo) for action in actions)
    moves = context.line.ddl.renamed_temporary_is_last or not (renames and before.temporary)
    catalog.put(old_name, altered, moves=moves)
    follow_table(catalog, state, altered, alteration.renamed_columns())
    if catalog.generates_keys and state.clustering is not None and altered.clustering is None:
        # ER_NOT_SUPPORTED_YET: "an operation that leaves the table without a PRIMARY KEY" (recorded).
        raise SqlError("a table keeps its primary key while sql_generate_invisible_primary_key is on", 0)
    if catalog.requires_keys and altered.table.primary_key is None:
        raise SqlError(f"table {altered.name} has no primary key", 0, expected="one, by sql_require_primary_key")
    kept = alteration.kept(altered)
    for _, old, new in kept if not renames else ():
        check_read_again(old, new)
    asks_engine = _asks_engine(statement, alteration, state, altered)
    if asks_engine and context.line.grammar.loose_clock_defaults:
        check_clocks(altered.columns)
    check_changed_moments(state, kept)
    method = _method(context, statement.algorithm, actions, state, altered, kept)
    if method == "copy":
        check_copied_moments(state, kept, forbidden=catalog.forbids_zero_dates)
    defined = {draft.name.lower() for draft in alteration.defined}
    read = [] if state.is_open else [state.definition]
    read += [] if renames or managing is not None else [altered.definition]
    plan = replace(
        plan,
        text=context.reading(*read),
        databases=distinct((before.database, name[0])),
        tables=(altered.table,),
        no_effect=name == old_name and renames,
        change=TableChange(
            before,
            method,
            tuple(column for column in altered.table.columns if column.name.lower() in defined),
            tuple(old.column for _, old, new in kept if new.name.lower() not in defined),
            fills_rows=bool(state.rows),
            copies_moments=copies_moments(state, kept),
            changes_timestamps=changes_timestamps(state, kept),
            unchanged=keeps_keys(actions, state, altered),
            asks_engine=asks_engine,
        ),
    )
    return plan if managing is None else manage_partitions(managing, plan, altered, context)


def _with_replaced_key(statement: AlterTable, state: TableState) -> Sequence[Action]:
    """CREATE OR REPLACE INDEX drops the key of that name first."""
    if not statement.replaces:
        return statement.actions
    names = {action.key.name for action in statement.actions if isinstance(action, AddKey)}
    replaced = [key.name for key in state.table.keys if key.name.lower() in {(name or "").lower() for name in names}]
    return (*(DropKey(name, 0) for name in replaced), *statement.actions)


def _is_told_later(action: Action) -> bool:
    """What IF EXISTS keeps from happening so late that the statement has a number (recorded on MariaDB)."""
    if isinstance(action, ChangeColumn):
        return action.old.lower() != action.column.name.lower()
    return isinstance(action, (RenameColumn, RenameKey, DropCheck))


def _new_name(target: TableRef, before: Table, context: DdlContext) -> TableName:
    # Without a database the new name is in the current one, wherever the table was (recorded).
    renamed = context.resolve(target)
    if renamed != (before.database, before.name) and renamed in context.catalog.shelf(temporary=before.temporary):
        raise SqlError(f"table {'.'.join(renamed)} exists already", target.offset)
    return renamed


def _asks_engine(statement: AlterTable, alteration: Alteration, before: TableState, after: TableState) -> bool:
    """Whether MariaDB asks the engine for a way without a copy (recorded on 10.11 and 11.8)."""
    actions, skipped = alteration.applied, alteration.skipped
    if statement.algorithm == "copy" or before.table.engine != after.table.engine or keeps_keys(actions, before, after):
        return False
    if not actions and not any(isinstance(action, (RenameKey, DropCheck)) for action in skipped):
        return False
    if all(isinstance(action, (RenameTo, SwitchKeys)) for action in actions) and actions:
        return False
    if any(isinstance(action, (OrderRows, SwitchKeys)) for action in actions):
        return False
    return all(not isinstance(action, AlterPartitions) or action.kind == "optimize" for action in actions)


def _method(
    context: DdlContext,
    algorithm: str,
    actions: Sequence[Action],
    before: TableState,
    after: TableState,
    kept: Kept,
) -> AlterMethod:
    """How the server makes the change.  Raises SqlError for ALGORITHM that it cannot follow (1846)."""
    line = context.line
    # The rows are held against the parents as the table is copied (recorded on 9.7).
    held = context.catalog.foreign_key_checks and any(
        isinstance(action, AddForeignKey)
        or (isinstance(action, (AddColumn, ChangeColumn)) and declared_references([action.column], line))
        for action in actions
    )
    # Without strict mode NULLs that are in the way become other values (recorded on 9.7).
    held |= context.catalog.clips and any(old.column.nullable and not new.column.nullable for _, old, new in kept)
    held |= before.table.temporary and not all(isinstance(action, RenameTo) for action in actions)
    if algorithm == "copy":
        return "copy"
    method = "copy" if held else alter_method(actions, before, after, kept, algorithm)
    impossible = {"inplace": ("copy",), "instant": ("copy", "in_place")}
    if line.ddl.refuses_algorithms and method in impossible.get(algorithm, ()):
        raise SqlError(f"ALGORITHM={algorithm.upper()} is not possible for this change", 0)
    return method
