"""What this package says of a case: which statements it takes, and what it logs of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.engine.session.session import Session as RunningSession
from forge.errors import ScenarioError, UnsupportedError
from forge.events.layout import Body
from forge.events.query import Query
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.plan.definitions import DdlStatement
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.transactions import Group, Transaction
from forge.scenario import Scenario
from forge.scenario.convert import checked
from forge.scenario.places import Entry, Places
from forge.scenario.planning import finished, opened, run_entry
from tests.long.live.cases import Case

#: All statements see this time.
TIME = "2024-02-29 10:11:12.349"
#: Status variables of QUERY that count, or that no scenario decides.
_COUNTED = frozenset(("ddl_xid", "mariadb_ddl_xid", "microseconds"))
_ENDS = frozenset(("XID", "ANONYMOUS_GTID", "GTID", "MARIADB_GTID", "STOP", "ROTATE"))
#: What a statement logged: its events' bodies, without numbers that only count.
Logged = tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """``refused`` is why, and ``unsupported`` tells that servers may well take it; else ``sql`` is what is sent, and
    ``text`` what the log has of it.
    """

    sql: str
    text: str = ""
    refused: str | None = None
    unsupported: bool = False
    logged: Logged = ()


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Of CREATE TABLE, then of each statement; ``plan`` has those that were taken, None without the table, and ``logs``
    are its files.
    """

    outcomes: tuple[Outcome, ...]
    plan: Plan | None
    logs: tuple[bytes, ...] = ()


def session_of(sql_mode: str | None, row_image: Literal["full", "minimal", "noblob"], time_zone: str) -> Session:
    """The session of a batch of cases."""
    return Session(
        rows_query=True,
        row_metadata="full",
        timestamp=TIME,
        sql_mode=sql_mode,
        row_image=row_image,
        time_zone=time_zone,
        database="d",
    )


def tried(case: Case, server: str, session: Session) -> CaseOutcome:
    """Each statement behind those that were taken before it."""
    empty = Scenario("live", server=server, session=session, tables=[case.table])
    try:
        scenario = checked(empty)
        places = Places(scenario)
        running = opened(scenario, places)
    except ScenarioError as error:
        # What follows has no table; the server is not asked it.
        return CaseOutcome((_refused(case.table, error),), None)
    outcomes = [_taken(running.journal.groups, case.table)]
    taken: list[tuple[Entry, Any]] = []
    for number, asked in enumerate(case.statements):
        try:
            (entry,) = checked(empty.transaction(asked.statement)).transactions
            step = Entry(places, ("transactions", number)), entry
            trial = _run(scenario, places, taken)
            before = len(trial.journal.groups)
            run_entry(trial, *step)
        except ScenarioError as error:
            outcomes.append(_refused(asked.sql, error))
            continue
        running = trial
        taken.append(step)
        outcomes.append(_taken(running.journal.groups[before:], asked.sql))
    planned = finished(running, scenario)
    logs = tuple(write_files(planned, compile_files(planned)))
    logged = logged_by_text(b"".join(logs))
    # One text may stand several times.
    found = (
        one if one.refused or not logged.get(one.text) else dataclasses.replace(one, logged=logged[one.text].pop(0))
        for one in outcomes
    )
    return CaseOutcome(tuple(found), planned, logs)


def _run(scenario: Scenario, places: Places, taken: Sequence[tuple[Entry, Any]]) -> RunningSession:
    """A session that has run the statements which were taken so far."""
    running = opened(scenario, places)
    for place, entry in taken:
        run_entry(running, place, entry)
    return running


def logged_by_text(log: bytes) -> dict[str, list[Logged]]:
    """What statements of a log wrote, by their text, in order: QUERY itself, or what follows ROWS_QUERY."""
    logged: dict[str, list[Logged]] = {}
    current: str | None = None
    for placed in read_events(log):
        body = placed.event.body
        if isinstance(body, RowsQuery | AnnotateRows):
            current = body.query
            logged.setdefault(current, []).append(())
        elif body.type_name in _ENDS or (isinstance(body, Query) and body.query in ("BEGIN", "COMMIT")):
            current = None
        elif isinstance(body, Query) and current is None:
            logged.setdefault(body.query, []).append((_comparable(body),))
        elif current is not None:
            logged[current][-1] += (_comparable(body),)
    return logged


def _refused(sql: str, error: ScenarioError) -> Outcome:
    return Outcome(sql, refused=str(error), unsupported=isinstance(error, UnsupportedError))


def _taken(groups: Sequence[Group], sql: str) -> Outcome:
    """What is sent, and logged, for the statement of these groups; ``sql`` if for none."""
    for group in reversed(groups):
        if isinstance(group, Transaction):
            for statement in group.rows_statements:
                return Outcome(statement.text.sent or statement.text.sql, statement.logged_sql)
        elif isinstance(group, DdlStatement):
            return Outcome(group.text.replayed, group.text.sql)
    return Outcome(sql)


def _comparable(body: Body) -> Body:
    if isinstance(body, Query):
        kept = tuple(variable for variable in body.status_variables if variable[0] not in _COUNTED)
        return dataclasses.replace(body, thread_id=0, exec_time=0, status_variables=kept, status_length=None)
    fields: Any = body
    return dataclasses.replace(fields, table_id=0) if hasattr(body, "table_id") else body
