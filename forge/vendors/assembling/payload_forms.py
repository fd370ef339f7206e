"""A compressed transaction, of the events that the text prints inside of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forge.binlog.payload import PayloadForm, compress_bytes, inner_format
from forge.events.event import Event, decode_event, encode_event
from forge.events.format import FormatContext, checksummed
from forge.events.transaction_payload import NONE, TransactionPayload
from forge.vendors.assembling.body_forms import mysql_line
from forge.vendors.assembling.event_making import OPEN, STATEMENTS, WITHOUT_BYTES, EventMaking, Made, fits, fits_inside
from forge.vendors.assembling.printed_events import PrintedEvent

#: zstd's levels, the servers' default first.
_LEVELS = (3, *(level for level in range(1, 23) if level != 3))


def made_payload(
    making: EventMaking, event: PrintedEvent, position: int, format: FormatContext, sizes: set[int]
) -> Made:
    """The event, compressed as the server does it."""
    head = event.head
    assert head is not None
    assert event.inner is not None
    inside, total = inner_format(format), event.fields.get("uncompressed_size", 0)
    made = {
        number: _inner(making, inner, inside, set(), checked=format.checksum)
        for number, inner in enumerate(event.inner)
        if inner.kind not in STATEMENTS or inner.raw is not None
    }
    open_ones = [number for number in range(len(event.inner)) if number not in made]
    # Without checksums, all that tells the form of a statement is what the others leave of the size.
    left = total - sum(len(one.raw or b"") for one in made.values())
    sizes_inside = (
        {left} if len(open_ones) == 1 and left > 0 and None not in [one.raw for one in made.values()] else set()
    )
    for number in open_ones:
        made[number] = _inner(making, event.inner[number], inside, sizes_inside, checked=format.checksum)
    ordered = [made[number] for number in sorted(made)]
    parts = [one.raw for one in ordered if one.raw is not None]
    problems = [
        f"{inner.kind}: {one.reason}" for inner, one in zip(event.inner, ordered, strict=True) if one.reason is not None
    ]
    content = b"".join(parts)
    if not content:
        return Made(None, "; ".join(dict.fromkeys(problems)) or "the text has none of the events in it")
    if len(content) != event.fields.get("uncompressed_size", len(content)):
        problems.append("not all of the events in it are in the text")
    likely: bytes | None = None
    for body in _payloads(content, event.fields, format.server_version):
        for timestamp in making.timestamps(event, body):
            whole = Event(body=body, timestamp=timestamp, server_id=head.server_id, log_pos=head.end)
            raw = encode_event(whole, position, format)
            if not problems and fits(raw, head, sizes):
                return Made(raw)
            likely = likely or raw
        if problems:
            break
    return Made(likely, "; ".join(dict.fromkeys(problems)) or "its payload was compressed otherwise")


def _inner(making: EventMaking, event: PrintedEvent, format: FormatContext, sizes: set[int], *, checked: bool) -> Made:
    if event.raw is not None:
        if not checked:
            return Made(event.raw)
        # The program added a checksum.
        decoded = decode_event(event.raw, 0, checksummed(format, True))
        return Made(encode_event(decoded.replace(checksum=None, event_size=None), 0, format))
    if event.head is None or event.kind in ("TABLE_MAP", "ROWS"):
        return Made(None, WITHOUT_BYTES)
    likely = None
    for raw in making.encoded(event, 0, format, sizes, inner=True):
        if fits_inside(raw, event.head):
            making.found(event, decode_event(raw, 0, format))
            return Made(raw)
        likely = likely or raw
    return Made(likely, OPEN)


def _payloads(content: bytes, fields: dict[str, Any], version: str) -> Iterator[TransactionPayload]:
    if fields.get("plain"):
        yield compress_bytes(content, PayloadForm(compression=NONE))
        return
    flushes = mysql_line(version).groups.flushes_payloads
    for level in _LEVELS:
        for flushed in (flushes, not flushes):
            for sized in (not flushed, flushed):
                body = compress_bytes(content, PayloadForm(level=level, flushed=flushed, content_size=sized))
                if level == _LEVELS[0] or len(body.payload) == fields.get("payload_size"):
                    yield body
