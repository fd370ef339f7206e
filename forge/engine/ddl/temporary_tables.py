"""Temporary tables: what of the statements on them is logged, and which may stand inside a transaction.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/created-tables.md).
"""

from __future__ import annotations

from dataclasses import replace

from forge.plan.definitions import DdlStatement, TableCreationLike, TableDrop
from forge.sql.ast.statements import CreateLike, CreateTable, DropTables
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.statements import Ddl


def changes_no_base(statement: Ddl) -> bool:
    """Whether it makes or drops temporary tables only, which does not commit the transaction that it stands in."""
    return isinstance(statement, (CreateTable, CreateLike, DropTables)) and statement.temporary


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
    likeness = statement.likeness if isinstance(statement, TableCreationLike) else None
    if likeness is not None and likeness.temporary and not logs:
        raise SqlUnsupported("CREATE TABLE ... LIKE a temporary table is not supported yet in row format", 0)
    return statement
