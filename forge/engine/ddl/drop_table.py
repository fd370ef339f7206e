"""DROP TABLE, and the tables that go with a session: base tables and temporary ones.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/created-tables.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.dictionary.catalog import Catalog, TableName
from forge.engine.dictionary.foreign_key_definition import children_of
from forge.engine.dictionary.table_state import TableState
from forge.plan.definitions import DefinitionText, DroppedTable, SessionEndDrop, TableDrop, TableTruncation
from forge.plan.tables import is_defined_atomically
from forge.servers import server_line
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import DropTables, TruncateTable
from forge.sql.errors import SqlError
from forge.sql.write import identifier


def drop_tables(statement: DropTables, context: DdlContext) -> TableDrop:
    """Run DROP TABLE: a temporary table goes before the one that it hides.  Raises SqlError."""
    catalog, current = context.catalog, context.current_database
    named: list[DroppedTable] = []
    for ref in statement.tables:
        table = _named(statement, ref, context)
        if table is not None:
            named.append(table)
    base = [table for table in named if not table.temporary]
    dropped = [table.name for table in base if table.exists]
    for ref in statement.tables:
        if catalog.name_of(ref, current) in dropped:
            check_droppable(catalog, ref, current, dropped)
    for table in named:
        if table.exists:
            catalog.shelf(temporary=table.temporary).pop(table.name, None)
    return TableDrop(
        context.text,
        # Those that were there first.
        distinct(table.name[0] for table in sorted(base, key=lambda table: not table.exists)),
        touches_temporary=statement.temporary or len(base) < len(named),
        no_effect=not dropped,
        named=tuple(named),
        if_exists=statement.if_exists,
        comment=statement.comment,
    )


def _named(statement: DropTables, ref: TableRef, context: DdlContext) -> DroppedTable | None:
    """A table that the statement names; None for a temporary one that is not there."""
    catalog, name = context.catalog, context.catalog.name_of(ref, context.current_database)
    hiding = catalog.temporary.get(name)
    if hiding is None and statement.temporary:
        if not statement.if_exists:
            raise SqlError(f"there is no temporary table {'.'.join(name)}", ref.offset)
        return None
    if hiding is None and statement.if_exists and name[0] and name not in catalog.tables:
        return DroppedTable(name, exists=False)
    table = context.table(ref).table
    transactional = is_defined_atomically(table)
    if hiding is None:
        return DroppedTable(name, transactional=transactional)
    return DroppedTable(name, transactional=transactional, temporary=True, logged=hiding.is_logged)


def check_droppable(catalog: Catalog, ref: TableRef, current: str, dropped: list[TableName]) -> None:
    """A parent goes only with its children.  Raises SqlError."""
    state = catalog.tables.get(catalog.name_of(ref, current))
    if state is None or not catalog.foreign_key_checks:
        return
    for child, foreign in children_of(catalog, state.table):
        if (child.table.database, child.table.name) not in dropped:
            raise SqlError(f"foreign key {foreign.name} of table {child.name} refers to {ref.name!r}", ref.offset)


def session_end(catalog: Catalog) -> Iterator[SessionEndDrop]:
    """What a session drops at its end, the table made last first; a statement for neighbours of one database.

    MySQL writes two of them where some of the tables are in an engine without transactions.
    """
    states = [state for state in reversed(catalog.temporary.values()) if state.is_logged]
    catalog.temporary.clear()
    splits = server_line(catalog.server).ddl.splits_session_drops
    for database, group in groupby(states, key=lambda state: state.table.database):
        tables = list(group)
        for number, part in enumerate(_by_engine(tables) if splits else (tables,)):
            names = ",".join(identifier(state.table.name) for state in part)
            yield SessionEndDrop(
                DefinitionText(f"DROP /*!40005 TEMPORARY */ TABLE IF EXISTS {names}", database),
                temporary=True,
                touches_temporary=True,
                # The second one of a pair is not (recorded on 9.7).
                own_charset=number == 0,
            )


def _by_engine(states: list[TableState]) -> Iterator[list[TableState]]:
    for transactional in (True, False):
        part = [state for state in states if is_defined_atomically(state.table) == transactional]
        if part:
            yield part


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, without empty ones."""
    return tuple(dict.fromkeys(name for name in names if name))


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
