"""Which handler runs which data definition statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from forge.engine.ddl.alter_table import alter_table
from forge.engine.ddl.create_table import create_table
from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.ddl.drop_table import drop_tables, truncate_table
from forge.engine.ddl.rename_table import rename_tables
from forge.engine.ddl.stored_objects import (
    change_database,
    change_sequence,
    change_view,
    create_trigger,
    drop_objects,
    keep_up_tables,
)
from forge.plan.definitions import DdlStatement, TableCreation, TableDrop
from forge.sql.ast.statements import (
    AlterTable,
    CreateTable,
    CreateTrigger,
    DatabaseStatement,
    Ddl,
    DropObjects,
    DropTables,
    RenameTables,
    SequenceStatement,
    TruncateTable,
    Upkeep,
    ViewStatement,
)
from forge.sql.errors import SqlUnsupported

HANDLERS: Final[dict[type[Any], Callable[[Any, DdlContext], DdlStatement]]] = {
    AlterTable: alter_table,
    CreateTable: create_table,
    CreateTrigger: create_trigger,
    DatabaseStatement: change_database,
    DropObjects: drop_objects,
    DropTables: drop_tables,
    RenameTables: rename_tables,
    SequenceStatement: change_sequence,
    TruncateTable: truncate_table,
    Upkeep: keep_up_tables,
    ViewStatement: change_view,
}


def run_definition(statement: Ddl, context: DdlContext) -> DdlStatement:
    """Run a data definition statement; what the compiler has to know of it.

    Raises SqlError (a place in ``context.sql``) for what a server would refuse, SqlUnsupported for what is not made.
    """
    return HANDLERS[type(statement)](statement, context)


def changes_no_base(statement: Ddl) -> bool:
    """Whether it makes or drops temporary tables only, which does not commit the transaction that it stands in."""
    return isinstance(statement, (CreateTable, DropTables)) and statement.temporary


def logged_of_temporary(statement: DdlStatement, *, logs: bool) -> DdlStatement:
    """The statement with what of it is logged; ``logs``: the session logs what is done to temporary tables."""
    if isinstance(statement, TableDrop) and statement.touches_temporary:
        named = tuple(table for table in statement.named if table.logged)
        # In row format what was made as text goes if it exists.
        by_rows = not logs and any(table.temporary for table in named)
        return replace(
            statement,
            named=named,
            unlogged=not named,
            in_row_format=by_rows,
            if_exists=statement.if_exists or by_rows,
            comment=statement.comment if statement.if_exists or not by_rows else "",
        )
    if statement.temporary and not logs:
        return replace(statement, unlogged=True)
    likeness = statement.likeness if isinstance(statement, TableCreation) else None
    if likeness is not None and likeness.temporary and not (logs or statement.no_effect):
        raise SqlUnsupported("CREATE TABLE ... LIKE a temporary table is not supported yet in row format", 0)
    return statement
