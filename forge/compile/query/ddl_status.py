"""Status variables of data definition statements (docs/servers/data-definition.md has the table)."""

from __future__ import annotations

from typing import Any

from forge.compile.query.clock_status import TIMESTAMPS, ZONED
from forge.compile.query.status import (
    MAX_DATABASES,
    OVER_MAX_DATABASES,
    in_order,
    session_variables,
    timestamp_variables,
)
from forge.events.status_vars import StatusVariables
from forge.plan.collations import connection_charset
from forge.plan.definitions import (
    AlterationStart,
    AnyTableCreation,
    DatabaseAlteration,
    DatabaseCreation,
    DatabaseDrop,
    DdlStatement,
    MemoryEmptied,
    ObjectDefinition,
    SessionEndDrop,
    TableAlteration,
    TableChange,
    TableCreation,
    TableCreationSelect,
    TableDrop,
    TableTruncation,
    TableUpkeep,
)
from forge.plan.session import Session
from forge.plan.tables import Table, TableColumn, is_defined_atomically
from forge.servers import ServerLine


def has_ddl_xid(statement: DdlStatement) -> bool:
    """Atomic DDL carries the number of its storage-engine transaction (8.0.1 on); MyISAM tables have none."""
    if statement.no_effect:
        return False
    match statement:
        case ObjectDefinition():
            return statement.numbered
        case TableUpkeep():
            return False
        case DatabaseDrop():
            return True
        case TableTruncation():
            pass
        case DdlStatement(temporary=True):
            return False
        case TableDrop():
            return bool(statement.dropped) and not statement.irrevocable
        case TableAlteration(unnumbered=True):
            return False
        case TableAlteration(change=TableChange(before=before)) if not is_defined_atomically(before):
            return False
    return all(map(is_defined_atomically, statement.tables))


def session_end_variables(statement: SessionEndDrop, session: Session, line: ServerLine) -> dict[str, Any]:
    """DROP TABLE at the end of the session."""
    variables = session_variables(session, line)
    if statement.own_charset:
        variables["charset"] = (line.ddl.system_collation, *connection_charset(session, line)[1:])
    return variables


def begin_of_ddl(statement: DdlStatement, session: Session, line: ServerLine) -> StatusVariables:
    """BEGIN of a transaction that a temporary table begins: what the statement's own QUERY has, but one."""
    variables = ddl_variables(statement, None, 0, session, line)
    return tuple((name, value) for name, value in variables if name != "sql_require_primary_key")


def ddl_variables(
    statement: DdlStatement, xid: int | None, microsecond: int, session: Session, line: ServerLine
) -> StatusVariables:
    """MySQL's, recorded on 9.7 for every kind."""
    variables = session_variables(session, line)
    if statement.databases and not _is_silent_about_databases(statement):
        # The names come from a set that the server prints from the end.
        names = tuple(sorted(statement.databases, reverse=True))
        variables["updated_databases"] = names if len(names) <= MAX_DATABASES else OVER_MAX_DATABASES
    if xid is not None:
        variables["ddl_xid"] = xid
    match statement:
        case DatabaseCreation():
            variables["default_table_encryption"] = int(session.default_table_encryption)
        case ObjectDefinition():
            variables |= {"invoker": line.query.session_user} if statement.invoker else {}
            variables |= {"microseconds": microsecond} if statement.fraction else {}
        case TableUpkeep(zone=True):
            variables["time_zone"] = session.time_zone
    if isinstance(statement, AnyTableCreation | TableAlteration) and statement.kind in ("create_table", "alter_table"):
        variables["sql_require_primary_key"] = int(session.sql_require_primary_key)
        if _defines_timestamp(statement) and not statement.no_effect:
            variables |= timestamp_variables(session, line)
    if _makes_table(statement):
        variables |= _zone_of_defaults(statement, session, line)
    return in_order(variables, line)


