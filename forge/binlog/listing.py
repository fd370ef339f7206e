"""The listing: a binary log as editable, diffable text, and back.

A listing is a stream of YAML documents (or JSON lines), one an event.  Fields that can be derived (sizes, positions,
lengths, checksums) appear only where the file's bytes differ from what would be derived.  Four forms of an event are
tried, and the first that assembles to the same bytes is taken: fields with readable rows and columns; plain fields;
header fields with the body as hex; the bytes.  So ``assemble(disassemble(data)) == data`` for any data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from forge.binlog.listing_text import dump_document
from forge.binlog.listing_views import ListingState, body_from_fields, body_to_fields, plain_fields
from forge.binlog.reader import Frame, announced_size, frames, has_magic
from forge.binlog.writer import GROUP_BOUNDARIES, Item, derives_length, group_length, write_binlog
from forge.errors import ForgeError, FormatError, ScenarioError, nearest
from forge.events.event import EVENT_FLAGS, Event, RawBody, decode_event, encode_event
from forge.events.format import FormatContext
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import flag_names, flag_value, pack_int
from forge.events.registry import EVENT_CODES
from forge.located import load_documents

Document = dict[str, Any]

HEADER_FIELDS = ("timestamp", "server_id", "flags", "event_size", "log_pos", "checksum")


def disassemble(data: bytes) -> Iterator[Document]:
    """The documents of the listing of ``data``, in file order."""
    if not has_magic(data):
        yield {"file": data.hex()}
        return
    found = list(frames(data))
    lengths = _group_lengths(found)
    state = ListingState()
    for frame in found:
        document, event = _describe(frame, state, lengths.get(frame.index))
        if event is not None:
            state.note(event)
        yield document
    end = found[-1].offset + len(found[-1].raw) if found else 4
    if end < len(data):
        yield {"bytes": data[end:].hex()}


def listing_text(data: bytes) -> Iterator[str]:
    """The listing as YAML text, a chunk an event."""
    offset = 4 if has_magic(data) else 0
    yield "# A binary log as a listing; `forge asm` makes the file again.\n"
    for number, document in enumerate(disassemble(data)):
        yield f"---\n# event {number} at {offset}\n" + dump_document(document)
        offset += announced_size(data, offset)


def listing_json(data: bytes) -> Iterator[str]:
    """The listing as JSON lines."""
    for document in disassemble(data):
        yield json.dumps(document, ensure_ascii=False) + "\n"


def assemble(text: str, *, file: str | None = None) -> bytes:
    """The file that a listing (YAML or JSON lines) describes.

    Raises ScenarioError with file and line for a listing that cannot be read or made.
    """
    documents = list(_documents(text, file))
    if len(documents) == 1 and "file" in documents[0][0]:
        return _hex(documents[0][0]["file"], "file")
    state = ListingState()
    items: list[Item] = []
    for document, line in documents:
        try:
            item = _undescribe(document, state)
            if isinstance(item, Event):
                state.note(item)
        except ScenarioError as error:
            raise error.at(file, line) from None
        except FormatError as error:
            raise ScenarioError(str(error), file=file, line=line) from None
        items.append(item)
    try:
        return write_binlog(items)
    except ScenarioError as error:
        raise error.at(file, None) from None


def _documents(text: str, file: str | None) -> Iterator[tuple[Document, int]]:
    if text.lstrip().startswith("{"):
        for number, row in enumerate(text.splitlines(), start=1):
            if row.strip():
                yield _json_document(row, number, file), number
        return
    for located in load_documents(text, file=file):
        line = located.line(()) or 1
        if located.value is None:
            continue
        if not isinstance(located.value, dict):
            raise ScenarioError("this document is not an event", file=file, line=line, expected="a mapping")
        yield located.value, line


def _json_document(line: str, number: int, file: str | None) -> Document:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"not JSON: {error.msg}", file=file, line=number) from None
    if not isinstance(document, dict):
        raise ScenarioError("this line is not an event", file=file, line=number, expected="a JSON object")
    return document


def _describe(frame: Frame, state: ListingState, derived_length: int | None) -> tuple[Document, Event | None]:
    """The best document for a frame, and the event that assembling it will see."""
    try:
        event = decode_event(frame.raw, frame.offset, state.format)
    except FormatError:
        return {"bytes": frame.raw.hex()}, None
    event = _without_derived_length(event, frame, derived_length)
    for candidate, fields in _forms(event, state):
        if fields is None:
            continue
        document = {"event": candidate.type_name} | _header_to_fields(candidate) | fields
        rebuilt = _try_undescribe(document, state)
        if rebuilt is not None and _encodes_to(rebuilt, frame, state.format, derived_length):
            return document, rebuilt
    return {"bytes": frame.raw.hex()}, None


def _forms(event: Event, state: ListingState) -> Iterator[tuple[Event, Document | None]]:
    if not isinstance(event.body, RawBody):
        yield event, body_to_fields(event.body, state)
        yield event, plain_fields(event.body)
    raw = RawBody(event.type_code, event.body.build(state.format))
    yield event.replace(body=raw), {"body": raw.data.hex()}


def _without_derived_length(event: Event, frame: Frame, derived_length: int | None) -> Event:
    body = event.body
    if (
        isinstance(body, (AnonymousGtid, GtidTagged))
        and derived_length is not None
        and body.transaction_length == derived_length
    ):
        return event.replace(body=body.replace(transaction_length=None))
    return event


def _try_undescribe(document: Document, state: ListingState) -> Event | None:
    try:
        item = _undescribe(document, state)
    except (ForgeError, ValueError):
        return None
    return item if isinstance(item, Event) else None


def _encodes_to(event: Event, frame: Frame, format: FormatContext, derived_length: int | None) -> bool:
    if derives_length(event):
        if derived_length is None:
            return False
        assert isinstance(event.body, (AnonymousGtid, GtidTagged))
        event = event.replace(body=event.body.replace(transaction_length=derived_length))
    try:
        return encode_event(event, frame.offset, format) == frame.raw
    except ScenarioError:
        return False


def _group_lengths(found: list[Frame]) -> dict[int, int]:
    """What transaction_length would be derived for each frame that starts a group."""
    lengths: dict[int, int] = {}
    following = 0
    for frame in reversed(found):
        total = len(frame.raw) + following
        if frame.type_code == GtidTagged.type_code or (
            frame.type_code in (33, 34) and group_length(total - len(pack_int(total))) == total
        ):
            lengths[frame.index] = total
        following = 0 if frame.type_code in GROUP_BOUNDARIES else following + len(frame.raw)
    return lengths


def _header_to_fields(event: Event) -> Document:
    fields: Document = {"timestamp": event.timestamp, "server_id": event.server_id}
    if event.flags:
        fields["flags"] = flag_names(event.flags, EVENT_FLAGS)
    for name in ("event_size", "log_pos", "checksum"):
        if getattr(event, name) is not None:
            fields[name] = getattr(event, name)
    return fields


def _undescribe(document: Document, state: ListingState) -> Item:
    if "bytes" in document:
        return _hex(document["bytes"], "bytes")
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
    if set(fields) == {"body"}:
        return Event(body=RawBody(type_code, _hex(fields["body"], "body")), **header)
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


def _hex(value: Any, what: str) -> bytes:
    try:
        return bytes.fromhex(str(value))
    except ValueError:
        raise ScenarioError(f"{what} is not hexadecimal", expected="pairs of the digits 0-9 a-f") from None


def events_of(documents: Iterable[Document]) -> Iterator[Event]:
    """The events that documents describe, for tools which edit listings as data."""
    state = ListingState()
    for document in documents:
        item = _undescribe(document, state)
        if isinstance(item, Event):
            state.note(item)
            yield item
