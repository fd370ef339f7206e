"""Changes that a scenario makes to its files once they are made: they are edited as listings."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from forge.binlog.listing import assemble, disassemble
from forge.binlog.listing.documents import HEADER_FIELDS
from forge.binlog.reader import PlacedEvent, read_events
from forge.errors import ScenarioError
from forge.events.event import built_body
from forge.events.registry import event_name
from forge.plan.edits import Edit

Document = dict[str, Any]
#: Events by which others are read: what is behind one that is changed is listed anew.
_READ_BY = ("FORMAT_DESCRIPTION", "START_V3", "START_ENCRYPTION", "TRANSACTION_PAYLOAD")


def edited(files: Sequence[bytes], edits: Sequence[Edit]) -> list[bytes]:
    """The files with the changes made, one after the other.

    Raises ScenarioError for a change of what is not there, or that no listing can say.
    """
    made = list(files)
    #: The documents of a file in which a run of edits has changed fields.
    open: dict[int, list[Document]] = {}
    for number, edit in enumerate(edits, start=1):
        try:
            place = _place(edit.file, len(made), "file")
            if not _sets_fields(edit):
                made[place] = _edited(_assembled(open.pop(place)) if place in open else made[place], edit)
                continue
            documents = open.setdefault(place, [])
            if not documents:
                documents += _without_rows(made[place])
            _change(documents[_event(documents, edit)], edit)
        except ScenarioError as error:
            raise error.about(f"session.edits, number {number}") from None
    return [_assembled(open[place]) if place in open else data for place, data in enumerate(made)]


def _sets_fields(edit: Edit) -> bool:
    """Whether it changes no more than fields of an event by which no other is read; of one with rows, of its header."""
    of_bytes = any(one is not None for one in (edit.at, edit.hex, edit.insert, edit.keep)) or edit.cut
    others = of_bytes or edit.remove or edit.copies or edit.before or edit.after
    name = event_name(edit.event) if isinstance(edit.event, int) else edit.event
    if name in _READ_BY or others:
        return False
    if "_ROWS" in name and name != "ANNOTATE_ROWS":
        return {*edit.set, *edit.drop} <= set(HEADER_FIELDS)
    return "event" not in edit.set


def _change(document: Document, edit: Edit) -> None:
    for path, value in edit.set.items():
        _set(document, path, value)
    for path in edit.drop:
        _drop(document, path)


def _without_rows(data: bytes) -> list[Document]:
    """The documents of a file.  Rows are listed by their table map, which may be what is changed: they are bytes."""
    documents = list(disassemble(data))
    pairs = zip(documents, _placed(data), strict=False)
    bodies = [_as_body(one, placed) if "rows" in one else one for one, placed in pairs]
    return [*bodies, *documents[len(bodies) :]]


def _assembled(documents: Sequence[Document]) -> bytes:
    return assemble("".join(json.dumps(one, ensure_ascii=False, default=str) + "\n" for one in documents))


def _edited(data: bytes, edit: Edit) -> bytes:
    documents = list(disassemble(data))
    where = _event(documents, edit)
    if any(one is not None for one in (edit.hex, edit.insert, edit.keep)) or edit.cut or "event" in edit.set:
        document = _as_body(documents[where], _placed(data)[where])
        document["body"] = _patched(bytes.fromhex(document["body"]), edit).hex()
    elif edit.at is not None:
        raise ScenarioError("`at` says where, but nothing says what", expected="hex, insert, cut or keep")
    else:
        document = documents[where]
    documents = _without_rows(data)
    _change(document, edit)
    kept = [] if edit.remove else [document, *(copy.deepcopy(document) for _ in range(edit.copies))]
    documents[where : where + 1] = [*edit.before, *kept, *edit.after]
    return _assembled(documents)


def _event(documents: Sequence[Document], edit: Edit) -> int:
    """The index of the event that is meant."""
    wanted = event_name(edit.event) if isinstance(edit.event, int) else edit.event
    found = [index for index, document in enumerate(documents) if document.get("event") == wanted]
    return found[_place(edit.nth, len(found), f"{wanted} event")]


def _place(number: int, count: int, what: str) -> int:
    if not 1 <= abs(number) <= count:
        raise ScenarioError(f"there is no {what} {number}", expected=f"one of {count}" if count else f"a {what}")
    return number - 1 if number > 0 else count + number


def _placed(data: bytes) -> list[PlacedEvent]:
    return list(read_events(data, strict=False))


def _as_body(document: Document, placed: PlacedEvent) -> Document:
    """The document with its body as bytes, in the place of fields."""
    kept = {name: document[name] for name in ("event", *HEADER_FIELDS, "header_extra") if name in document}
    return kept | {"body": built_body(placed.event, placed.format).hex()}


def _patched(body: bytes, edit: Edit) -> bytes:
    new, inserted = _bytes(edit.hex, "hex"), _bytes(edit.insert, "insert")
    at = len(body) if edit.at is None else edit.at + (len(body) if edit.at < 0 else 0)
    if edit.at is None and edit.cut and not new:
        at = len(body) - edit.cut
    if not 0 <= at <= at + len(new) + edit.cut <= len(body):
        raise ScenarioError(f"the body has {len(body)} bytes: none are at {edit.at}", expected="a place inside it")
    patched = body[:at] + new + inserted + body[at + len(new) + edit.cut :]
    return patched if edit.keep is None else patched[: edit.keep]


def _bytes(text: str | None, name: str) -> bytes:
    try:
        return bytes.fromhex(text or "")
    except ValueError:
        raise ScenarioError(f"`{name}` is {text!r}", expected="pairs of the digits 0-9 a-f") from None


def _set(document: Document, path: str, value: Any) -> None:
    inside, last = _inside(document, path)
    if isinstance(inside, list):
        inside[int(last)] = value
    else:
        inside[last] = value


def _drop(document: Document, path: str) -> None:
    inside, last = _inside(document, path)
    try:
        del inside[int(last) if isinstance(inside, list) else last]
    except (KeyError, IndexError, ValueError):
        raise ScenarioError(f"the event has no {path!r}", expected=", ".join(document)) from None


def _inside(document: Document, path: str) -> tuple[Any, str]:
    """What the last step of the path is in, and that step."""
    value: Any = document
    *steps, last = list(_steps(path))
    for step in steps:
        try:
            value = value[int(step) if isinstance(value, list) else step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise ScenarioError(f"the event has no {path!r}", expected=", ".join(document)) from None
    is_index = isinstance(value, list) and last.isdigit() and int(last) < len(value)
    if not isinstance(value, dict) and not is_index:
        raise ScenarioError(f"the event has no {path!r}", expected=", ".join(document))
    return value, last


def _steps(path: str) -> Iterator[str]:
    yield from path.split(".")
