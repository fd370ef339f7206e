"""Which cases add something to what the corpus reaches in decoders and tells of them: ``corpora/kit/power.tsv``.

``make power`` writes it (docs/power.md): a line for each case that reaches statements or branches of a measured decoder
that no case before it reaches, or is the first to tell mutants.  All other cases add nothing to these figures.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from forge.conform.kit.tsv import read_tsv
from forge.resources import corpora_dir

HEADER = ("case", "places", "mutants")


class Adding(msgspec.Struct, frozen=True, kw_only=True):
    """A case by its long name, and how many places (statements and branches) and mutants it adds to those before."""

    case: str
    places: int
    mutants: int


def power_path() -> Path:
    """Where the shipped list is."""
    return corpora_dir() / "kit" / "power.tsv"


def read_power(path: Path | None = None) -> list[Adding]:
    """The list, in its order.  Raises ScenarioError for a file of another form; OSError."""
    return read_tsv(path or power_path(), HEADER, _adding, "the list")


def _adding(case: str, places: str, mutants: str) -> Adding:
    return Adding(case=case, places=int(places), mutants=int(mutants))
