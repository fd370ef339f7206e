"""DROP TABLE, and the tables that go with a session: base tables and temporary ones.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers.md, R).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import Catalog, TableName
from forge.engine.dictionary.foreign_key_definition import children_of
from forge.engine.rows.state import TableState
from forge.plan.definitions import DdlStatement, DroppedTemporary
from forge.plan.engines import is_defined_atomically
from forge.servers import server_line
from forge.sql.ast.definitions import TableRef
from forge.sql.ast.statements import DropTables
from forge.sql.errors import SqlError
from forge.sql.write.identifiers import identifier


def drop_tables(statement: DropTables, context: DdlContext) -> DdlStatement:
    """Run DROP TABLE: a temporary table goes before the one that it hides.  Raises SqlError."""
    catalog, current = context.catalog, context.current_database
    dropped: list[TableName] = []
    missing: list[TableName] = []
    temporary: list[DroppedTemporary] = []
    for ref in statement.tables:
        name = (ref.database or current, ref.name)
        hiding = catalog.temporary.get(name)
        if hiding is None and statement.temporary:
            if not statement.if_exists:
                raise SqlError(f"there is no temporary table {'.'.join(name)}", ref.offset)
            continue
        if hiding is None and statement.if_exists and name[0] and name not in catalog.tables:
            missing.append(name)
            continue
        context.table(ref)
        if name in dropped or any(name == other.name for other in temporary):
            raise SqlError(f"table {'.'.join(name)} is named twice", ref.offset)
        if hiding is None:
            dropped.append(name)
        else:
            temporary.append(DroppedTemporary(name, is_defined_atomically(hiding.table), hiding.is_logged))
    named = [(ref.database or current, ref.name) for ref in statement.tables]
    irrevocable = tuple(name for name in dropped if not is_defined_atomically(catalog.tables[name].table))
    for ref, name in zip(statement.tables, named, strict=True):
        if name in dropped:
            check_droppable(catalog, ref, current, dropped)
    for name in dropped:
        del catalog.tables[name]
    for table in temporary:
        del catalog.temporary[table.name]
    return DdlStatement(
        kind="drop_table",
        sql=context.sql,
        current_database=current,
        databases=distinct(name[0] for name in (*dropped, *missing)),
        dropped=tuple(dropped),
        missing=tuple(missing),
        named=tuple(name for name in named if name in (*dropped, *missing)),
        irrevocable=irrevocable,
        dropped_temporary=tuple(temporary),
        touches_temporary=bool(temporary) or statement.temporary,
        if_exists=statement.if_exists,
        no_effect=not dropped,
    )


def check_droppable(catalog: Catalog, ref: TableRef, current: str, dropped: list[TableName]) -> None:
    """A parent goes only with its children.  Raises SqlError."""
    state = catalog.tables.get((ref.database or current, ref.name))
    if state is None or not catalog.foreign_key_checks:
        return
    for child, foreign in children_of(catalog, state.table):
        if (child.table.database, child.table.name) not in dropped:
            raise SqlError(f"foreign key {foreign.name} of table {child.name} refers to {ref.name!r}", ref.offset)


def session_end(catalog: Catalog, *, idle: bool) -> Iterator[DdlStatement]:
    """What a session drops at its end, the table made last first; a statement for neighbours of one database.
    ``idle``: its last statement was no logged one.

    MySQL writes two of them where some of the tables are in an engine without transactions.
    """
    states = [state for state in reversed(catalog.temporary.values()) if state.is_logged]
    catalog.temporary.clear()
    splits = server_line(catalog.server).ddl.splits_session_drops
    for database, group in groupby(states, key=lambda state: state.table.database):
        tables = list(group)
        for number, part in enumerate(_by_engine(tables) if splits else (tables,)):
            names = ",".join(identifier(state.table.name) for state in part)
            yield DdlStatement(
                kind="drop_table",
                sql=f"DROP /*!40005 TEMPORARY */ TABLE IF EXISTS {names}",
                current_database=database,
                implicit=True,
                # The second one of a pair is not (recorded on 9.7).
                own_charset=number == 0,
                zone=not idle,
                temporary=True,
                touches_temporary=True,
            )


def _by_engine(states: list[TableState]) -> Iterator[list[TableState]]:
    for transactional in (True, False):
        part = [state for state in states if is_defined_atomically(state.table) == transactional]
        if part:
            yield part


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, without empty ones."""
    return tuple(dict.fromkeys(name for name in names if name))
