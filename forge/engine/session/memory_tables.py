"""MEMORY tables after a new start of the server: who opens one first makes the server log that it is empty."""

from __future__ import annotations

from forge.engine.dictionary.names import declared_name
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.transactions import Transaction
from forge.engine.session.connection import Connection
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DefinitionText, MemoryEmptied
from forge.plan.tables import is_transactional
from forge.sql.ast.objects import ObjectDdl
from forge.sql.ast.statements import AlterTable, CreateTable, DatabaseStatement, DropTables
from forge.sql.parse.statements import Ddl
from forge.sql.write import qualified

#: Data definition that opens no table that is there.
_OPENS_NONE = (CreateTable, DatabaseStatement, DropTables, ObjectDdl)


def open_for_definition(connection: Connection, statement: Ddl) -> None:
    """ALTER TABLE opens its table.  Raises UnsupportedError for others, where a table has lost its rows."""
    tables = connection.state.catalog.tables
    if isinstance(statement, _OPENS_NONE) or not any(table.lost_rows for table in tables.values()):
        return
    if not isinstance(statement, AlterTable):
        raise UnsupportedError(
            "this statement is not supported while MEMORY tables have not been used since the restart"
        )
    table = tables.get(connection.state.catalog.name_of(statement.table, connection.state.database))
    if table is not None:
        _open(connection, table, caused_by_ddl=True)


def open_for_rows(connection: Connection, transaction: Transaction) -> None:
    """The tables of a transaction are opened; a group that tells of lost rows stands ahead of it.

    Raises UnsupportedError where that group would have to stand between those of the transaction.
    """
    state = connection.state
    written = False
    for statement in transaction.statements:
        if statement.target is None or not any(table.lost_rows for table in state.catalog.tables.values()):
            continue
        try:
            table = state.catalog.table(declared_name(statement.target), state.database)
        except ScenarioError:
            continue
        if table.lost_rows and written:
            # It would have to stand between the groups of the transaction's statements (recorded).
            raise UnsupportedError(
                f"{table.name} is first used after a restart in a transaction that has already changed a table"
                " without transactions: not supported yet",
                expected="a transaction of its own before",
            )
        _open(connection, table)
        written |= not is_transactional(table.table)


def _open(connection: Connection, table: TableState, *, caused_by_ddl: bool = False) -> None:
    if not table.lost_rows:
        return
    table.lost_rows = False
    sql = connection.line.ddl.memory_emptied.format(qualified(table.table.database, table.table.name))
    text = DefinitionText(sql, connection.state.database)
    connection.record(MemoryEmptied(text, tables=(table.table,), caused_by_ddl=caused_by_ddl))
