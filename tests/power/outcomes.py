"""What became of mutants, kept between runs: one that is told stays told, one that is not is tried with other logs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from tests.power.mutants import Mutant

_HASH_SIZE = 8


class Outcomes:
    """The outcomes of one subject with one state of its code, by mutant.  Logs are known by their hashes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if path.exists() else {}
        self._told: dict[str, str] = kept.get("told", {})
        self._tried: dict[str, list[str]] = kept.get("tried", {})
        self._not_made: list[str] = kept.get("not made", [])

    def told_by(self, mutant: Mutant) -> str | None:
        """The log that told it."""
        return self._told.get(name_of(mutant))

    def tried(self, mutant: Mutant) -> Collection[str]:
        """The logs that did not tell it."""
        return frozenset(self._tried.get(name_of(mutant), ()))

    def is_not_made(self, mutant: Mutant) -> bool:
        return name_of(mutant) in self._not_made

    def add(self, mutant: Mutant, told_by: str | None, tried: Iterable[str]) -> None:
        """Note that a log told a mutant, or that none of those did."""
        name = name_of(mutant)
        if told_by is not None:
            self._told[name] = told_by
            self._tried.pop(name, None)
        else:
            self._tried[name] = sorted({*self._tried.get(name, ()), *tried})

    def add_not_made(self, mutant: Mutant) -> None:
        self._not_made.append(name_of(mutant))

    def write(self) -> None:
        """Keep them, as a whole."""
        text = json.dumps({"told": self._told, "tried": self._tried, "not made": self._not_made})
        draft = self.path.with_suffix(".draft")
        draft.write_text(text)
        draft.replace(self.path)


def short(key: bytes) -> str:
    """The name of a log with this hash."""
    return key[:_HASH_SIZE].hex()


def name_of(mutant: Mutant) -> str:
    """What a mutant is known by, as long as its file stays as it is."""
    return f"{mutant.path.parent.name}/{mutant.path.name} {mutant.number} {mutant.what}"
