"""A binary log to its listing."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

from forge.binlog.listing.documents import Document, describe
from forge.binlog.listing.fields import ListingState
from forge.binlog.listing.text import dump_document
from forge.binlog.reader import Frame, announced_size, frames, has_magic
from forge.binlog.writer import GROUP_BOUNDARIES, group_length
from forge.events.gtid_tagged import GtidTagged
from forge.events.packed import pack_int


def disassemble(data: bytes) -> Iterator[Document]:
    """The documents of the listing of ``data``, in file order."""
    # Events with the same body have the same fields here, which nobody else should find changed.
    return map(copy.deepcopy, _documents(data))


def _documents(data: bytes) -> Iterator[Document]:
    if not has_magic(data):
        yield {"file": data.hex()}
        return
    placed = list(frames(data))
    lengths = _group_lengths(placed)
    state = ListingState()
    for frame in placed:
        document, event = describe(frame, state, lengths.get(frame.index))
        if event is not None:
            state.note(event)
        yield document
    end = placed[-1].offset + len(placed[-1].raw) if placed else 4
    if end < len(data):
        yield {"bytes": data[end:].hex()}


def listing_text(data: bytes) -> Iterator[str]:
    """The listing as YAML text, a chunk an event."""
    offset = 4 if has_magic(data) else 0
    yield "# A binary log as a listing; `forge asm` makes the file again.\n"
    for number, document in enumerate(_documents(data)):
        yield f"---\n# event {number} at {offset}\n" + dump_document(document)
        offset += announced_size(data, offset)


def listing_json(data: bytes) -> Iterator[str]:
    """The listing as JSON lines."""
    for document in _documents(data):
        yield json.dumps(document, ensure_ascii=False) + "\n"


def _group_lengths(placed: list[Frame]) -> dict[int, int]:
    """What transaction_length would be derived for each frame that starts a group."""
    lengths: dict[int, int] = {}
    following = 0
    for frame in reversed(placed):
        total = len(frame.raw) + following
        if frame.type_code == GtidTagged.type_code or (
            frame.type_code in (33, 34) and group_length(total - len(pack_int(total))) == total
        ):
            lengths[frame.index] = total
        following = 0 if frame.type_code in GROUP_BOUNDARIES else following + len(frame.raw)
    return lengths
