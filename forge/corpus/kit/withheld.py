"""Cases that are in no kit: what ends a server goes to its vendor first (SECURITY.md)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from forge.errors import ScenarioError
from forge.resources import corpora_dir


class _Record(msgspec.Struct, frozen=True):
    """Of the record of a finding, what says whether it is withheld."""

    status: str
    withholds: list[str] = []


def withheld_cases(folder: Path | None = None) -> frozenset[str]:
    """The long names of the cases that records of findings withhold.  Raises ScenarioError for a wrong one; OSError."""
    found: set[str] = set()
    for path in (folder or corpora_dir() / "findings").glob("*.toml"):
        try:
            record = msgspec.toml.decode(path.read_bytes(), type=_Record)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ScenarioError(f"not the record of a finding: {error}", file=str(path)) from None
        if record.status == "disclose-first":
            found.update(record.withholds)
    return frozenset(found)
