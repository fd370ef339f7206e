"""Which cases add something to what the corpus reaches in decoders and tells of them: ``corpora/kit/power.tsv``.

``make power`` writes it (docs/power.md): a line for each case that reaches statements or branches of a measured decoder
that no case before it reaches, or is the first to tell mutants.  All other cases add nothing to these figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from forge.errors import ScenarioError
from forge.resources import corpora_dir

_HEADER = ("case", "places", "mutants")


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
    path = path or power_path()
    head, *lines = path.read_text("utf-8").splitlines()
    if tuple(head.split("\t")) != _HEADER:
        raise ScenarioError(f"the columns are {head!r}", file=str(path), line=1, expected=" ".join(_HEADER))
    rows: list[Adding] = []
    for number, line in enumerate(lines, start=2):
        try:
            case, places, mutants = line.split("\t")
            rows.append(Adding(case=case, places=int(places), mutants=int(mutants)))
        except ValueError as error:
            raise ScenarioError(f"not a line of the list: {error}", file=str(path), line=number) from None
    return rows


def power_text(rows: Iterable[Adding]) -> str:
    """The list as its file holds it."""
    lines = ["\t".join(_HEADER), *(f"{row.case}\t{row.places}\t{row.mutants}" for row in rows)]
    return "\n".join(lines) + "\n"
