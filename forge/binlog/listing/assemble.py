"""A listing to its binary log."""

from __future__ import annotations

import json
from collections.abc import Iterator

from forge.binlog.listing.documents import Document, undescribe, unhex
from forge.binlog.listing.fields import ListingState
from forge.binlog.writer import Item, write_binlog
from forge.errors import FormatError, ScenarioError
from forge.events.event import Event
from forge.located import load_documents


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
