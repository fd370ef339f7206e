"""What a kit says of one case: ``case.json``."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from forge.conform.kit.sparse import Hole
from forge.conform.kit.vendors import VendorsDid
from forge.errors import Phase, Verdict

#: What is put behind the name of a binary log for the events and rows expected of it.
EVENTS, ROWS = ".events.jsonl", ".rows.jsonl"


#: The folders of a kit that have cases and their twins.
CASES, TWINS = "cases", "twins"

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FILE_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


class KitFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A binary log of a case: bytes, events and rows in it that a correct reader gets.

    ``stops_at`` is the file offset of the event, or of the place, where our own reader stops with an error; null if it
    does not.  ``fault_at`` is that of the first event that is not as in the twin of the case.  A file with ``holes`` is
    in the kit without them, with ``.packed`` behind its name.
    """

    name: str
    size: int
    sha256: str
    events: int
    rows: int
    stops_at: int | None
    holes: list[Hole] = []
    fault_at: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a name that is a path."""
        if not _FILE_NAME.fullmatch(self.name):
            raise ValueError(f"the name of a file is {self.name!r}; expected letters, digits and . _ -")

    @property
    def sound_to(self) -> int | None:
        """The offset up to which every reader has to read the file; None if nothing says that one may stop."""
        return min((at for at in (self.fault_at, self.stops_at) if at is not None), default=None)


class KitCase(msgspec.Struct, frozen=True, kw_only=True):
    """``case.json``; a line of ``index.jsonl``.

    ``case`` is the long name; ``since`` the version of the corpus that had it first, null if it is not of the shipped
    corpus.  ``rules`` and ``thresholds`` are those of its tags; ``smoke`` says whether it is one of the few that
    together have every feature; ``guards`` are the foreign issues that it guards against.  ``adds`` counts the
    statements, branches and mutants of the measured decoders that it reaches or tells, and no case before it in
    ``corpora/kit/power.tsv``: 0 for a case that adds nothing to these figures.
    ``strict``, of a case that need not be accepted, is the rule by which a strict reader, as ours is, stops or shows no
    value; null if ours finds nothing wrong.  ``vendors`` is what the vendors' own programs did with it, null if nobody
    has asked them.

    ``twin`` names a folder under ``twins``, with a log that tells whether a reader knows what the case is about: the
    one without its fault; where no fault can be left out, or nothing is to be shown, a plain one of the same server.
    """

    id: str
    title: str
    case: str
    since: int | None
    server: str
    flavor: Literal["mysql", "mariadb"]
    verdict: Verdict
    phase: Phase | None
    files: list[KitFile]
    tags: list[str]
    rules: list[str]
    thresholds: list[str]
    smoke: bool
    guards: list[str]
    adds: int = 0
    strict: str | None = None
    vendors: VendorsDid | None = None
    twin: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for an id that could be a path."""
        for name in (self.id, self.twin):
            if name is not None and not _ID.fullmatch(name):
                raise ValueError(f"the id of a case is {name!r}; expected small letters, digits and hyphens")
