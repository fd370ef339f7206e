"""Short ids of cases, which never change their meaning.

The registry (``corpora/kit/cases.tsv``) has a line for every id ever given: in which version of the corpus it came,
whether it was retired, a digest of what it stands for, and the case's own long name.  A case whose bytes or verdict
change gets another id, and the old one is retired.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from forge.conform.kit.tsv import read_tsv, tsv_text
from forge.errors import Phase, Verdict
from forge.resources import corpora_dir

if TYPE_CHECKING:
    from forge.corpus.manifest import Entry, FileEntry

_HEADER = ("id", "since", "retired", "digest", "case")
_LONGEST_WORD = 24


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    """One id: ``since`` and ``retired`` are versions of the corpus."""

    id: str
    since: int
    retired: int | None
    digest: str
    case: str


class Registry:
    """All ids that were ever given."""

    def __init__(self, rows: Iterable[Registered] = ()) -> None:
        self.rows = list(rows)
        self._current = {row.case: row for row in self.rows if row.retired is None}

    @property
    def version(self) -> int:
        """The version of the corpus, 0 before the first."""
        return max((max(row.since, row.retired or 0) for row in self.rows), default=0)

    def row_of(self, case: str) -> Registered | None:
        """The id in force of a case, by its long name."""
        return self._current.get(case)

    def frozen(self, entries: Iterable[Entry]) -> Registry:
        """This registry with the cases of a corpus, whose number goes up if there is anything new."""
        version = self.version + 1
        rows = {row.id: row for row in self.rows}
        for entry in entries:
            if not entry.files:
                continue
            digest = digest_of(entry.verdict, entry.phase, entry.files)
            known = self._current.get(entry.case)
            if known is not None and known.digest == digest:
                continue
            if known is not None:
                rows[known.id] = msgspec.structs.replace(known, retired=version)
            name = _free(short_id(entry.case), rows)
            rows[name] = Registered(id=name, since=version, retired=None, digest=digest, case=entry.case)
        return Registry(sorted(rows.values(), key=lambda row: row.id))


def registry_path() -> Path:
    """Where the shipped registry is."""
    return corpora_dir() / "kit" / "cases.tsv"


def read_registry(path: Path | None = None) -> Registry:
    """The ids given so far; none if there is no such file.  Raises ScenarioError for a file of another form."""
    path = path or registry_path()
    if not path.exists():
        return Registry()
    return Registry(read_tsv(path, _HEADER, _registered, "a registry"))


def registry_text(registry: Registry) -> str:
    """The registry as its file holds it."""
    return tsv_text(_HEADER, ((row.id, row.since, row.retired or "", row.digest, row.case) for row in registry.rows))


def _registered(name: str, since: str, retired: str, digest: str, case: str) -> Registered:
    return Registered(id=name, since=int(since), retired=int(retired) if retired else None, digest=digest, case=case)


def short_id(case: str) -> str:
    """A word and eight characters: safe as a file name on every system, also where case does not count."""
    last = case.partition("[")[0].rpartition("/")[2]
    word = safe_word(last)[:_LONGEST_WORD].rstrip("-") or "case"
    mark = base64.b32encode(hashlib.sha256(case.encode()).digest()[:5]).decode().lower()
    return f"{word}-{mark}"


def safe_word(text: str) -> str:
    """A text with no more than small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def digest_of(verdict: Verdict, phase: Phase | None, files: Sequence[FileEntry]) -> str:
    """What an id stands for: the bytes of the files under their names, and what a correct reader does with them."""
    parts = [verdict, phase or "", *(f"{file.name} {file.sha256}" for file in files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _free(name: str, taken: dict[str, Registered]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    return f"{name}-{number}"
