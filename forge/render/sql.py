"""A plan as SQL that does the same on a live server.

The statements' own texts are used as they are, for they are logged (ROWS_QUERY, DDL).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.compile.query.clock_status import CLOCK_FUNCTIONS
from forge.plan.circumstances import Turn
from forge.plan.definitions import (
    DatabaseDefinition,
    DatabaseDrop,
    DdlStatement,
    ImplicitStatement,
    ObjectDefinition,
    TableAlteration,
    TableUpkeep,
)
from forge.plan.gtids import MysqlGtid
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.transactions import (
    Group,
    LoggedStatement,
    OwnEvent,
    ReleaseSavepoint,
    RollbackTo,
    Savepoint,
    Transaction,
    XaEnd,
    XaId,
)
from forge.render.settings import QUERY_SETTINGS, seconds, setting_statements
from forge.render.templates import render
from forge.servers import ServerLine, server_line
from forge.sql.write import identifier, qualified

#: One client sends all of a group.
_WHOLE = Turn(0)


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
    #: Number of the client, where there are several, whose connections stay open.
    client: int = 0
    #: Server id of the source that it is sent to; None for the server whose log is made.
    source: int | None = None


def replay_script(plan: Plan) -> str:
    """SQL text for the vendor's client that makes a server log the plan's groups, in one session.

    Options of the server (GTIDs, checksum, metadata, event limit, server id) are not in it.  Of a plan in which the
    server is started again, or that has several clients, the sessions follow one another (:func:`replay_sessions` has
    them one by one).
    """
    return "".join(_heading(plan, session) + session.sql for session in replay_sessions(plan))


def _heading(plan: Plan, session: ReplaySession) -> str:
    place = "" if session.source is None else f", on the server with the id {session.source}"
    return f"-- Connection {session.client}{place}:\n" if plan.turns else ""


def replay_sessions(plan: Plan) -> Iterator[ReplaySession]:
    """As :func:`replay_script`, a session for each run of the server, and for each client that goes on for another."""
    if plan.turns:
        yield from _turns(plan)
        return
    current, settings = "", plan.session
    groups: list[ReplayGroup] = []
    first = True
    for number in range(len(plan.groups) + 1):
        groups += _logging(plan, number)
        if number in plan.reconnects:
            yield ReplaySession(_session_text(plan, groups, first=first))
            groups, current, settings, first = [], "", plan.session, False
        for step in plan.file_steps:
            if step.after != number:
                continue
            if step.kind == "flush":
                groups.append(ReplayGroup(None, (), (ReplayStatement("FLUSH BINARY LOGS", None),), ()))
                continue
            yield ReplaySession(_session_text(plan, groups, first=first), step.kind)
            groups, current, settings, first = [], "", plan.session, False
        if number < len(plan.groups):
            groups.append(_group(plan, number, current, settings))
            current, settings = _current_after(plan.groups[number], current), plan.settings(number)[1]
    yield ReplaySession(_session_text(plan, groups, first=first))


def _turns(plan: Plan) -> Iterator[ReplaySession]:
    """What each of several clients sends at a time."""
    current: dict[tuple[int, int | None], tuple[str, Session]] = {}
    started_again = False
    for turn in plan.turns:
        if turn.end_of_file in ("restart", "crash"):
            current, started_again = {}, True
            yield ReplaySession("", turn.end_of_file, turn.client)
            continue
        source = None if turn.group is None else plan.settings(turn.group)[0].source
        sender = (turn.client, None if source is None else source.server_id)
        begins = sender not in current
        database, settings = current.setdefault(sender, ("", plan.session))
        if turn.group is None:
            group = ReplayGroup(None, (), (ReplayStatement("FLUSH BINARY LOGS", None),), ())
        else:
            group = _group(plan, turn.group, database, settings, turn)
            sent = plan.groups[turn.group]
            current[sender] = _current_after(sent, database), _settings_after(plan, turn, settings)
        switched = () if turn.group is None else _logging(plan, turn.group)
        first = not (turn.client or started_again)
        text = _session_text(plan, [*switched, group], first=first, begins=begins)
        yield ReplaySession(text, client=turn.client, source=sender[1])


def _logging(plan: Plan, number: int) -> tuple[ReplayGroup, ...]:
    """What keeps the first groups out of the log, where they are in the plan as there before it, and ends that."""
    switch = {0: 0, plan.existing: 1}.get(number) if plan.existing else None
    return (
        () if switch is None else (ReplayGroup(None, (), (ReplayStatement(f"SET sql_log_bin = {switch}", None),), ()),)
    )


def _current_after(group: Group, current: str) -> str:
    """The session's database after a group; none if it was dropped."""
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