def _is_silent_about_databases(statement: DdlStatement) -> bool:
    match statement:
        case TableCreation(likeness=Table()) | MemoryEmptied() | TableTruncation(temporary=False):
            return True
    return False


def mariadb_ddl_variables(
    statement: DdlStatement, xid: int, microsecond: int, session: Session, line: ServerLine
) -> StatusVariables:
    """MariaDB's, recorded on 10.11 and 11.8."""
    if isinstance(statement, SessionEndDrop):
        return in_order(session_end_variables(statement, session, line), line)
    variables = session_variables(session, line)
    if isinstance(statement, ObjectDefinition) and statement.fraction:
        variables["hrnow"] = microsecond
    if isinstance(statement, AlterationStart):
        # It has no number yet.
        statement = statement.alteration
    elif _has_mariadb_xid(statement, line):
        variables["mariadb_ddl_xid"] = xid
    if line.query.says_collations and not statement.no_effect and statement.text.names_charset:
        variables["character_set_collations"] = line.query.character_set_collations
    if _makes_table(statement):
        variables |= _zone_of_defaults(statement, session, line)
        # ALTER TABLE evaluates CURRENT_TIMESTAMP of all columns.
        if isinstance(statement, TableAlteration) and any(map(_is_stamped, statement.tables)):
            variables |= {"time_zone": session.time_zone, line.query.fraction_variable: microsecond}
    return in_order(variables, line)


def _has_mariadb_xid(statement: DdlStatement, line: ServerLine) -> bool:
    """Statements on temporary tables that make none have no number of a transaction either."""
    match statement:
        case DatabaseCreation() | DatabaseAlteration() | TableTruncation() | MemoryEmptied() | TableUpkeep():
            return False
        case ObjectDefinition():
            return statement.numbered
        case TableCreationSelect():
            return line.ddl.numbers_create_select
        case TableDrop():
            return not statement.temporary
        case TableAlteration(unnumbered=True) | TableAlteration(change=TableChange(manages_partitions=True)):
            return False
    return True


def create_select_variables(statement: TableCreationSelect, session: Session, line: ServerLine) -> dict[str, Any]:
    """What all QUERY events of CREATE TABLE ... SELECT have: the zone, if the default of a moment is checked."""
    variables = session_variables(session, line) | _zone_of_defaults(statement, session, line)
    if _defines_timestamp(statement):
        variables |= timestamp_variables(session, line)
    return variables


def _makes_table(statement: DdlStatement) -> bool:
    """Whether the statement makes a table, or makes one anew."""
    match statement:
        case DdlStatement(no_effect=True):
            return False
        case TableCreation() | TableCreationSelect():
            return True
        case TableAlteration(change=TableChange(touches_names_only=False)):
            return True
    return False


def _zone_of_defaults(statement: DdlStatement, session: Session, line: ServerLine) -> dict[str, Any]:
    """The zone, where a literal default of a moment is checked."""
    checked = any(_is_checked(column, line) for table in statement.tables for column in table.columns)
    return {"time_zone": session.time_zone} if checked else {}


def _is_stamped(table: Table) -> bool:
    return any(column.default_now and column.type.name == "DATETIME" for column in table.columns)


def _is_checked(column: TableColumn, line: ServerLine) -> bool:
    """Whether the server needs the zone for a literal default: MariaDB not for that of a DATETIME, and for no zero."""
    if column.default is None or column.type.name not in (ZONED if line.values.takes_offsets else TIMESTAMPS):
        return False
    return line.texts.converts_defaults or not str(column.default).startswith("0000-00-00")


def _defines_timestamp(statement: AnyTableCreation | TableAlteration) -> bool:
    return any(column.type.name == "TIMESTAMP" for column in _defined(statement))


def _defined(statement: DdlStatement) -> tuple[TableColumn, ...]:
    """The columns that the text defines."""
    match statement:
        case TableCreation() | TableCreationSelect():
            return statement.defines
        case TableAlteration(change=TableChange() as change):
            return change.defines
    return ()
