"""Data definition in a session: what the session knows of a statement, and what the statement leaves behind in it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forge.charsets.collations import canonical_charset
from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.ddl.handlers import changes_no_base, logged_of_temporary, run_definition
from forge.engine.dictionary.catalog import declared_name
from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.transactions import Transaction
from forge.engine.rows.defaults import StatementTime
from forge.engine.session.connection import Connection
from forge.engine.session.settings import check_selects
from forge.engine.session.texts import SessionText
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.collations import client_text
from forge.plan.definitions import (
    DatabaseCreation,
    DatabaseDrop,
    DdlStatement,
    DefinitionText,
    MemoryEmptied,
    ObjectDefinition,
    TableAlteration,
    TableCreationSelect,
    TableDrop,
    dropped_tables,
)
from forge.plan.tables import is_transactional
from forge.sql.ast.definitions import CharsetClause
from forge.sql.ast.statements import AlterTable, CreateTable, Ddl
from forge.sql.reads.features import require_statement
from forge.sql.version_comments import as_logged, as_sent
from forge.sql.write import qualified


def open_for_rows(connection: Connection, transaction: Transaction) -> None:
    """The tables of a transaction are opened; a group that tells of lost rows stands ahead of it.

    Raises UnsupportedError where that group would have to stand between those of the transaction.
    """
    written = False
    for statement in transaction.statements:
        if statement.target is None:
            continue
        table = connection.catalog.known(declared_name(statement.target), connection.client.database)
        if table is not None and table.lost_rows:
            if written:
                raise UnsupportedError(
                    f"{table.name} is first used after a restart in a transaction that has already changed a table"
                    " without transactions: not supported yet",
                    expected="a transaction of its own before",
                )
            _tell_of_lost_rows(connection, table)
        written |= table is not None and not is_transactional(table.table)


def _tell_of_lost_rows(connection: Connection, table: TableState, *, caused_by_ddl: bool = False) -> None:
    """Who opens a MEMORY table first after a new start of the server makes it log that the table is empty."""
    table.lost_rows = False
    sql = connection.line.ddl.memory_emptied.format(qualified(table.table.database, table.table.name))
    text = DefinitionText(sql, connection.client.database)
    connection.record(MemoryEmptied(text, tables=(table.table,), caused_by_ddl=caused_by_ddl))


def apply_definition(
    connection: Connection, texts: SessionText, statement: Ddl, text: str, line: int | None
) -> DdlStatement:
    """Run a statement that stands by itself, and enter it in the journal; ``line`` is where it stands.

    Raises SqlError for what a server would refuse, ScenarioError where it would wait for a prepared transaction.
    """
    sent, logged = as_sent(text, connection.line), as_logged(text, connection.line)
    catalog, client = connection.catalog, connection.client
    if isinstance(statement, AlterTable):
        table = catalog.tables.get(catalog.name_of(statement.table, client.database))
        if table is not None and table.lost_rows:
            _tell_of_lost_rows(connection, table, caused_by_ddl=True)
    locked = {table.name for table in catalog.tables.values() if table.locked}
    definition = defined(connection, texts, statement, logged, connection.time(), line)
    changed = {*(table.full_name for table in definition.tables), *dropped_tables(definition)}
    if locked & changed:
        raise ScenarioError(
            "a prepared XA transaction has changed the table: the statement would wait for its end",
            expected="xa_commit or xa_rollback before",
        )
    if logged != sent:
        sent = client_text(sent, connection.settings, connection.line)
        connection.record(replace(definition, text=replace(definition.text, sent=sent)))
    else:
        connection.record(definition)
    if isinstance(definition, DatabaseDrop) and client.database not in catalog.databases:
        client.database = ""
    elif isinstance(definition, DatabaseCreation):
        connection.use_home()
    return definition


def defined(
    connection: Connection, texts: SessionText, statement: Ddl, sql: str, time: StatementTime, line: int | None
) -> DdlStatement:
    """Run a statement with the text ``sql``, as it is logged.  Raises SqlError, UnsupportedError."""
    if not connection.line.ddl.temporary_tables and changes_no_base(statement):
        raise UnsupportedError(f"temporary tables on {connection.line.name} are not supported yet")
    require_statement(connection.line, sql)
    if connection.settings.default_collation_for_utf8mb4 is not None:
        statement = _with_collation(statement, connection.settings.default_collation_for_utf8mb4)
    logs_temporary, selects_as_text = texts.logs_temporary(), False
    if isinstance(statement, CreateTable) and statement.select is not None:
        check_selects(connection.settings, connection.line)
        selects_as_text = texts.selects_as_text(statement, sql)
        logs_temporary &= selects_as_text
    database = connection.client.database
    context = DdlContext(connection.catalog, sql, database, time, logs_temporary, selects_as_text)
    definition = logged_of_temporary(run_definition(statement, context), logs=logs_temporary)
    if isinstance(definition, TableAlteration) and connection.settings.binlog_alter_two_phase:
        definition = replace(definition, two_phase=_has_two_phases(definition))
    written = definition.text.sql
    sent = client_text(sql, connection.settings, connection.line)
    if sent != sql:
        if written != sql or isinstance(definition, _WRITTEN_ANEW):
            raise UnsupportedError(
                "a text beyond ASCII that the server writes anew, of a client in another character set than utf8mb4,"
                " is not supported yet",
                expected="names: utf8mb4",
            )
        written = sent
    return replace(definition, text=replace(definition.text, sql=written, line=line))


def _has_two_phases(statement: TableAlteration) -> bool:
    """Whether MariaDB logs START ALTER of it (recorded on 10.11 and 11.8): not where only names or partitions change,
    nor of temporary tables.
    """
    change = statement.change
    return change is not None and not (change.touches_names_only or change.manages_partitions or statement.temporary)


#: Definitions whose text in the log is the server's.
_WRITTEN_ANEW = (TableDrop, ObjectDefinition, TableCreationSelect)


def _with_collation(node: Any, name: str) -> Any:
    """The parsed statement in which CHARACTER SET utf8mb4 has the collation where it names none."""
    if isinstance(node, CharsetClause):
        is_open = node.collation is None and node.charset is not None and canonical_charset(node.charset) == "utf8mb4"
        return replace(node, collation=name) if is_open else node
    if isinstance(node, tuple):
        return tuple(_with_collation(part, name) for part in node)
    if not isinstance(node, Struct):
        return node
    return replace(node, **{field: _with_collation(getattr(node, field), name) for field in node.__struct_fields__})
