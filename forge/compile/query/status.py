"""Status variables of QUERY events: what each of a session has, and what rows add to BEGIN and COMMIT around them."""

from __future__ import annotations

from typing import Any

from forge.charsets import collation
from forge.compile.query.clock_status import clock_variables
from forge.events.status_vars import WRITING_ORDER, StatusVariables
from forge.plan.collations import connection_charset
from forge.plan.session import Session
from forge.plan.sql_modes import sql_mode
from forge.plan.statements import RowsStatement
from forge.plan.transactions import LoggedStatement
from forge.servers import ServerLine, locale_names
from forge.servers.features import features

THREAD_SPECIFIC = 0x0004
NO_FOREIGN_KEY_CHECKS = 0x04000000
RELAXED_UNIQUE_CHECKS = 0x08000000
AUTO_IS_NULL = 0x00004000
EXPLICIT_DEFAULTS_FOR_TIMESTAMP = 0x01000000
NO_CHECK_CONSTRAINT_CHECKS = 0x00008000

#: UPDATED_DB_NAMES lists no more databases than this; a count of 254 stands for more.
MAX_DATABASES = 16
OVER_MAX_DATABASES = 254


def session_variables(session: Session, line: ServerLine) -> dict[str, Any]:
    """What every QUERY event of the session has."""
    flags2 = line.query.flags2
    flags2 |= 0 if session.foreign_key_checks else NO_FOREIGN_KEY_CHECKS
    flags2 |= 0 if session.unique_checks else RELAXED_UNIQUE_CHECKS
    flags2 |= AUTO_IS_NULL if session.sql_auto_is_null else 0
    flags2 |= 0 if session.check_constraint_checks else NO_CHECK_CONSTRAINT_CHECKS
    if not session.explicit_defaults_for_timestamp:
        flags2 &= ~EXPLICIT_DEFAULTS_FOR_TIMESTAMP
    variables: dict[str, Any] = {
        "flags2": flags2,
        "sql_mode": line.query.sql_mode if session.sql_mode is None else sql_mode(session.sql_mode, line).bits,
        "catalog": "std",
        "charset": connection_charset(session, line),
    }
    numbers = (session.auto_increment_increment, session.auto_increment_offset)
    if numbers != (1, 1):
        variables["auto_increment"] = numbers
    if session.lc_time_names != "en_US":
        variables["lc_time_names"] = locale_names().index(session.lc_time_names)
    if session.collation_database is not None:
        variables["charset_database"] = collation(session.collation_database, line.name).id
    if line.query.default_collation_for_utf8mb4 is not None:
        named = session.default_collation_for_utf8mb4
        number = line.query.default_collation_for_utf8mb4 if named is None else collation(named, line.name).id
        variables["default_collation_for_utf8mb4"] = number
    return variables


def timestamp_variables(session: Session, line: ServerLine) -> dict[str, int]:
    """What a statement that defines a TIMESTAMP has besides."""
    known = line.knows("explicit_defaults_for_timestamp")
    return {"explicit_defaults_for_timestamp": int(bool(session.explicit_defaults_for_timestamp))} if known else {}


def in_order(variables: dict[str, Any], line: ServerLine) -> StatusVariables:
    """The variables in writing order, without those that the line does not have yet."""
    order = WRITING_ORDER if line.query.variables is None else line.query.variables
    return tuple(
        (name, variables[name]) for name in order if name in variables and (name not in features() or line.knows(name))
    )


def logged_variables(statement: LoggedStatement, xid: int, session: Session, line: ServerLine) -> StatusVariables:
    """The session's variables with those of the statement in their place."""
    variables = session_variables(session, line)
    if statement.numbered:
        # A line has the one or the other.
        variables |= {"ddl_xid": xid, "mariadb_ddl_xid": xid}
    variables |= dict(statement.variables)
    return in_order({name: value for name, value in variables.items() if value is not None}, line)


def begin_variables(statement: RowsStatement, microsecond: int, session: Session, line: ServerLine) -> StatusVariables:
    """BEGIN carries what the transaction's first statement had needed when it logged its first row."""
    variables = session_variables(session, line)
    first = statement.first or statement
    if first.foreign_keys.cascaded:
        variables["flags2"] |= NO_FOREIGN_KEY_CHECKS
    marks = line.query.table_map_for_update == "all" or statement.text.clauses.several_tables
    if marks and _is_updating(statement, first):
        variables["table_map_for_update"] = statement.opened.update_bits
    if statement.foreign_keys.is_related:
        variables["updated_databases"] = OVER_MAX_DATABASES
    variables |= clock_variables(statement, statement.changes[:1], microsecond, session, line)
    return in_order(variables, line)


def _is_updating(statement: RowsStatement, first: RowsStatement) -> bool:
    """Whether the server is at an UPDATE when ``first`` logs its row; a trigger makes it forget that (recorded)."""
    return statement.kind == "update" or (first.kind == "update" and not first.foreign_keys.cascaded)
