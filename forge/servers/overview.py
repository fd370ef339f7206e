"""What the lines' files say of themselves: whom a line is like, its own words, and how its facts are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec

from forge.servers.line import ServerLine
from forge.servers.loading import evidence, line_text, server_line
from forge.servers.shipped import shipped

#: A recording of a real server, a public file that was read, or the server's source and documents.
Kind = Literal["recorded", "file", "source"]


class PublicLog(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A log in a public repository; ``scenario``: the file of tests/record/public that makes the same bytes."""

    line: str
    origin: str
    file: str
    sha256: str
    scenario: str | None = None


@cache
def public_logs() -> tuple[PublicLog, ...]:
    """The known ones, by line."""
    return msgspec.convert(shipped("public_logs.toml")["log"], tuple[PublicLog, ...])


@dataclass(frozen=True, slots=True)
class Overview:
    """A line, the line that it is ``like``, and what its file says at its top.

    ``facts`` has how many of all its facts, its own and inherited, are known in which way.  ``unrecorded`` are those
    that the line states itself and that no recording holds, by names such as ``rows.flags``, with their evidence.
    ``public`` are the logs of the line in public repositories.
    """

    line: ServerLine
    like: str | None
    note: str
    facts: dict[Kind, int]
    unrecorded: dict[str, str]
    public: tuple[PublicLog, ...]


def overview(name: str) -> Overview:
    """The overview of a line.  Raises ScenarioError as :func:`forge.servers.loading.server_line` does."""
    known = evidence(name)
    kinds = {fact: kind_of_evidence(each.source) for fact, each in known.items()}
    text = line_text(name)
    counts: dict[Kind, int] = {
        kind: sum(one == kind for one in kinds.values()) for kind in ("recorded", "file", "source")
    }
    unrecorded = {fact: each.source for fact, each in known.items() if each.line == name and kinds[fact] != "recorded"}
    public = tuple(log for log in public_logs() if log.line == name)
    return Overview(server_line(name), _like(text), _note(text), counts, unrecorded, public)


def kind_of_evidence(source: str) -> Kind:
    """How a fact is known, by the words of its evidence (docs/add-a-server-line.md)."""
    if source.startswith(("corpora/recordings", "docs/", "recorded")):
        return "recorded"
    return "file" if "read in" in source else "source"


def _note(text: str) -> str:
    """The comment at the top of a file."""
    lines: Sequence[str] = text.splitlines()
    top = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return " ".join(line.removeprefix("#").strip() for line in lines[:top])


def _like(text: str) -> str | None:
    found = [line.partition("=")[2].strip(' "') for line in text.splitlines() if line.startswith("like ")]
    return found[0] if found else None
