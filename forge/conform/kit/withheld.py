"""Cases that are in no kit: what ends a server goes to its vendor first (SECURITY.md)."""

from __future__ import annotations

from pathlib import Path

from forge.resources import corpora_dir


def withheld_cases(folder: Path | None = None) -> frozenset[str]:
    """The long names of the cases that ``withheld.txt`` in ``corpora/findings`` has, a line each.  Raises OSError."""
    path = (folder or corpora_dir() / "findings") / "withheld.txt"
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))
