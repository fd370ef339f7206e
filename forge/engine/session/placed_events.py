"""Events that a scenario places by hand: what their entry means."""

from __future__ import annotations

from typing import Any

from forge.binlog.listing.documents import undescribe
from forge.binlog.listing.fields import ListingState
from forge.engine.requests.statements import PlacedEvent
from forge.errors import FormatError, ScenarioError, nearest
from forge.events.event import EVENT_FLAGS, IGNORABLE, Event
from forge.events.format_description import FormatDescription
from forge.events.ignorable import Ignorable
from forge.events.layout import Body
from forge.events.registry import EVENT_CODES, require_type
from forge.events.rows_query import RowsQuery
from forge.plan.transactions import OwnEvent
from forge.servers import ServerLine

#: Places inside a transaction, and those of an event by itself.
INSIDE, OUTSIDE = ("here", "begin", "rows"), ("here", "description", "head", "end")
#: Types that servers mark as ignorable.
_IGNORABLE_TYPES = (Ignorable.type_code, RowsQuery.type_code)
_FLAGS = {name: bit for bit, name in EVENT_FLAGS}


def own_event(declared: PlacedEvent, listed: ListingState, line: ServerLine, *, inside: bool) -> OwnEvent:
    """The compiler's form of an entry, ``inside`` a transaction or by itself.

    ``listed`` knows the scenario's own TABLE_MAP events, under which rows may stand.  Raises ScenarioError, also for
    the name of a type that the line does not know, unless FORMAT_DESCRIPTION shall list it.
    """
    places = INSIDE if inside else OUTSIDE
    if declared.place not in places:
        where = "inside a transaction" if inside else "by itself"
        raise ScenarioError(f"an event {where} has no place {declared.place!r}", expected=", ".join(places))
    code = _type_code(declared.type)
    if isinstance(declared.type, str) and declared.post_header_length is None and code:
        try:
            require_type(line, code)
        except ScenarioError as error:
            how = f"{error.expected}, post_header_length, or the number instead of the name"
            raise ScenarioError(error.problem, expected=how) from None
    if code == 0 and declared.post_header_length is not None:
        raise ScenarioError("FORMAT_DESCRIPTION lists no type 0", expected="no post_header_length")
    if declared.post_header_length is not None and line.framing.binlog_version < 4:
        raise ScenarioError(f"files of {line.name} list no event types", expected="no post_header_length")
    return OwnEvent(
        type_code=code,
        data=_data(declared.hex),
        text=declared.text,
        body=None if declared.fields is None else _body(code, declared.fields, listed),
        flags=_flags(declared, code),
        place=declared.place,
        timestamp=declared.timestamp,
        server_id=declared.server_id,
        post_header_length=declared.post_header_length,
    )


def _body(code: int, fields: dict[str, Any], listed: ListingState) -> Body:
    """The body of these fields.  Raises ScenarioError for unknown names, and values that cannot be."""
    pinned = sorted({"event", "timestamp", "server_id", "flags", "event_size", "log_pos", "checksum"} & set(fields))
    if pinned:
        raise ScenarioError(f"{pinned[0]} is no field of the body", expected="fields of the event's type")
    try:
        event = undescribe({"event": code, **fields}, listed)
    except FormatError as error:
        raise ScenarioError(str(error)) from None
    assert isinstance(event, Event)
    listed.note(event)
    return event.body


def _type_code(declared: str | int) -> int:
    if isinstance(declared, str):
        if declared not in EVENT_CODES:
            suggestion = nearest(declared.upper(), EVENT_CODES)
            problem = f"unknown event type {declared!r}"
            raise ScenarioError(problem, expected="a name or 0 to 255", suggestion=suggestion)
        declared = EVENT_CODES[declared]
    if not 0 <= declared <= 255:
        raise ScenarioError(f"{declared} is not an event type", expected="0 to 255")
    if declared == FormatDescription.type_code:
        raise ScenarioError("FORMAT_DESCRIPTION changes how a file is read", expected="a listing (forge asm) for that")
    return declared


def _data(text: str | None) -> bytes:
    try:
        return bytes.fromhex(text or "")
    except ValueError:
        raise ScenarioError(f"{text!r} is not hex", expected="pairs of hexadecimal digits") from None


def _flags(declared: PlacedEvent, code: int) -> int:
    flags = 0
    for name in declared.flags:
        if name not in _FLAGS:
            raise ScenarioError(
                f"unknown flag {name!r}", expected=f"one of {', '.join(_FLAGS)}", suggestion=nearest(name, _FLAGS)
            )
        flags |= _FLAGS[name]
    ignorable = code in _IGNORABLE_TYPES if declared.ignorable is None else declared.ignorable
    return flags | (IGNORABLE if ignorable else 0)
