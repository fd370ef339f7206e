"""A plan as SQL that does the same on a live server.

The statements' own texts are used as they are, for they are logged (ROWS_QUERY, DDL).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.compile.groups.clock import Clock
from forge.compile.query.clock_use import asks_for_time
from forge.plan.definitions import DatabaseDefinition, DatabaseDrop, DdlStatement, ImplicitStatement, ObjectDefinition
from forge.plan.logged import LoggedStatement
from forge.plan.plan import Plan
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Group, OwnEvent, ReleaseSavepoint, RollbackTo, Savepoint, XaEnd, XaId
from forge.render.templates import render
from forge.servers import server_line
from forge.sql.write.identifiers import identifier

#: The setting that asks for the event with a statement's text.
_QUERY_SETTINGS = {"rows_query": "binlog_rows_query_log_events", "annotate_rows": "binlog_annotate_row_events"}


@dataclass(frozen=True, slots=True)
class ReplayStatement:
    """``timestamp`` is for SET timestamp, None where the statement may run in real time."""

    sql: str
    timestamp: str | None
    #: Statements that have to run before it.
    settings: tuple[str, ...] = ()
    #: Statements that have to run after it.
    restored: tuple[str, ...] = ()
    #: The text has semicolons of its own, so that another mark has to end it.
    delimiter: str | None = None

    @property
    def end(self) -> str:
        """What ends the statement for a client; a comment up to the line's end would swallow the semicolon."""
        last = self.sql.rpartition("\n")[2]
        return ("\n" if "--" in last or "#" in last else "") + (self.delimiter or ";")


