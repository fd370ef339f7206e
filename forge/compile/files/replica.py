"""What a replica with log_replica_updates writes of the groups of its source.

Recorded between servers of MySQL 9.7, MariaDB 10.11 and 11.8, with one applier thread a source
(docs/servers/replicas.md):

* every event of a group has the server id of the source, GTID included; the ends of files have the replica's;
* MySQL: the applier opens and ends a transaction of rows in a session of its own, so BEGIN, XA START, COMMIT and XA END
  say no catalog, and what the source's statement had needed (zone, microseconds, a multi-table UPDATE) is gone.  BEGIN
  names the database of the first row event's table, COMMIT and XA END none.  Rows are applied with
  NO_AUTO_VALUE_ON_ZERO, which BEGIN tells;
* the tables of a statement are opened in the reverse order of the source's TABLE_MAP events.
"""

from __future__ import annotations

from forge.compile.query.status import in_order, session_variables
from forge.errors import ScenarioError, UnsupportedError
from forge.events.query import Query
from forge.events.status_vars import StatusVariables
from forge.plan.definitions import DdlStatement, dropped_tables
from forge.plan.grouping.groups import LoggedGroup, LoggedTransaction
from forge.plan.session import Session, Source
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.transactions import OwnEvent
from forge.servers import ServerLine

#: Bit of sql_mode: 0 in an AUTO_INCREMENT column is a value.
NO_AUTO_VALUE_ON_ZERO = 0x0008_0000
_UUID = "6b696e64-6f66-4f72-6765-"


def uuid_of(source: Source) -> str:
    """The UUID of a source that has none in the scenario or among the facts."""
    return source.uuid or f"{_UUID}{source.server_id:012x}"


def check_replicated(group: LoggedGroup, session: Session) -> None:
    """Raises UnsupportedError for groups of a source of which it is not known what a replica writes."""
    steps = group.steps if isinstance(group, LoggedTransaction) else ()
    kinds = [step for step in steps if not isinstance(step, OwnEvent)]
    texts = any(isinstance(step, DdlStatement) or (isinstance(step, RowsStatement) and step.as_text) for step in kinds)
    if texts or session.binlog_format == "statement":
        raise UnsupportedError("statements of a `source` that are logged as their texts are not supported yet")
    if kinds and not isinstance(kinds[0], RowsStatement):
        raise UnsupportedError("a transaction of a `source` that begins with SAVEPOINT is not supported yet")


def opened_tables(statement: RowsStatement, session: Session) -> tuple[Table, ...]:
    """The tables of a statement in the order of their TABLE_MAP events."""
    return statement.tables if session.source is None else tuple(reversed(statement.tables))


def applier_begin(first: RowsStatement, text: str, session: Session, line: ServerLine) -> Query:
    """BEGIN or XA START, as MySQL's applier thread opens a transaction of rows."""
    database = (first.first or first).table.database
    variables = applier_variables(session, line, NO_AUTO_VALUE_ON_ZERO)
    return Query(database=database, status_variables=variables, query=text)


def applier_query(text: str, session: Session, line: ServerLine) -> Query:
    """Another statement of MySQL's applier thread: COMMIT or XA END."""
    return Query(status_variables=applier_variables(session, line), query=text)


def applier_variables(session: Session, line: ServerLine, modes: int = 0) -> StatusVariables:
    """Those of a statement of the applier thread, which has no catalog; ``modes`` are further bits of sql_mode."""
    variables = session_variables(session, line)
    del variables["catalog"]
    variables["sql_mode"] |= modes
    return in_order(variables, line)


def with_if_exists(text: str) -> str:
    """DROP TABLE as MariaDB's applier runs it (slave_ddl_exec_mode=IDEMPOTENT)."""
    head, rest = text.split("DROP TABLE ", 1)
    return text if rest.startswith("IF EXISTS ") else f"{head}DROP TABLE IF EXISTS {rest}"


def is_ignored(group: LoggedGroup, session: Session) -> bool:
    """Whether the replica passes over all of the group (replicate_ignore_table), which leaves its GTID.

    Raises UnsupportedError for a statement of which it would leave out a part.
    """
    if session.source is None or not session.replicate_ignore_table:
        return False
    if isinstance(group, DdlStatement):
        named = dict.fromkeys((*(table.full_name for table in group.tables), *dropped_tables(group)))
        return _all_ignored(tuple(named), session)
    if not isinstance(group, LoggedTransaction):
        return False
    if group.xa is not None:
        # The replica stops with error 3898.
        raise ScenarioError("a replica that ignores tables takes no XA transactions", expected="no xa")
    return all(ignores(step, session) for step in group.rows_statements)


def ignores(statement: RowsStatement, session: Session) -> bool:
    """Whether the replica passes over a statement.  Raises UnsupportedError as :func:`is_ignored`."""
    return session.source is not None and _all_ignored(tuple(table.full_name for table in statement.tables), session)


def _all_ignored(tables: tuple[str, ...], session: Session) -> bool:
    ignored = [name in session.replicate_ignore_table for name in tables]
    if any(ignored) and not all(ignored):
        raise UnsupportedError(
            f"a statement on {', '.join(tables)}, of which a replica ignores some, is not supported yet",
            expected="statements on one of them",
        )
    return bool(ignored) and all(ignored)
