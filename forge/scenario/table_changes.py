"""ALTER, DROP, RENAME and TRUNCATE TABLE: what they do to the catalog."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forge.compile.grouping import is_transactional
from forge.compile.statements import AlterMethod, DdlStatement
from forge.compile.tables import TableColumn
from forge.scenario.alter_copy import Kept, copies_moments
from forge.scenario.alter_method import alter_method
from forge.scenario.alteration import Alteration
from forge.scenario.engines import check_engine
from forge.scenario.foreign_key_definition import children_of, declared_references, follow_parent, renamed_constraints
from forge.scenario.partitions import has_text_values, names_text_values
from forge.scenario.rows import StatementTime
from forge.scenario.state import TableState
from forge.scenario.syntax import (
    AddColumn,
    AddForeignKey,
    AlterPartitions,
    AlterTable,
    ChangeColumn,
    DropTables,
    RenameTables,
    RenameTo,
    TableRef,
    TruncateTable,
)
from forge.scenario.tokens import SqlError
from forge.servers import server_line

if TYPE_CHECKING:
    from forge.scenario.catalog import Catalog

TableName = tuple[str, str]


def alter_table(catalog: Catalog, statement: AlterTable, sql: str, current: str, time: StatementTime) -> DdlStatement:
    """ALTER TABLE, CREATE INDEX, DROP INDEX.  Raises SqlError."""
    state = catalog.state_of(statement.table, current)
    before = state.table
    partitioning = [action for action in statement.actions if isinstance(action, AlterPartitions)]
    clause = state.definition.partitions
    # A definition that is not open any more is parsed again.
    by_text = has_text_values(clause) and not state.is_open
    by_text = by_text or any(names_text_values(clause, action) for action in partitioning)
    alteration = Alteration(state, catalog.server, catalog.databases[state.table.database])
    for action in statement.actions:
        alteration.apply(action)
    name = old_name = (before.database, before.name)
    if alteration.renamed is not None:
        target = alteration.renamed
        renamed = (catalog.database_of(target, current) if target.database else name[0], target.name)
        if renamed != name:
            if renamed in catalog.tables:
                raise SqlError(f"table {'.'.join(renamed)} exists already", target.offset)
            name = renamed
    altered = alteration.finish(name, catalog.next_version(name), time, catalog, current)
    check_engine(altered.table, catalog.server)
    del catalog.tables[old_name]
    catalog.tables[name] = altered
    _follow(catalog, state, altered, alteration.renamed_columns())
    if catalog.generates_keys and state.clustering is not None and altered.clustering is None:
        # ER_NOT_SUPPORTED_YET: "an operation that leaves the table without a PRIMARY KEY" (recorded).
        raise SqlError("a table keeps its primary key while sql_generate_invisible_primary_key is on", 0)
    kept = alteration.kept(altered)
    return DdlStatement(
        kind=statement.statement,
        sql=sql,
        current_database=current,
        databases=_distinct((before.database, name[0])),
        tables=(altered.table,),
        altered=before,
        defines=_defined_columns(alteration.defined, altered.table.columns),
        no_effect=name == old_name and all(isinstance(action, RenameTo) for action in statement.actions),
        method=_method(catalog, statement, state, altered, kept),
        copies_moments=copies_moments(state, kept),
        manages_partitions=all(action.kind not in ("by", "remove") for action in partitioning)
        and len(partitioning) == len(statement.actions) > 0,
        partitioned_by_text=by_text,
    )


def _method(catalog: Catalog, statement: AlterTable, before: TableState, after: TableState, kept: Kept) -> AlterMethod:
    """How the server makes the change."""
    # The rows are held against the parents as the table is copied (recorded on 9.7).
    held = catalog.foreign_key_checks and any(isinstance(action, AddForeignKey) for action in statement.actions)
    held |= catalog.foreign_key_checks and any(
        isinstance(action, (AddColumn, ChangeColumn))
        and declared_references([action.column], server_line(catalog.server))
        for action in statement.actions
    )
    return "copy" if statement.copy or held else alter_method(statement.actions, before, after, kept)


def _follow(catalog: Catalog, before: TableState, after: TableState, renamed: Mapping[str, str]) -> None:
    """What belongs to a table goes with it: its triggers, and the foreign keys that refer to it."""
    old, new = ((state.table.database, state.table.name) for state in (before, after))
    follow_parent(catalog, before.definition, after.definition, renamed)
    for name, table in list(catalog.objects.items()):
        if table == old:
            catalog.objects[name] = new
    for name, trigger in catalog.triggers.items():
        if trigger.table == old:
            catalog.triggers[name] = replace(trigger, table=new)


def drop_tables(catalog: Catalog, statement: DropTables, sql: str, current: str) -> DdlStatement:
    """DROP TABLE.  Raises SqlError."""
    dropped: list[TableName] = []
    missing: list[TableName] = []
    for ref in statement.tables:
        database = ref.database or current
        if statement.if_exists and database and (database, ref.name) not in catalog.tables:
            missing.append((database, ref.name))
            continue
        catalog.state_of(ref, current)
        if (database, ref.name) in dropped:
            raise SqlError(f"table {database}.{ref.name} is named twice", ref.offset)
        dropped.append((database, ref.name))
    irrevocable = tuple(name for name in dropped if not is_transactional(catalog.tables[name].table))
    for ref in statement.tables:
        _check_droppable(catalog, ref, current, dropped)
    for name in dropped:
        del catalog.tables[name]
    return DdlStatement(
        kind="drop_table",
        sql=sql,
        current_database=current,
        databases=_distinct(ref.database or current for ref in statement.tables),
        dropped=tuple(dropped),
        missing=tuple(missing),
        named=tuple((ref.database or current, ref.name) for ref in statement.tables),
        irrevocable=irrevocable,
        if_exists=statement.if_exists,
        no_effect=not dropped,
    )


def _check_droppable(catalog: Catalog, ref: TableRef, current: str, dropped: list[TableName]) -> None:
    """A parent goes only with its children.  Raises SqlError."""
    state = catalog.tables.get((ref.database or current, ref.name))
    if state is None or not catalog.foreign_key_checks:
        return
    for child, foreign in children_of(catalog, state.table):
        if (child.table.database, child.table.name) not in dropped:
            raise SqlError(f"foreign key {foreign.name} of table {child.name} refers to {ref.name!r}", ref.offset)


def rename_tables(catalog: Catalog, statement: RenameTables, sql: str, current: str) -> DdlStatement:
    """RENAME TABLE.  Raises SqlError."""
    moved: list[TableName] = []
    for old, new in statement.pairs:
        state = catalog.state_of(old, current)
        name = catalog.free_name(new, current)
        _move(catalog, state, name)
        moved.append(name)
    return DdlStatement(
        kind="rename_table",
        sql=sql,
        current_database=current,
        databases=_distinct(ref.database or current for pair in statement.pairs for ref in pair),
        tables=tuple(catalog.tables[name].table for name in moved if name in catalog.tables),
    )


def _move(catalog: Catalog, state: TableState, name: TableName) -> None:
    before = copy.copy(state)
    old = (state.table.database, state.table.name)
    del catalog.tables[old]
    own = tuple(
        replace(foreign, parent=name) if foreign.parent == old else foreign for foreign in state.definition.foreign_keys
    )
    renamed = replace(state.definition, database=name[0], name=name[1], foreign_keys=own)
    state.definition = renamed_constraints(renamed, old[1])
    state.table = state.definition.table(catalog.next_version(name))
    catalog.tables[name] = state
    _follow(catalog, before, state, {})


def truncate_table(catalog: Catalog, statement: TruncateTable, sql: str, current: str) -> DdlStatement:
    """TRUNCATE TABLE.  Raises SqlError."""
    state = catalog.state_of(statement.table, current)
    _check_droppable(catalog, statement.table, current, [(state.table.database, state.table.name)])
    name = (state.table.database, state.table.name)
    emptied = TableState(state.definition, catalog.next_version(name))
    emptied.inserted = state.inserted
    catalog.tables[name] = emptied
    return DdlStatement(
        kind="truncate_table",
        sql=sql,
        current_database=current,
        databases=(name[0],),
        tables=(emptied.table,),
    )


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _defined_columns(names: Iterable[str], columns: tuple[TableColumn, ...]) -> tuple[TableColumn, ...]:
    wanted = {name.lower() for name in names}
    return tuple(column for column in columns if column.name.lower() in wanted)
