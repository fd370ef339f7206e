"""What the lines' files say of themselves: whom a line is like, its own words, and how its facts are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import msgspec

from forge.servers.line import ServerLine
from forge.servers.loading import Evidence, evidence, line_text, server_line, server_names
from forge.servers.shipped import shipped

#: How a fact of a line is known: a real server of this very line showed it; real servers of a line before and of one
#: behind it showed the same value; a public log of the line has it; the source or documents say it of the line; or it
#: is as on other lines, and nobody knows.
Label = Literal[
    "recorded here", "public log", "recorded on older and newer alike", "source", "inherited, unknown"
]  # fmt: skip
LABELS: tuple[Label, ...] = (
    "recorded here", "public log", "recorded on older and newer alike", "source", "inherited, unknown",
)  # fmt: skip
#: What words of evidence are: of a real server, of a public file, of source and documents, or of other lines alone.
Kind = Literal["recorded", "file", "source", "guess"]


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
class Known:
    """How a fact is known, and from what: words of evidence, with the line that they stand at if it is another."""

    label: Label
    source: str


@dataclass(frozen=True, slots=True)
class Overview:
    """A line, the line that it is ``like``, and what its file says at its top.

    ``facts`` are all its facts, its own and inherited, by names such as ``rows.flags``.  ``public`` are the logs of the
    line in public repositories.
    """

    line: ServerLine
    like: str | None
    note: str
    facts: dict[str, Known]
    public: tuple[PublicLog, ...]

    def count(self, label: Label) -> int:
        """How many facts are known so."""
        return sum(known.label == label for known in self.facts.values())


def overview(name: str) -> Overview:
    """The overview of a line.  Raises ScenarioError as :func:`forge.servers.loading.server_line` does."""
    line, text = server_line(name), line_text(name)
    known = {fact: _known(name, fact, each) for fact, each in evidence(name).items()}
    public = tuple(log for log in public_logs() if log.line == name)
    return Overview(line, _like(text), _note(text), known, public)


def kind_of_evidence(source: str) -> Kind:
    """How a fact is known, by the words of its evidence (docs/add-a-server-line.md)."""
    if source.startswith(("corpora/recordings", "docs/", "recorded")):
        return "recorded"
    if source.startswith(("reference: as ", "reference: not known")):
        return "guess"
    return "file" if "read in" in source else "source"


@cache
def shown() -> dict[str, dict[str, str]]:
    """Facts that a line inherits, and the recording of the line that would be another with any other line's value."""
    return msgspec.convert(shipped("shown.toml"), dict[str, dict[str, str]])


def value_of(line: ServerLine, fact: str) -> Any:
    """The value of a fact by its name, such as ``rows.flags``."""
    subject, _, field = fact.partition(".")
    return getattr(getattr(line, subject), field)


def _known(name: str, fact: str, each: Evidence) -> Known:
    if (recording := _recording(name, fact)) is not None:
        return Known("recorded here", recording)
    kind = kind_of_evidence(each.source) if each.line == name else "guess"
    if kind == "file":
        return Known("public log", each.source)
    if (around := _around(name, fact)) is not None:
        return Known("recorded on older and newer alike", " and ".join(around))
    if kind == "source":
        return Known("source", each.source)
    return Known("inherited, unknown", each.source if each.line == name else f"{each.line}: {each.source}")


def _recording(name: str, fact: str) -> str | None:
    """The evidence that a real server of the line gave; None without one."""
    if server_line(name).recorded is None:
        return None
    own = evidence(name)[fact]
    if own.line == name and kind_of_evidence(own.source) == "recorded":
        return own.source
    found = shown().get(name, {}).get(fact)
    return None if found is None else f"corpora/recordings/{found}"


def _around(name: str, fact: str) -> tuple[str, str] | None:
    """The nearest lines before and behind this one on which the fact was recorded, if all three have one value."""
    line = server_line(name)
    others = [other for other in _recorded_lines() if other.family == line.family and other.name != name]
    with_fact = [other for other in others if _recording(other.name, fact) is not None]
    older = max((one for one in with_fact if one.release < line.release), key=_by_release, default=None)
    newer = min((one for one in with_fact if one.release > line.release), key=_by_release, default=None)
    if older is None or newer is None:
        return None
    value = value_of(line, fact)
    return (older.name, newer.name) if value_of(older, fact) == value == value_of(newer, fact) else None


@cache
def _recorded_lines() -> tuple[ServerLine, ...]:
    return tuple(line for line in map(server_line, server_names()) if line.recorded is not None)


def _by_release(line: ServerLine) -> tuple[int, int, int]:
    return line.release


def _note(text: str) -> str:
    """The comment at the top of a file."""
    lines: Sequence[str] = text.splitlines()
    top = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return " ".join(line.removeprefix("#").strip() for line in lines[:top])


def _like(text: str) -> str | None:
    found = [line.partition("=")[2].strip(' "') for line in text.splitlines() if line.startswith("like ")]
    return found[0] if found else None
