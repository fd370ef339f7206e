"""The listing: a binary log as editable, diffable text, and back.

A listing is a stream of YAML documents (or JSON lines), one an event.  Fields that can be derived (sizes, positions,
lengths, checksums) appear only where the file's bytes differ from what would be derived.  Four forms of an event are
tried, and the first that assembles to the same bytes is taken: fields with readable rows and columns; plain fields;
header fields with the body as hex; the bytes.  So ``assemble(disassemble(data)) == data`` for any data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from forge.binlog.listing.documents import Document, describe, undescribe, unhex
from forge.binlog.listing.text import dump_document
from forge.binlog.listing.views import ListingState
from forge.binlog.reader import Frame, announced_size, frames, has_magic
from forge.binlog.writer import GROUP_BOUNDARIES, Item, group_length, write_binlog
from forge.errors import FormatError, ScenarioError
from forge.events.event import Event
from forge.events.gtid_tagged import GtidTagged
from forge.events.layout import pack_int
from forge.located import load_documents


def disassemble(data: bytes) -> Iterator[Document]:
    """The documents of the listing of ``data``, in file order."""
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
        return unhex(documents[0][0]["file"], "file")
    state = ListingState()
    items: list[Item] = []
    for document, line in documents:
        try:
            item = undescribe(document, state)
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


def events_of(documents: Iterable[Document]) -> Iterator[Event]:
    """The events that documents describe, for tools which edit listings as data."""
    state = ListingState()
    for document in documents:
        item = undescribe(document, state)
        if isinstance(item, Event):
            state.note(item)
            yield item
