"""ALTER, DROP, RENAME and TRUNCATE TABLE: what they do to the catalog."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forge.engine.ddl.alter_copy import Kept, copies_moments
from forge.engine.ddl.alter_method import alter_method, keeps_keys
from forge.engine.ddl.alteration import Alteration
from forge.engine.ddl.dropped_tables import check_droppable, distinct
from forge.engine.ddl.partition_upkeep import manage_partitions
from forge.engine.dictionary.engines import check_engine
from forge.engine.dictionary.foreign_key_definition import declared_references, follow_parent, renamed_constraints
from forge.engine.dictionary.partitions import has_text_values, names_text_values
from forge.engine.rows.defaults import StatementTime
from forge.engine.rows.state import TableState
from forge.plan.definitions import AlterMethod, DdlStatement
from forge.plan.tables import Table, TableColumn
from forge.servers import server_line
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
from forge.sql.ast.statements import AlterTable, RenameTables, TruncateTable
from forge.sql.errors import SqlError

if TYPE_CHECKING:
    from forge.engine.dictionary.catalog import Catalog

TableName = tuple[str, str]


def alter_table(catalog: Catalog, statement: AlterTable, sql: str, current: str, time: StatementTime) -> DdlStatement:
    """ALTER TABLE, CREATE INDEX, DROP INDEX.  Raises SqlError."""
    result = DdlStatement(kind=statement.statement, sql=sql, current_database=current)
    database = catalog.database_of(statement.table, current)
    if statement.if_exists and catalog.find((database, statement.table.name)) is None:
        return replace(result, unlogged=True, no_effect=True)
    state = catalog.state_of(statement.table, current)
    before = state.table
    if before.temporary and any(isinstance(action, AlterPartitions) for action in statement.actions):
        raise SqlError("a temporary table has no partitions", statement.table.offset)
    alteration = Alteration(state, catalog.server, catalog.databases[database], zero_dates=catalog.zero_dates)
    for action in _with_replaced_key(statement, state):
        alteration.apply(action)
    result = replace(result, databases=(database,), tables=(before,), altered=before)
    result = replace(result, temporary=before.temporary, touches_temporary=before.temporary)
    actions = alteration.done
    later = any(_is_told_later(action) for action in alteration.skipped)
    copies = statement.algorithm == "copy" and server_line(catalog.server).family == "mysql"
    if not actions and not later and not copies:
        return replace(result, no_effect=True, unnumbered=True)
    partitioning = [action for action in actions if isinstance(action, AlterPartitions)]
    by_text = _parses_text(state, partitioning)
    name = old_name = (before.database, before.name)
    if alteration.renamed is not None:
        name = _new_name(catalog, alteration.renamed, before, current)
    altered = alteration.finish(name, catalog.next_version(name), time, catalog, current)
    check_engine(altered.table, altered.definition.keys, catalog.server)
    altered.is_logged = state.is_logged
    renames = bool(actions) and all(isinstance(action, RenameTo) for action in actions)
    mysql = server_line(catalog.server).family == "mysql"
    catalog.put(old_name, altered, moves=mysql or not (renames and before.temporary))
    _follow(catalog, state, altered, alteration.renamed_columns())
    if catalog.generates_keys and state.clustering is not None and altered.clustering is None:
        # ER_NOT_SUPPORTED_YET: "an operation that leaves the table without a PRIMARY KEY" (recorded).
        raise SqlError("a table keeps its primary key while sql_generate_invisible_primary_key is on", 0)
    kept = alteration.kept(altered)
    result = replace(
        result,
        databases=distinct((before.database, name[0])),
        tables=(altered.table,),
        defines=_defined_columns(alteration.defined, altered.table.columns),
        no_effect=name == old_name and renames,
        method=_method(catalog, statement.algorithm, actions, state, altered, kept),
        copies_moments=copies_moments(state, kept),
        unchanged=keeps_keys(actions, state, altered),
        asks_engine=_asks_engine(statement, alteration, state, altered),
        partitioned_by_text=by_text,
    )
    if not partitioning or len(partitioning) < len(actions):
        return result
    return manage_partitions(catalog, partitioning[0], result, altered, current)


def _with_replaced_key(statement: AlterTable, state: TableState) -> Sequence[Action]:
    """CREATE OR REPLACE INDEX drops the key of that name first."""
    if not statement.replaces:
        return statement.actions
    names = {action.key.name for action in statement.actions if isinstance(action, AddKey)}
    known = [key.name for key in state.table.keys if key.name.lower() in {(name or "").lower() for name in names}]
    return (*(DropKey(name, 0) for name in known), *statement.actions)


def _is_told_later(action: Action) -> bool:
    """What IF EXISTS keeps from happening so late that the statement has a number (recorded on MariaDB)."""
    if isinstance(action, ChangeColumn):
        return action.old.lower() != action.column.name.lower()
    return isinstance(action, (RenameColumn, RenameKey, DropCheck))


def _parses_text(state: TableState, partitioning: Sequence[AlterPartitions]) -> bool:
    """Whether values of partitions that are text are parsed: a definition that is not open any more is, too."""
    clause = state.definition.partitions
    parsed = has_text_values(clause) and not state.is_open
    return parsed or any(names_text_values(clause, action) for action in partitioning)


def _new_name(catalog: Catalog, target: TableRef, before: Table, current: str) -> TableName:
    # Without a database the new name is in the current one, wherever the table was (recorded).
    renamed = (catalog.database_of(target, current), target.name)
    if renamed != (before.database, before.name) and renamed in catalog.shelf(temporary=before.temporary):
        raise SqlError(f"table {'.'.join(renamed)} exists already", target.offset)
    return renamed


def _asks_engine(statement: AlterTable, alteration: Alteration, before: TableState, after: TableState) -> bool:
    """Whether MariaDB asks the engine for a way without a copy (recorded on 10.11 and 11.8)."""
    actions, skipped = alteration.done, alteration.skipped
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
    catalog: Catalog,
    algorithm: str,
    actions: Sequence[Action],
    before: TableState,
    after: TableState,
    kept: Kept,
) -> AlterMethod:
    """How the server makes the change.  Raises SqlError for ALGORITHM that it cannot follow (1846)."""
    line = server_line(catalog.server)
    # The rows are held against the parents as the table is copied (recorded on 9.7).
    held = catalog.foreign_key_checks and any(
        isinstance(action, AddForeignKey)
        or (isinstance(action, (AddColumn, ChangeColumn)) and declared_references([action.column], line))
        for action in actions
    )
    held |= before.table.temporary and not all(isinstance(action, RenameTo) for action in actions)
    if algorithm == "copy":
        return "copy"
    method = "copy" if held else alter_method(actions, before, after, kept, algorithm)
    impossible = {"inplace": ("copy",), "instant": ("copy", "in_place")}
    if line.family == "mysql" and method in impossible.get(algorithm, ()):
        raise SqlError(f"ALGORITHM={algorithm.upper()} is not possible for this change", 0)
    return method


def _follow(catalog: Catalog, before: TableState, after: TableState, renamed: Mapping[str, str]) -> None:
    """What belongs to a table goes with it: its triggers, and the foreign keys that refer to it."""
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


def rename_tables(catalog: Catalog, statement: RenameTables, sql: str, current: str) -> DdlStatement:
    """RENAME TABLE.  Raises SqlError."""
    moved: list[TableName] = []
    for old, new in statement.pairs:
        if statement.if_exists and catalog.find((catalog.database_of(old, current), old.name)) is None:
            continue
        state = _renamed(catalog, old, current)
        name = catalog.free_name(new, current, temporary=state.table.temporary)
        _move(catalog, state, name)
        moved.append(name)
    return DdlStatement(
        kind="rename_table",
        sql=sql,
        current_database=current,
        databases=distinct(ref.database or current for pair in statement.pairs for ref in pair),
        tables=tuple(catalog.tables[name].table for name in moved if name in catalog.tables),
    )


def _move(catalog: Catalog, state: TableState, name: TableName) -> None:
    before = copy.copy(state)
    old = (state.table.database, state.table.name)
    own = tuple(
        replace(foreign, parent=name) if foreign.parent == old else foreign for foreign in state.definition.foreign_keys
    )
    renamed = replace(state.definition, database=name[0], name=name[1], foreign_keys=own)
    state.definition = renamed_constraints(renamed, old[1])
    state.table = state.definition.table(catalog.next_version(name))
    catalog.put(old, state, moves=not state.table.temporary)
    _follow(catalog, before, state, {})


def _renamed(catalog: Catalog, ref: TableRef, current: str) -> TableState:
    """The table that is meant: MySQL renames no temporary ones, and does not see them here.  Raises SqlError."""
    name = (catalog.database_of(ref, current), ref.name)
    if server_line(catalog.server).family == "mariadb" or name not in catalog.temporary:
        return catalog.state_of(ref, current)
    if name not in catalog.tables:
        expected = "ALTER TABLE ... RENAME of a temporary table"
        raise SqlError(f"there is no table {'.'.join(name)} but a temporary one", ref.offset, expected=expected)
    return catalog.tables[name]


def truncate_table(catalog: Catalog, statement: TruncateTable, sql: str, current: str) -> DdlStatement:
    """TRUNCATE TABLE.  Raises SqlError."""
    state = catalog.state_of(statement.table, current)
    name = (state.table.database, state.table.name)
    if state.table.engine == "ARCHIVE":
        raise SqlError(f"ARCHIVE table {state.name} cannot be emptied (error 1031)", statement.table.offset)
    if not state.table.temporary:
        check_droppable(catalog, statement.table, current, [name])
    emptied = TableState(state.definition, catalog.next_version(name))
    emptied.inserted = state.inserted
    emptied.is_logged = state.is_logged
    catalog.put(name, emptied, moves=state.table.temporary and server_line(catalog.server).family == "mysql")
    return DdlStatement(
        kind="truncate_table",
        sql=sql,
        current_database=current,
        databases=(name[0],),
        tables=(emptied.table,),
        temporary=state.table.temporary,
        touches_temporary=state.table.temporary,
    )


def _defined_columns(names: Iterable[str], columns: tuple[TableColumn, ...]) -> tuple[TableColumn, ...]:
    wanted = {name.lower() for name in names}
    return tuple(column for column in columns if column.name.lower() in wanted)
