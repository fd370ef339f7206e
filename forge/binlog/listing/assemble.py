"""A listing to its binary log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from forge.binlog.listing.documents import HEADER_FIELDS, Document, undescribe, unhex
from forge.binlog.listing.fields import ListingState, body_from_fields
from forge.binlog.listing.lines import read_lines
from forge.binlog.writer import Item, write_binlog
from forge.errors import ForgeError, FormatError, ScenarioError
from forge.events.event import EVENT_FLAGS, Event
from forge.events.layout import Body
from forge.events.plain import flag_value
from forge.events.registry import EVENT_CODES, EVENT_TYPES
from forge.events.rows import ROWS_BODIES
from forge.events.transaction_payload import TransactionPayload
from forge.located import load_documents
from forge.values.quick import UnusualError

_SEPARATOR = "\n---\n"
_NUMBER = "(0|[1-9][0-9]{0,9})"


def _header_pattern(begin: str, end: str) -> re.Pattern[str]:
    """An event's header, with a comment before it; what stands before and behind each of its entries."""
    optional = [r"flags: (\[[\w, ]*\])", *(f"{name}: {_NUMBER}" for name in HEADER_FIELDS[3:])]
    entries = [rf"event: (\w+){end}", *(f"{begin}{name}: {_NUMBER}{end}" for name in HEADER_FIELDS[:2])]
    return re.compile(
        r"(?:#[\x20-\x7e]*\n)?" + (r"\{" if begin else "") + "".join(entries)
        + "".join(f"(?:{begin}{entry}{end})?" for entry in optional)
    )  # fmt: skip


#: A line for each entry, or all in one, as of short events.
_LINES, _ONE_LINE = _header_pattern("", "\n"), _header_pattern(", ", "(?=[,}])")
_COMMENT = re.compile(r"\A#[\x20-\x7e]*(?:\n|\Z)")
#: Characters of a body's lines that are kept with the body: those of many events of a file are the same.
_MOST_KEPT = 1 << 12


def assemble(text: str, *, file: str | None = None) -> bytes:
    """The file that a listing (YAML or JSON lines) describes.

    Raises ScenarioError with file and line for a listing that cannot be read or made.
    """
    if not text.strip():
        raise ScenarioError("the listing is empty", file=file, expected="documents as `forge disasm` writes them")
    try:
        return write_binlog(_items(text))
    except (UnusualError, ForgeError):
        # What is wrong, and where, is said by those who read the whole of it.
        return _assemble_documents(list(_documents(text, file)), file)


def _assemble_documents(documents: list[tuple[Document, int]], file: str | None) -> bytes:
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


def _items(text: str) -> Iterator[Item]:
    """What the documents of a YAML listing describe, each of which is read for itself.

    Raises UnusualError where that cannot be, and any ForgeError, without a line, where something is wrong.
    """
    # A directive says something of later documents, and a mark of byte order may only stand before all of them.
    if "\n%" in text or "\ufeff" in text or _is_json(text):
        raise UnusualError
    state = ListingState()
    start, end = 0, 0
    while end != len(text):
        end = text.find(_SEPARATOR, start)
        end = len(text) if end < 0 else end
        for item in _items_of(text[start : end + 1], state):
            if isinstance(item, Event):
                state.note(item)
            yield item
        start = end + len(_SEPARATOR)


def _items_of(text: str, state: ListingState) -> Iterable[Item]:
    """What the text between two separators describes: no document, one, or, with odd separators, several."""
    if (header := _LINES.match(text) or _ONE_LINE.match(text)) is not None:
        lines = text[header.end() :]
        if header.re is _ONE_LINE:
            lines = "{" + lines.removeprefix(", ")
        if (body := _body_of(header[1], lines, state)) is not None:
            timestamp, server_id, flags, size, position, checksum = header.groups()[1:]
            return [
                Event(
                    body=body,
                    timestamp=int(timestamp),
                    server_id=int(server_id),
                    flags=0 if flags is None else _flags(flags),
                    event_size=None if size is None else int(size),
                    log_pos=None if position is None else int(position),
                    checksum=None if checksum is None else int(checksum),
                )
            ]
    lines = _COMMENT.sub("", text, count=1)
    try:
        documents = [read_lines(lines)] if lines else []
    except UnusualError:
        documents = [located.value for located in load_documents(text)]
    if not all(isinstance(document, dict) and "file" not in document for document in documents):
        raise UnusualError
    return (undescribe(document, state) for document in documents)


def _body_of(name: str, lines: str, state: ListingState) -> Body | None:
    """The body of an event of that type, if these lines say all of it; None if its form is another."""
    type_code = EVENT_CODES.get(name)
    kind = None if type_code is None else EVENT_TYPES.get(type_code)
    # A payload may be listed as the events inside.
    if type_code is None or kind is None or issubclass(kind, TransactionPayload):
        return None
    # Rows mean something under their table map alone.
    if issubclass(kind, ROWS_BODIES) or len(lines) > _MOST_KEPT:
        return _read_body(type_code, lines, state)
    return _kept_body(type_code, lines)


@lru_cache(maxsize=256)
def _kept_body(type_code: int, lines: str) -> Body | None:
    return _read_body(type_code, lines, ListingState())


def _read_body(type_code: int, lines: str, state: ListingState) -> Body | None:
    try:
        fields = read_lines(lines) if lines else {}
        return body_from_fields(type_code, fields, state) if isinstance(fields, dict) else None
    except (UnusualError, ForgeError):
        return None


@lru_cache(maxsize=256)
def _flags(text: str) -> int:
    return flag_value(read_lines(text), EVENT_FLAGS)


def _documents(text: str, file: str | None) -> Iterator[tuple[Document, int]]:
    if _is_json(text):
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


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _json_document(line: str, number: int, file: str | None) -> Document:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"not JSON: {error.msg}", file=file, line=number) from None
    if not isinstance(document, dict):
        raise ScenarioError("this line is not an event", file=file, line=number, expected="a JSON object")
    return document
