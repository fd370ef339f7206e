"""Which statements of the log one DROP TABLE or DROP DATABASE becomes (recorded on 9.7, 10.11 and 11.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from forge.plan.definitions import DatabaseDrop, DdlStatement, DroppedTable, TableDrop
from forge.servers import ServerLine


def logged_definitions(statement: DdlStatement, line: ServerLine) -> Iterator[DdlStatement]:
    """The statements that a data definition statement is logged as."""
    match statement:
        case TableDrop():
            yield from parts_of_drop(statement, line)
        case DatabaseDrop() if line.ddl.splits_drops:
            yield from _inside_first(statement)
            yield statement
        case _:
            yield statement


def parts_of_drop(statement: TableDrop, line: ServerLine) -> Iterator[TableDrop]:
    """What DROP TABLE is logged as: temporary tables by themselves, those that no rollback reaches first (recorded)."""
    base = replace(statement, named=tuple(table for table in statement.named if not table.temporary))
    parts = list(_temporary_parts(statement))
    rest: list[TableDrop] = []
    if base.named or not parts:
        rest = list(_irrevocable_first(base)) if line.ddl.splits_drops else [base]
    yield from (*parts, *rest) if line.ddl.drops_temporary_first else (*rest, *parts)


def _temporary_parts(statement: TableDrop) -> Iterator[TableDrop]:
    databases = list(statement.databases)
    for transactional in (False, True):
        named = tuple(table for table in statement.named if table.temporary and table.transactional == transactional)
        databases = list(dict.fromkeys([*databases, *(table.name[0] for table in named)]))
        if named:
            yield replace(statement, temporary=True, named=named, no_effect=True, databases=tuple(databases))


def _irrevocable_first(statement: TableDrop) -> Iterator[TableDrop]:
    """Tables of engines without transactions are dropped one by one, ahead of the statement (recorded on MySQL)."""
    irrevocable = statement.irrevocable
    for databases, table in _with_databases(irrevocable):
        yield replace(statement, named=(table,), databases=databases)
    named = tuple(table for table in statement.named if table not in irrevocable)
    if named or not irrevocable:
        yield replace(statement, named=named)


def _inside_first(statement: DatabaseDrop) -> Iterator[TableDrop]:
    """DROP DATABASE drops such tables from inside the database, whether they still exist or not."""
    for databases, table in _with_databases([table for table in statement.inside if not table.transactional]):
        text = replace(statement.text, current_database=table.name[0])
        yield TableDrop(text, databases, named=(table,), if_exists=True)


def _with_databases(tables: Sequence[DroppedTable]) -> Iterator[tuple[tuple[str, ...], DroppedTable]]:
    """Each table with the databases of those up to it."""
    databases: list[str] = []
    for table in tables:
        databases += [] if table.name[0] in databases else [table.name[0]]
        yield tuple(databases), table
