"""What the built file still has otherwise than the log, as ``session.edits``."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from forge.record.retold.log_parts import Document

#: What an event says of its place, which another edit may move.
_PLACED = ("event_size", "log_pos", "checksum")


def edits_between(built: Sequence[Document], wanted: Sequence[Document]) -> list[dict[str, Any]]:
    """The edits that make the wanted documents of the built ones: fields of the first event, by which all others are
    read; events that come and go, from the end to the beginning; then fields.
    """
    moved = list(built)
    edits = _changes(moved, wanted, 0)
    moved[0] = wanted[0]
    names, others = [_type(one) for one in moved[1:]], [_type(one) for one in wanted[1:]]
    opcodes = SequenceMatcher(None, names, others, autojunk=False).get_opcodes()
    for tag, first, last, start, stop in reversed(opcodes):
        if tag == "equal":
            continue
        new = [
            {name: value for name, value in one.items() if name not in _PLACED} for one in wanted[start + 1 : stop + 1]
        ]
        edits += [{**_named(moved, index), "remove": True} for index in range(last, first, -1)]
        edits += [{**_named(moved, first), "after": new}] if new else []
        moved[first + 1 : last + 1] = new
    for index in range(len(wanted)):
        edits += _changes(moved, wanted, index)
    return edits


def _changes(moved: Sequence[Document], wanted: Sequence[Document], index: int) -> list[dict[str, Any]]:
    """The edit of an event that is there; none if nothing in it is otherwise."""
    ours, theirs = moved[index], wanted[index]
    given = {name: value for name, value in theirs.items() if name not in ours or ours[name] != value}
    gone = [name for name in ours if name not in theirs]
    if not given and not gone:
        return []
    return [{**_named(wanted, index), **({"set": given} if given else {}), **({"drop": gone} if gone else {})}]


def _type(document: Document) -> str:
    return str(document.get("event", "bytes"))


def _named(documents: Sequence[Document], index: int) -> dict[str, Any]:
    name = documents[index]["event"]
    nth = sum(one.get("event") == name for one in documents[: index + 1])
    return {"event": name, **({"nth": nth} if nth > 1 else {})}