def _session_text(plan: Plan, groups: Sequence[ReplayGroup], *, first: bool, begins: bool = True) -> str:
    line = server_line(plan.server)
    return render(
        "sql/replay.sql.j2",
        name=" ".join(plan.name.split()),
        server=plan.server,
        reset_words=line.framing.reset_words,
        settings=setting_statements(plan.session, None, line) if begins else (),
        first_file=plan.session.first_file if first and begins and plan.session.first_file != 1 else None,
        groups=groups,
    )


def _group(plan: Plan, number: int, current: str, settings: Session, turn: Turn = _WHOLE) -> ReplayGroup:
    """The statements of a group, or those that a client sends of it in its turn."""
    group, line = plan.groups[number], server_line(plan.server)
    database = _database_of(group, current)
    before, after = _ends(group)
    begun, ended = plan.settings(number)
    given, restored = _gtid_statements(plan, number)
    held, released = _locks(group)
    before, after = (*held, *before), (*after, *released)
    changed: tuple[str, ...] = ()
    if turn.begins:
        changed, settings = setting_statements(begun, settings, line) + given, begun
    statements = []
    for step in _steps(group, turn):
        own = _settings_of(step, plan, settings, alone=not isinstance(group, Transaction))
        statements.append(_replayed(step, plan, own, setting_statements(own, settings, line)))
        settings = own
    return ReplayGroup(
        use=None if database in ("", current) else identifier(database),
        before=(*changed, *before) if turn.begins else (),
        statements=tuple(statements),
        after=(*setting_statements(ended, settings, line), *after, *restored) if turn.ends else (),
    )


def _locks(group: Group) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements around a group that runs under LOCK TABLES."""
    statements = group.rows_statements if isinstance(group, Transaction) else ()
    tables = next((statement.opened.held for statement in statements), ())
    if not tables:
        return (), ()
    names = (f"{qualified(table.database, table.name)} WRITE" for table in tables)
    return (f"LOCK TABLES {', '.join(names)}",), ("UNLOCK TABLES",)


def _gtid_statements(plan: Plan, number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements that give a group its GTID, and those that leave it to the server again."""
    circumstances = plan.circumstances.get(number)
    given = None if circumstances is None else circumstances.gtid
    begun, ended = plan.settings(number)
    if isinstance(given, MysqlGtid):
        text = f"'{given.text}'" if given.uuid else f"CONCAT(@@server_uuid, ':{given.text}')"
        tag = f":{ended.gtid_tag}" if ended.gtid_tag else ""
        return (f"SET SESSION gtid_next = {text}",), (f"SET SESSION gtid_next = 'AUTOMATIC{tag}'",)
    if given is None:
        return (), ()
    domain = begun.gtid_domain_id if given.domain is None else given.domain
    server = begun.server_id if given.server is None else given.server
    own = f"gtid_domain_id = {domain}, server_id = {server}, gtid_seq_no = {given.number}"
    usual = f"gtid_domain_id = {ended.gtid_domain_id}, server_id = {ended.server_id}"
    return (f"SET SESSION {own}",), (f"SET SESSION {usual}",)


def _settings_after(plan: Plan, turn: Turn, settings: Session) -> Session:
    """The settings of a client after its turn; ``settings`` are those before."""
    assert turn.group is not None
    begun, ended = plan.settings(turn.group)
    if turn.ends:
        return ended
    settings = begun if turn.begins else settings
    for step in _steps(plan.groups[turn.group], turn):
        settings = _settings_of(step, plan, settings, alone=False)
    return settings


def _settings_of(step: Sent, plan: Plan, settings: Session, *, alone: bool) -> Session:
    """The settings in which a statement runs; ``settings`` are those of the statement before, or of a whole group."""
    if isinstance(step, RowsStatement):
        return step.context.session or plan.session
    if isinstance(step, DdlStatement) and not alone:
        return step.text.session or plan.session
    if isinstance(step, Savepoint | RollbackTo):
        return step.session or plan.session
    return settings


#: What a client sends.
Sent = RowsStatement | Savepoint | RollbackTo | ReleaseSavepoint | DdlStatement | LoggedStatement


