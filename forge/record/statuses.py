"""The ``statuses`` of a session's facts: QUERY events whose status variables no rule of the server line gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from forge.binlog.payload import inner_events
from forge.binlog.reader import read_events
from forge.binlog.writer import write_binlog
from forge.compile import compile_files
from forge.compile.query.statuses import difference
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import QueryCompressed, plain_query
from forge.events.query import Query
from forge.events.status_vars import StatusVariables
from forge.events.transaction_payload import TransactionPayload
from forge.plan.facts import QueryStatus
from forge.plan.plan import Plan
from forge.servers import server_line

#: Statements that servers write anew by rules that are not followed here: with a password's hash, the words of a type.
_IS_REWRITTEN = re.compile(
    r"(?:(?:CREATE|ALTER|DROP|RENAME)\b[^(]{0,200}?\b(?:USER|ROLE|PROCEDURE|FUNCTION|EVENT|SERVER|PACKAGE)\b"
    r"|GRANT\b|REVOKE\b|SET\s)",
    re.IGNORECASE,
)


def statuses_of(plan: Plan, recorded: Iterable[bytes]) -> list[QueryStatus]:
    """What the facts of the session must say beside those in the plan, which has no such entries.

    An event is left out if it differs in anything else, or if its variables stand in an order that no server of the
    line writes; so are all if the logs have not the same number of QUERY events.  Raises as ``compile_files`` and
    ``read_events``.
    """
    line = server_line(plan.server)
    compiled = list(query_events(map(write_binlog, compile_files(plan))))
    found = list(query_events(recorded))
    if len(compiled) != len(found):
        return []
    statuses = []
    for number, (ours, theirs) in enumerate(zip(compiled, found, strict=True), 1):
        variables = difference(_variables(ours), _variables(theirs), line)
        if variables is None or _without(ours) != _without(theirs):
            continue
        text, other = ours.body.query, theirs.body.query  # type: ignore[attr-defined]
        if text == other and variables:
            statuses.append(QueryStatus(query=number, variables=variables))
        elif text != other and _IS_REWRITTEN.match(text):
            statuses.append(QueryStatus(query=number, variables=variables, text=other))
    return statuses


def _variables(event: Event) -> StatusVariables:
    variables: StatusVariables = event.body.status_variables  # type: ignore[attr-defined]
    return variables


def query_events(files: Iterable[bytes]) -> Iterator[Event]:
    """The QUERY and EXECUTE_LOAD_QUERY events of a session's files as ``QueryStatus`` counts them, uncompressed."""
    for data in files:
        for placed in read_events(data, strict=False):
            yield from _queries((placed.event,))


def _queries(events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        body = event.body
        if isinstance(body, TransactionPayload):
            yield from _queries(inner_events(body, FormatContext()))
        elif isinstance(body, QueryCompressed):
            yield event.replace(body=plain_query(body))
        elif isinstance(body, (Query, ExecuteLoadQuery)):
            yield event


def _without(event: Event) -> Event:
    """The event without its status variables and its text, and what depends on their size."""
    body = event.body.replace(status_variables=(), status_length=None, query="")
    return event.replace(body=body, event_size=None, log_pos=None, checksum=None)
