"""Which handler runs which data definition statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from forge.engine.ddl.alter_table import alter_table
from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.create_table import create_like, create_table
from forge.engine.ddl.databases import change_database
from forge.engine.ddl.drop_table import drop_tables
from forge.engine.ddl.objects import change_view, create_trigger, drop_objects, keep_up_tables
from forge.engine.ddl.rename_table import rename_tables
from forge.engine.ddl.sequences import change_sequence
from forge.engine.ddl.truncate_table import truncate_table
from forge.plan.definitions import DdlStatement
from forge.sql.ast.objects import CreateTrigger, DropObjects, SequenceStatement, Upkeep, ViewStatement
from forge.sql.ast.statements import (
    AlterTable,
    CreateLike,
    CreateTable,
    DatabaseStatement,
    DropTables,
    RenameTables,
    TruncateTable,
)
from forge.sql.parse.statements import Ddl

HANDLERS: Final[dict[type[Any], Callable[[Any, DdlContext], DdlStatement]]] = {
    AlterTable: alter_table,
    CreateLike: create_like,
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
