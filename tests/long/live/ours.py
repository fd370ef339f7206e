"""What this package says of a case: which statements it takes, and what it logs of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.annotate_rows import AnnotateRows
from forge.events.layout import Body
from forge.events.query import Query
from forge.events.rows_query import RowsQuery
from forge.plan.definitions import DdlStatement
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, plan
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
    """Of CREATE TABLE, then of each statement; ``plan`` has those that were taken, None without the table."""

    outcomes: tuple[Outcome, ...]
    plan: Plan | None


def session_of(sql_mode: str | None, row_image: Literal["full", "minimal", "noblob"]) -> Session:
    """The session of a batch of cases."""
    return Session(
        rows_query=True,
        row_metadata="full",
        timestamp=TIME,
        sql_mode=sql_mode,
        row_image=row_image,
        database="d",
    )


def tried(case: Case, server: str, session: Session) -> CaseOutcome:
    """Each statement behind those that were taken before it."""
    scenario = Scenario("live", server=server, session=session, tables=[case.table])
    planned = _planned(scenario)
    if isinstance(planned, ScenarioError):
        # What follows has no table; the server is not asked it.
        return CaseOutcome((_refused(case.table, planned),), None)
    outcomes = [_taken(planned, 0, case.table)]
    for asked in case.statements:
        longer = scenario.transaction(asked.statement)
        result = _planned(longer)
        if isinstance(result, ScenarioError):
            outcomes.append(_refused(asked.sql, result))
            continue
        outcomes.append(_taken(result, len(planned.groups), asked.sql))
        scenario, planned = longer, result
    logged = logged_by_text(b"".join(write_files(planned, compile_files(planned))))
    # One text may stand several times.
    found = (
        one if one.refused or not logged.get(one.text) else replace(one, logged=logged[one.text].pop(0))
        for one in outcomes
    )
    return CaseOutcome(tuple(found), planned)


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


def _planned(scenario: Scenario) -> Plan | ScenarioError:
    try:
        return plan(scenario)
    except ScenarioError as error:
        return error


def _refused(sql: str, error: ScenarioError) -> Outcome:
    return Outcome(sql, refused=str(error), unsupported=isinstance(error, UnsupportedError))


def _taken(planned: Plan, before: int, sql: str) -> Outcome:
    """What is sent, and logged, for the last statement behind the first ``before`` groups; ``sql`` if for none."""
    for group in reversed(planned.groups[before:]):
        if isinstance(group, Transaction):
            for statement in group.rows_statements:
                return Outcome(statement.text.sent or statement.text.sql, statement.logged_sql)
        elif isinstance(group, DdlStatement):
            return Outcome(group.text.replayed, group.text.sql)
    return Outcome(sql)


def _comparable(body: Body) -> Body:
    if isinstance(body, Query):
        kept = tuple(variable for variable in body.status_variables if variable[0] not in _COUNTED)
        return replace(body, thread_id=0, exec_time=0, status_variables=kept, status_length=None)
    fields: Any = body
    return replace(fields, table_id=0) if hasattr(body, "table_id") else body
