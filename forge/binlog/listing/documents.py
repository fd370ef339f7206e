"""One event of a listing: the best document for its bytes, and the event that a document describes.

A TRANSACTION_PAYLOAD is listed as the documents of the events inside (``events``) where compressing them again gives
the same bytes; their log_pos is 0 unless it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any

from forge.binlog.listing.fields import ListingState, body_from_fields, body_to_fields, plain_fields
from forge.binlog.listing.rows import usual_rows_to_fields
from forge.binlog.payload import (
    DEEPEST,
    DEFAULT_LEVEL,
    LEVELS,
    PayloadForm,
    compress_bytes,
    encode_inner,
    likely_levels,
    payload_bytes,
)
from forge.binlog.reader import Frame, frames
from forge.binlog.writer import derives_length
from forge.errors import ForgeError, FormatError, ScenarioError, nearest
from forge.events.event import EVENT_FLAGS, Event, RawBody, built_body, decode_event, encode_event, own_format
from forge.events.format import FormatContext
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import Body
from forge.events.plain import flag_names, flag_value
from forge.events.query import Query
from forge.events.registry import EVENT_CODES
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.table_map import TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, NONE, ZSTD, TransactionPayload
from forge.values.quick import UnusualError

Document = dict[str, Any]

HEADER_FIELDS = ("timestamp", "server_id", "flags", "event_size", "log_pos", "checksum")
#: Bytes of a header, and of a fixed part, that is longer than usual; in hexadecimal.
EXTRA_FIELDS = ("header_extra", "post_header_extra")
#: Payloads up to this size are tried with every level, larger ones with the server's default only.
_EVERY_LEVEL = 1 << 18
#: The header of a zstd frame's last block that has no bytes.
_EMPTY_LAST_BLOCK = b"\1\0\0"
#: Bytes, and events, in a payload; a payload of more is listed as the compressed bytes, which are short text.
_LARGEST_LISTED, _MOST_LISTED = 1 << 24, 1 << 16
#: Characters of a statement, or columns of a table, whose fields are kept for the next event with the same body.
_LONGEST_KEPT = 1 << 12
_COMPRESSIONS = {"zstd": ZSTD, "none": NONE}


def describe(frame: Frame, state: ListingState, derived_length: int | None) -> tuple[Document, Event | None]:
    """The best document for a frame, and the event that assembling it will see."""
    try:
        decoded = decode_event(frame.raw, frame.offset, state.format)
    except FormatError:
        return {"bytes": frame.raw.hex()}, None
    event = _without_derived_length(decoded, derived_length)
    for fields, body, built in _forms(event, state):
        rebuilt = event if body is event.body else event.replace(body=body)
        if _encodes_to(rebuilt, frame, state.format, derived_length, built):
            return {"event": rebuilt.type_name} | _header_to_fields(event) | fields, rebuilt
    return {"bytes": frame.raw.hex()}, None


#: Fields of a listing, the body that is made of them, and its bytes, if they are known.
_Form = tuple[Document, Body, bytes | None]


def _forms(event: Event, state: ListingState) -> Iterator[_Form]:
    """The forms of an event's body, the most readable one first."""
    body = event.body
    # The two are in all small transactions; others hardly come again.
    if isinstance(body, (Query, TableMap)) and _length(body) <= _LONGEST_KEPT:
        if (kept := _kept_form(body, state.format)) is not None:
            yield kept
    elif isinstance(body, ROWS_BODIES):
        yield from _usual_rows(body, state)
    elif isinstance(body, TransactionPayload) and (inside := _payload_fields(body, state)) is not None:
        yield inside, body, None
    if not isinstance(body, RawBody):
        for fields in (body_to_fields(body, state), plain_fields(body)):
            with suppress(ForgeError, ValueError):
                if fields is not None:
                    yield fields, body_from_fields(body.type_code, fields, state), None
    raw = RawBody(event.type_code, built_body(event, own_format(event, state.format)))
    yield {"body": raw.data.hex()}, raw, None


def _length(body: Query | TableMap) -> int:
    return len(body.query if isinstance(body, Query) else body.types)


@lru_cache(maxsize=256)
def _kept_form(body: Query | TableMap, format: FormatContext) -> _Form | None:
    fields = body_to_fields(body, ListingState())
    try:
        if fields is None or body_from_fields(body.type_code, fields, ListingState()) != body:
            return None
    except (ForgeError, ValueError):
        return None
    longer = format.more_post_header(body.type_code) != (0, 0)
    return fields, body, None if longer else body.build(format)


def _usual_rows(body: RowsBody, state: ListingState) -> Iterator[_Form]:
    table = state.table(body.table_id)
    with suppress(UnusualError, ForgeError, ValueError):
        fields = None if table is None else usual_rows_to_fields(body, table)
        if fields is not None and body_from_fields(body.type_code, fields, state) == body:
            yield fields, body, None


def _without_derived_length(event: Event, derived_length: int | None) -> Event:
    body = event.body
    if (
        isinstance(body, (AnonymousGtid, GtidTagged))
        and derived_length is not None
        and body.transaction_length == derived_length
    ):
        return event.replace(body=body.replace(transaction_length=None))
    return event


def _encodes_to(
    event: Event, frame: Frame, format: FormatContext, derived_length: int | None, body: bytes | None = None
) -> bool:
    if derives_length(event):
        if derived_length is None:
            return False
        assert isinstance(event.body, (AnonymousGtid, GtidTagged))
        event = event.replace(body=event.body.replace(transaction_length=derived_length))
    try:
        return encode_event(event, frame.offset, format, body=body) == frame.raw
    except ScenarioError:
        return False