def _steps(group: Group, turn: Turn) -> Sequence[Sent]:
    """The statements of a group that are sent in a turn; events placed by the scenario are not sent."""
    if isinstance(group, XaEnd | ImplicitStatement):
        return ()
    if isinstance(group, DdlStatement | LoggedStatement):
        return (group,)
    return tuple(step for step in group.statements[turn.first : turn.last] if not isinstance(step, OwnEvent))


def _ends(group: Group) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The statements that open and end a block."""
    if isinstance(group, XaEnd):
        return (), (f"XA {group.end.upper()} {_xa_text(group.xa)}",)
    if isinstance(group, DdlStatement | LoggedStatement) or not group.in_block:
        return (), ()
    if group.xa is None:
        return ("START TRANSACTION",), (group.end.upper(),)
    xa = _xa_text(group.xa)
    end = f"XA COMMIT {xa} ONE PHASE" if group.end == "commit" else f"XA {group.end.upper()} {xa}"
    return (f"XA START {xa}",), (f"XA END {xa}", end)


def _xa_text(xa: XaId) -> str:
    return f"X'{xa.gtrid.hex()}', X'{xa.bqual.hex()}', {xa.format_id}"


def _replayed(step: Sent, plan: Plan, session: Session, changed: tuple[str, ...]) -> ReplayStatement:
    """The statement in the settings ``session``, which ``changed`` make of those before."""
    line = server_line(plan.server)
    if isinstance(step, Savepoint):
        return ReplayStatement(f"SAVEPOINT {identifier(step.name)}", None, changed)
    if isinstance(step, RollbackTo):
        return ReplayStatement(f"ROLLBACK TO SAVEPOINT {identifier(step.name)}", None, changed)
    if isinstance(step, ReleaseSavepoint):
        return ReplayStatement(f"RELEASE SAVEPOINT {identifier(step.name)}", None, changed)
    if isinstance(step, LoggedStatement):
        moment = (
            None if session.timestamp is not None or step.time is None else seconds(step.time, server_line(plan.server))
        )
        return ReplayStatement(step.sent, moment, delimiter=_delimiter(step.sent))
    if not isinstance(step, RowsStatement):
        sql = step.text.replayed
        has_body = isinstance(step, ObjectDefinition)
        delimiter = _delimiter(sql) if has_body else None
        return ReplayStatement(sql, _own_time(step, session, line), changed, delimiter=delimiter)
    settings = changed + step.context.settings
    restored: tuple[str, ...] = ()
    if step.context.rows_query is not None:
        name = QUERY_SETTINGS[line.rows.query_event]
        settings += (f"SET SESSION {name} = {int(step.context.rows_query)}",)
        restored = (f"SET SESSION {name} = {int(session.rows_query)}",)
    moment = _own_time(step, session, line)
    return ReplayStatement(step.text.sent or step.text.sql, moment, settings, restored)


def _delimiter(sql: str) -> str | None:
    """What ends a statement that has semicolons of its own."""
    return next(mark for mark in ("//", "$$", "%%", "@@@") if mark not in sql) if ";" in sql else None


def _own_time(statement: RowsStatement | DdlStatement, session: Session, line: ServerLine) -> str | None:
    """The time to set for a statement whose rows hold it, unless the whole session has one."""
    time = statement.context.time if isinstance(statement, RowsStatement) else statement.text.time
    if session.timestamp is not None or time is None:
        return None
    return seconds(time, line) if _may_hold_time(statement) else None


def _may_hold_time(statement: RowsStatement | DdlStatement) -> bool:
    """Whether the rows that the statement leaves may hold its time."""
    match statement:
        case RowsStatement():
            calls = {call.name for call in statement.text.calls | statement.triggers.calls}
            if statement.table.row_end is not None or not calls.isdisjoint(CLOCK_FUNCTIONS):
                return True
            columns = statement.table.columns if statement.kind != "delete" else ()
        case TableAlteration() | ObjectDefinition() | TableUpkeep():
            # Changing a table evaluates the defaults of all its columns; making one does not.
            if isinstance(statement, ObjectDefinition) and statement.fraction:
                return True
            if isinstance(statement, TableAlteration) and statement.adds_versions:
                return True
            columns = tuple(column for table in statement.tables for column in table.columns)
        case _:
            return False
    return any(
        # NULL may stand for the time in a TIMESTAMP.
        column.default_now or column.on_update_now or (column.type.name == "TIMESTAMP" and not column.nullable)
        for column in columns
    )
