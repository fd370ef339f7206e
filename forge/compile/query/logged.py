"""Statements that a scenario gives as the server logs them: their status variables."""

from __future__ import annotations

from forge.compile.query.status import in_order, session_variables
from forge.events.status_vars import StatusVariables
from forge.plan.session import Session
from forge.plan.transactions import LoggedStatement
from forge.servers import ServerLine


def logged_variables(statement: LoggedStatement, xid: int, session: Session, line: ServerLine) -> StatusVariables:
    """The session's variables with those of the statement in their place."""
    variables = session_variables(session, line)
    if statement.numbered:
        # A line has the one or the other.
        variables |= {"ddl_xid": xid, "mariadb_ddl_xid": xid}
    variables |= dict(statement.variables)
    return in_order({name: value for name, value in variables.items() if value is not None}, line)
