"""Status variables of the QUERY events that row-format sessions write: BEGIN and DDL."""

from __future__ import annotations

from typing import Any

from forge.compile.model import DdlStatement, RowsStatement, Session
from forge.events.event import SUPPRESS_USE
from forge.events.status_vars import StatusVariables
from forge.servers import ServerLine

THREAD_SPECIFIC = 0x0004
NO_FOREIGN_KEY_CHECKS = 0x04000000
RELAXED_UNIQUE_CHECKS = 0x08000000

#: Writing order (Query_log_event::write in sql/log_event.cc).
ORDER = (
    "flags2", "sql_mode", "catalog", "auto_increment", "charset", "time_zone", "lc_time_names", "charset_database",
    "table_map_for_update", "invoker", "updated_databases", "microseconds", "explicit_defaults_for_timestamp",
    "ddl_xid", "default_collation_for_utf8mb4", "sql_require_primary_key", "default_table_encryption",
)  # fmt: skip


def session_variables(session: Session, line: ServerLine) -> dict[str, Any]:
    """What every QUERY event of the session has."""
    flags2 = 0 if session.foreign_key_checks else NO_FOREIGN_KEY_CHECKS
    flags2 |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
    return {
        "flags2": flags2,
        "sql_mode": line.sql_mode,
        "catalog": "std",
        "charset": line.client_charset,
        "default_collation_for_utf8mb4": line.default_collation_for_utf8mb4,
    }


def in_order(variables: dict[str, Any]) -> StatusVariables:
    return tuple((name, variables[name]) for name in ORDER if name in variables)


def begin_variables(transaction: Any, time: tuple[int, int], session: Session, line: ServerLine) -> StatusVariables:
    """BEGIN carries what its first statement needed: the event is made when that statement logs its first row."""
    first: RowsStatement = transaction.statements[0]
    variables = session_variables(session, line)
    if first.kind == "update":
        variables["table_map_for_update"] = 1
    if uses_time_zone(first):
        variables["time_zone"] = TIME_ZONE
    if first.consumes_now:
        variables["microseconds"] = time[1]
    return in_order(variables)


#: The replay script sets it, so that TIMESTAMP literals are UTC.
TIME_ZONE = "+00:00"


def uses_time_zone(statement: RowsStatement) -> bool:
    """Storing a TIMESTAMP from a literal or from the clock converts by the session's time zone."""
    return any(
        column.type.name == "TIMESTAMP"
        and any(c.after is not None and c.after[i] is not None for c in statement.changes)
        for i, column in enumerate(statement.table.columns)
    )


def has_ddl_xid(statement: DdlStatement) -> bool:
    """Statements that an atomic storage-engine transaction carries."""
    return all(table.engine.lower() == "innodb" for table in statement.tables)


def ddl_flags(statement: DdlStatement) -> int:
    if statement.kind.endswith("_database"):
        return SUPPRESS_USE
    return THREAD_SPECIFIC if statement.kind == "drop_table" else 0


def ddl_text(statement: DdlStatement) -> str:
    return statement.sql


def ddl_variables(statement: DdlStatement, xid: int | None, session: Session, line: ServerLine) -> StatusVariables:
    variables = session_variables(session, line)
    if statement.kind != "truncate_table":
        variables["updated_databases"] = statement.databases
    if xid is not None:
        variables["ddl_xid"] = xid
    if statement.kind in ("create_table", "alter_table", "create_index", "drop_index"):
        variables["sql_require_primary_key"] = 0
    if statement.kind == "create_database":
        variables["default_table_encryption"] = 0
    return in_order(variables)