def _header_to_fields(event: Event) -> Document:
    fields: Document = {"timestamp": event.timestamp, "server_id": event.server_id}
    if event.flags:
        fields["flags"] = flag_names(event.flags, EVENT_FLAGS)
    for name in ("event_size", "log_pos", "checksum"):
        if getattr(event, name) is not None:
            fields[name] = getattr(event, name)
    for name in EXTRA_FIELDS:
        if extra := getattr(event, name):
            fields[name] = extra.hex()
    return fields


def undescribe(document: Document, state: ListingState) -> Event | bytes:
    if "bytes" in document:
        return unhex(document["bytes"], "bytes")
    fields = dict(document)
    name = fields.pop("event", None)
    type_code = EVENT_CODES.get(str(name))
    if type_code is None:
        type_code = _number(name)
    header: dict[str, Any] = {key: fields.pop(key) for key in HEADER_FIELDS if key in fields}
    header["flags"] = flag_value(header.get("flags", ()), EVENT_FLAGS)
    for key, value in header.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ScenarioError(f"{key} is {value!r}", expected="a number")
    header |= {key: unhex(fields.pop(key), key) for key in EXTRA_FIELDS if key in fields}
    if type_code == TransactionPayload.type_code and "events" in fields:
        return Event(body=_payload_from_fields(fields, state), **header)
    if set(fields) == {"body"}:
        return Event(body=RawBody(type_code, unhex(fields["body"], "body")), **header)
    return Event(body=body_from_fields(type_code, fields, state), **header)


def _number(name: Any) -> int:
    text = str(name)
    if text.isdigit() and int(text) < 256:
        return int(text)
    raise ScenarioError(
        "a document needs an event type" if name is None else f"unknown event type {name!r}",
        expected="the name of an event type, or its number (0 to 255)",
        suggestion=nearest(text, EVENT_CODES) if name is not None else None,
    )


def unhex(value: Any, field: str) -> bytes:
    try:
        return bytes.fromhex(str(value))
    except ValueError:
        raise ScenarioError(f"{field} is not hexadecimal", expected="pairs of the digits 0-9 a-f") from None


def _payload_fields(body: TransactionPayload, state: ListingState) -> Document | None:
    """The events inside, each of which gives its bytes, if some level of the compressor makes this payload of them."""
    if state.depth == DEEPEST:
        return None
    try:
        data = payload_bytes(body, _LARGEST_LISTED)
    except FormatError:
        return None
    if next(islice(frames(data, 0), _MOST_LISTED, None), None) is not None:
        return None
    kind = body.number(COMPRESSION_TYPE, ZSTD)
    levels: Sequence[int] = LEVELS if len(data) <= _EVERY_LEVEL and kind == ZSTD else (DEFAULT_LEVEL,)
    flushed = kind == ZSTD and body.payload.endswith(_EMPTY_LAST_BLOCK)
    if flushed:
        levels = likely_levels(body.payload, levels)
    forms = (_form(level, kind or ZSTD, flushed=flushed) for level in levels)
    form = next((form for form in forms if compress_bytes(data, form) == body), None)
    if form is None:
        return None
    fields: Document = {} if kind == ZSTD else {"compression": "none"}
    if form.level != DEFAULT_LEVEL:
        fields["level"] = form.level
    if flushed:
        fields["flushed"] = True
    return fields | {"events": list(_inner_documents(data, state))}


def _form(level: int, compression: int, *, flushed: bool) -> PayloadForm:
    """How a server makes a payload; ``flushed``: one of 8.0."""
    return PayloadForm(level, compression, content_size=not flushed, flushed=flushed)


def _inner_documents(data: bytes, state: ListingState) -> Iterator[Document]:
    inner = state.inside()
    end = 0
    for frame in frames(data, 0):
        # Where the event ends is position 0: then 0 is what log_pos would be derived to be.
        document, event = describe(Frame(frame.index, -len(frame.raw), frame.raw), inner, None)
        if event is not None:
            inner.note(event)
        yield document
        end = frame.offset + len(frame.raw)
    if end < len(data):
        yield {"bytes": data[end:].hex()}


def _payload_from_fields(fields: Document, state: ListingState) -> TransactionPayload:
    """The payload of the events that the documents under ``events`` describe.  Raises ScenarioError."""
    unknown = set(fields) - {"events", "level", "compression", "flushed"}
    level, compression, flushed, documents = (
        fields.get("level", DEFAULT_LEVEL),
        fields.get("compression", "zstd"),
        fields.get("flushed", False),
        fields["events"],
    )
    if unknown:
        raise ScenarioError(
            f"{min(unknown)} cannot be combined with events", expected="compression, level, flushed and events"
        )
    if isinstance(level, bool) or level not in LEVELS:
        raise ScenarioError(f"level is {level!r}", expected=f"{min(LEVELS)} to {max(LEVELS)}")
    if compression not in _COMPRESSIONS:
        raise ScenarioError(f"compression is {compression!r}", expected=f"one of {', '.join(_COMPRESSIONS)}")
    if not isinstance(flushed, bool):
        raise ScenarioError(f"flushed is {flushed!r}", expected="true or false")
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        raise ScenarioError("events is not a list", expected="a list of documents")
    if state.depth == DEEPEST:
        raise ScenarioError(
            f"more than {DEEPEST} payloads lie inside each other", expected="the innermost one as compressed bytes"
        )
    inner = state.inside()
    parts = []
    for document in documents:
        item = undescribe(document, inner)
        if isinstance(item, Event):
            parts.append(encode_inner(item, inner.format))
            inner.note(item)
        else:
            parts.append(item)
    return compress_bytes(b"".join(parts), _form(level, _COMPRESSIONS[compression], flushed=flushed))
