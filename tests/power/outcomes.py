"""What became of mutants, kept between runs: one that is told stays told, one that is not is tried with other logs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from tests.power.mutants import Mutant

_HASH_SIZE = 8


class Outcomes:
    """The outcomes of one subject with one state of its code, by mutant.  Logs are known by their hashes.

    Of another state of the code, ``before`` keeps which log told a mutant of a function that is the same still: it is
    tried first.
    """

    def __init__(self, path: Path, code: str) -> None:
        self.path, self.code = path, code
        kept = json.loads(path.read_text()) if path.exists() else {}
        told = kept.get("told", {})
        self.before: dict[str, str] = kept.get("before", {})
        is_same = kept.get("code") == code
        if not is_same:
            self.before |= told
        self._told: dict[str, str] = told if is_same else {}
        self._tried: dict[str, list[str]] = kept.get("tried", {}) if is_same else {}
        self._not_made: list[str] = kept.get("not made", []) if is_same else []

    def told_by(self, mutant: Mutant) -> str | None:
        """The log that told it."""
        return self._told.get(mutant.name)

    def told_before(self, mutant: Mutant) -> str | None:
        """The log that told it when other code was another one."""
        return self.before.get(mutant.name)

    def tried(self, mutant: Mutant) -> Collection[str]:
        """The logs that did not tell it."""
        return frozenset(self._tried.get(mutant.name, ()))

    def is_not_made(self, mutant: Mutant) -> bool:
        return mutant.name in self._not_made

    def add(self, mutant: Mutant, told_by: str | None, tried: Iterable[str]) -> None:
        """Note that a log told a mutant, or that none of those did."""
        if told_by is not None:
            self._told[mutant.name] = told_by
            self._tried.pop(mutant.name, None)
        else:
            self._tried[mutant.name] = sorted({*self._tried.get(mutant.name, ()), *tried})

    def add_not_made(self, mutant: Mutant) -> None:
        self._not_made.append(mutant.name)

    def write(self) -> None:
        """Keep them, as a whole."""
        kept = {
            "code": self.code, "told": self._told, "tried": self._tried, "not made": self._not_made,
            "before": self.before,
        }  # fmt: skip
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps(kept))
        draft.replace(self.path)


def short(key: bytes) -> str:
    """The name of a log with this hash."""
    return key[:_HASH_SIZE].hex()
