"""A binary log to its listing."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Iterator

from forge.binlog.listing.documents import Document, describe
from forge.binlog.listing.fields import ListingState
from forge.binlog.listing.text import dump_document
from forge.binlog.reader import MAGIC, Frame, frames, has_magic
from forge.binlog.window import LogSource, window_of
from forge.binlog.writer import GROUP_BOUNDARIES, group_length
from forge.events.event import RawBody
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.packed import pack_int
from forge.events.start_encryption import StartEncryption
from forge.events.transaction_payload import TransactionPayload

#: Types whose events tell the length of the group that they begin.
_GROUP_STARTS = frozenset((Gtid.type_code, AnonymousGtid.type_code, GtidTagged.type_code))

#: Characters of a document's text that are not put together with others.
_LARGE = 1 << 20


def disassemble(source: LogSource) -> Iterator[Document]:
    """The documents of the listing of a file, in file order; memory holds a transaction of it if it is a window."""
    # Events with the same body have the same fields here, which nobody else should find changed.
    return (copy.deepcopy(document) for _, document in placed_documents(source))


def listing_text(source: LogSource) -> Iterator[str]:
    """The listing as YAML text, a chunk an event."""
    yield "# A binary log as a listing; `forge asm` makes the file again.\n"
    for number, (offset, document) in enumerate(placed_documents(source)):
        yield from _joined(f"---\n# event {number} at {offset}\n", dump_document(document))


def listing_json(source: LogSource) -> Iterator[str]:
    """The listing as JSON lines."""
    document: Document | None = None
    for _, document in placed_documents(source):
        yield from _joined(json.dumps(document, ensure_ascii=False), "\n")
    if document is None:
        # No listing is empty: an empty text is mostly one that could not be made.
        yield json.dumps({"file": MAGIC.hex()}) + "\n"


def _joined(first: str, second: str) -> Iterator[str]:
    """One chunk, unless that would be another copy of a large value."""
    if len(first) + len(second) < _LARGE:
        yield first + second
    else:
        yield first
        yield second


def placed_documents(
    source: LogSource, shortened: Callable[[Document], Document] | None = None, least: int = 0
) -> Iterator[tuple[int, Document]]:
    """The documents, each with the offset of its bytes in the file.

    Those of events of ``least`` bytes and more, and of payloads, are ``shortened`` before the next is made.
    """
    window = window_of(source)
    window.reach(0, len(MAGIC))
    if not has_magic(window.data):
        yield 0, {"file": window.rest(0).hex()}
        return
    state = ListingState()
    end = len(MAGIC)
    encrypting = encrypted = False
    for frame, derived_length in _with_lengths(frames(window)):
        document, event = ({"bytes": frame.raw.hex()}, None) if encrypted else describe(frame, state, derived_length)
        if encrypting and (event is None or isinstance(event.body, RawBody) or event.log_pos):
            # Behind START_ENCRYPTION the header is not that of an event: neither are those that follow.
            encrypted, document, event = True, {"bytes": frame.raw.hex()}, None
        encrypting = event is not None and isinstance(event.body, StartEncryption)
        if event is not None:
            state.note(event)
        end = frame.offset + len(frame.raw)
        payload = frame.type_code == TransactionPayload.type_code
        if shortened is not None and (payload or len(frame.raw) >= least):
            document = shortened(document)
        offset = frame.offset
        # Its reader has the document: bytes of large events are not kept beside it.
        del frame, event
        yield offset, document
    if tail := window.rest(end):
        yield end, {"bytes": tail.hex()}


def _with_lengths(placed: Iterator[Frame]) -> Iterator[tuple[Frame, int | None]]:
    """Each frame; with the first of a group the transaction_length that would be derived."""
    group: deque[Frame] = deque()
    for frame in placed:
        if group and frame.type_code in GROUP_BOUNDARIES:
            yield from _of_group(group)
        begins = frame.type_code in _GROUP_STARTS
        group.append(frame)
        del frame
        if len(group) == 1 and not begins:
            yield group.popleft(), None
    yield from _of_group(group)


def _of_group(group: deque[Frame]) -> Iterator[tuple[Frame, int | None]]:
    """The frames of a group, which is empty then: none is kept here."""
    if not group:
        return
    total = sum(len(frame.raw) for frame in group)
    tagged = group[0].type_code == GtidTagged.type_code
    yield group.popleft(), total if tagged or group_length(total - len(pack_int(total))) == total else None
    while group:
        yield group.popleft(), None
