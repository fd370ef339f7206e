"""Events of the scenario's own: informational, private and unknown ones, which no statement logs (WL#4033)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from forge.events.event import Event, RawBody
from forge.events.heartbeat import Heartbeat
from forge.events.incident import Incident
from forge.events.layout import Body
from forge.events.plain import to_bytes
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.transactions import OwnEvent, Transaction
from forge.servers import ServerLine

_LEAST_DESCRIPTION = 57


def own_event(event: OwnEvent, second: int, session: Session, line: ServerLine) -> Event:
    """The event, dated ``second`` and by the session's server where the scenario says nothing else."""
    return Event(
        body=_body(event, line),
        timestamp=second if event.timestamp is None else event.timestamp,
        server_id=session.server_id if event.server_id is None else event.server_id,
        flags=event.flags,
    )


def _body(event: OwnEvent, line: ServerLine) -> Body:
    if event.body is not None:
        return event.body
    if event.text is None:
        return RawBody(event.type_code, event.data)
    if event.type_code == RowsQuery.type_code:
        return rows_query(event.text, line)
    make = _BODIES.get(event.type_code)
    return make(event.text) if make is not None else RawBody(event.type_code, to_bytes(event.text))


def rows_query(text: str, line: ServerLine) -> RowsQuery:
    """ROWS_QUERY of a statement's text, as the line writes it."""
    if not line.rows.query_ends_at_nul:
        return RowsQuery(unused_length=0, query=text)
    text = text.partition("\0")[0]
    return RowsQuery(unused_length=len(to_bytes(text)) % 256, query=text)


#: Types whose body is more, or less, than a text.
_BODIES: dict[int, Callable[[str], Body]] = {
    AnnotateRows.type_code: lambda text: AnnotateRows(query=text),
    Incident.type_code: lambda text: Incident(message=text),
    Heartbeat.type_code: lambda text: Heartbeat(file_name=text),
}


def own_events(plan: Plan) -> Iterator[OwnEvent]:
    """All events that the scenario places."""
    for group in plan.groups:
        if isinstance(group, Transaction):
            yield from (step for step in group.statements if isinstance(step, OwnEvent))
    yield from (step.event for step in plan.event_steps)


def with_types(lengths: bytes, events: Iterable[OwnEvent]) -> bytes:
    """The post-header lengths of FORMAT_DESCRIPTION with the types that events ask to have listed."""
    listed = {event.type_code: event.post_header_length for event in events if event.post_header_length is not None}
    if not listed:
        return lengths
    listing = bytearray(lengths.ljust(max(listed), b"\0"))
    for code, length in listed.items():
        listing[code - 1] = length
    # The entry for FORMAT_DESCRIPTION is its own length, modulo 256.
    listing[14] = (_LEAST_DESCRIPTION + len(listing)) % 256
    return bytes(listing)