@dataclass(frozen=True, slots=True)
class ReplayGroup:
    """``use`` is the quoted database to change to, None to stay; ``before`` and ``after`` open and end a block."""

    use: str | None
    before: tuple[str, ...]
    statements: tuple[ReplayStatement, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplaySession:
    """SQL text for the vendor's client in one session, and how the server is started again after it, if it is."""

    sql: str
    restart: Literal["restart", "crash"] | None = None


def replay_script(plan: Plan) -> str:
    """SQL text for the vendor's client that makes a server log the plan's groups, in one session.

    Options of the server (GTIDs, checksum, metadata, event limit, server id) are not in it.  Of a plan in which the
    server is started again, the sessions follow one another (:func:`replay_sessions` has them one by one).
    """
    return "".join(session.sql for session in replay_sessions(plan))


def replay_sessions(plan: Plan) -> Iterator[ReplaySession]:
    """As :func:`replay_script`, a session for each run of the server, and for each client that goes on for another."""
    clock = Clock(plan.session)
    current = ""
    groups: list[ReplayGroup] = []
    first = True
    for number in range(len(plan.groups) + 1):
        if number in plan.reconnects:
            yield ReplaySession(_session_text(plan, clock, groups, first=first))
            groups, current, first = [], "", False
        for step in plan.file_steps:
            if step.after != number:
                continue
            if step.kind == "flush":
                groups.append(ReplayGroup(None, (), (ReplayStatement("FLUSH BINARY LOGS", None),), ()))
                continue
            yield ReplaySession(_session_text(plan, clock, groups, first=first), step.kind)
            groups, current, first = [], "", False
        if number < len(plan.groups):
            groups.append(_group(plan, clock, number, current))
            current = _current_after(plan.groups[number], current)
    yield ReplaySession(_session_text(plan, clock, groups, first=first))


def _current_after(group: Group, current: str) -> str:
    """The session's database behind a group; one that is dropped is nobody's."""
    if isinstance(group, ImplicitStatement):
        return current
    if not isinstance(group, DatabaseDefinition):
        return group.current_database or current
    dropped = isinstance(group, DatabaseDrop) and _database_of(group, current) in group.databases
    return "" if dropped else current


def _database_of(group: Group, current: str) -> str:
    """The session's database when the group runs; ``current`` is that before, which may do as well."""
    if isinstance(group, ImplicitStatement):
        # The server does it by itself.
        return current
    if not isinstance(group, DatabaseDefinition):
        return group.current_database
    # CREATE, ALTER and DROP DATABASE are logged under the database that they name, whatever the current one.
    # A session that is in no database after it has been in the one that is dropped.
    leaves = isinstance(group, DatabaseDrop) and not group.no_effect and not group.current_database and current
    return group.databases[0] if leaves else current


def _session_text(plan: Plan, clock: Clock, groups: Sequence[ReplayGroup], *, first: bool) -> str:
    line = server_line(plan.server)
    return render(
        "sql/replay.sql.j2",
        name=" ".join(plan.name.split()),
        server=plan.server,
        reset_words=line.framing.reset_words,
        query_setting=_QUERY_SETTINGS[line.rows.query_event],
        session=plan.session,
        first_file=plan.session.first_file if first and plan.session.first_file != 1 else None,
        timestamp=_seconds(clock.declared) if clock.declared is not None else None,
        groups=groups,
    )


def _group(plan: Plan, clock: Clock, number: int, current: str) -> ReplayGroup:
    group = plan.groups[number]
    database = _database_of(group, current)
    before, after = _ends(group)
    return ReplayGroup(
        use=None if database in ("", current) else identifier(database),
        before=before,
        statements=tuple(_replayed(step, clock, plan) for step in _steps(group)),
        after=after,
    )


#: What a client sends.
Sent = RowsStatement | Savepoint | RollbackTo | ReleaseSavepoint | DdlStatement | LoggedStatement


def _steps(group: Group) -> Sequence[Sent]:
    """The statements of a group; events that a scenario places are nobody's statements."""
    if isinstance(group, XaEnd | ImplicitStatement):
        return ()
    if isinstance(group, DdlStatement | LoggedStatement):
        return (group,)
    return tuple(step for step in group.statements if not isinstance(step, OwnEvent))


def _ends(group: Group) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements that open and end a block."""
    if isinstance(group, XaEnd):
        return (), (f"XA {group.end.upper()} {_xa_text(group.xa)}",)
    if isinstance(group, DdlStatement | LoggedStatement) or not group.in_block:
        return (), ()
    if group.xa is None:
        return ("BEGIN",), (group.end.upper(),)
    xa = _xa_text(group.xa)
    end = f"XA COMMIT {xa} ONE PHASE" if group.end == "commit" else f"XA {group.end.upper()} {xa}"
    return (f"XA START {xa}",), (f"XA END {xa}", end)


def _xa_text(xa: XaId) -> str:
    return f"X'{xa.gtrid.hex()}', X'{xa.bqual.hex()}', {xa.format_id}"


def _replayed(step: Sent, clock: Clock, plan: Plan) -> ReplayStatement:
    if isinstance(step, Savepoint):
        return ReplayStatement(f"SAVEPOINT {identifier(step.name)}", None)
    if isinstance(step, RollbackTo):
        return ReplayStatement(f"ROLLBACK TO SAVEPOINT {identifier(step.name)}", None)
    if isinstance(step, ReleaseSavepoint):
        return ReplayStatement(f"RELEASE SAVEPOINT {identifier(step.name)}", None)
    if isinstance(step, LoggedStatement):
        moment = None if clock.declared is not None or step.time is None else _seconds(step.time)
        return ReplayStatement(step.sent, moment, delimiter=_delimiter(step.sent))
    if not isinstance(step, RowsStatement):
        sql = step.text.replayed
        has_body = isinstance(step, ObjectDefinition)
        return ReplayStatement(sql, _own_time(step, clock), delimiter=_delimiter(sql) if has_body else None)
    settings = step.context.settings
    restored: tuple[str, ...] = ()
    if step.context.rows_query is not None:
        name = _QUERY_SETTINGS[server_line(plan.server).rows.query_event]
        settings += (f"SET SESSION {name} = {int(step.context.rows_query)}",)
        restored = (f"SET SESSION {name} = {int(plan.session.rows_query)}",)
    return ReplayStatement(step.text.sent or step.text.sql, _own_time(step, clock), settings, restored)


def _delimiter(sql: str) -> str | None:
    """What ends a statement that has semicolons of its own."""
    return next(mark for mark in ("//", "$$", "%%", "@@@") if mark not in sql) if ";" in sql else None


def _own_time(statement: RowsStatement | DdlStatement, clock: Clock) -> str | None:
    """The time to set for a statement whose rows hold it, unless the whole session has one."""
    time = statement.context.time if isinstance(statement, RowsStatement) else statement.text.time
    if clock.declared is not None or time is None:
        return None
    return _seconds(time) if asks_for_time(statement) else None


def _seconds(moment: tuple[int, int]) -> str:
    second, microsecond = moment
    return f"{second}.{microsecond:06}"
