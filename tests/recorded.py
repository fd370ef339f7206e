"""What a test takes of many inputs: a part in an ordinary run, all of them at night (FORGE_NIGHTLY, ``make nightly``).

The bytes of every recording are held against the compiler in each run (``tests/record``).  Who reads recordings for
another reason, in another room, takes ``LOGS``: each subject, and each server line in its turn.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from forge.resources import corpora_dir

T = TypeVar("T")

NIGHTLY = bool(os.environ.get("FORGE_NIGHTLY"))
RECORDINGS = Path(corpora_dir()) / "recordings"
#: The logs of all recordings.
ALL_LOGS = sorted(path for path in RECORDINGS.rglob("*.0[0-9][0-9][0-9][0-9][0-9]*") if path.suffix[1:].isdigit())
#: What tells recordings of one subject apart: the server line, and the row image.
_VARIANT = re.compile(r"[-/](mysql|mariadb)-[0-9.]+[0-9]|-(full|minimal|noblob)\b")


def one_of_each_subject(logs: Iterable[Path]) -> list[Path]:
    """One log of each subject; the n-th subject gives the n-th of its logs, so that all lines have their turn."""
    subjects: dict[str, list[Path]] = {}
    for log in logs:
        subjects.setdefault(_VARIANT.sub("", str(log)), []).append(log)
    return [group[number % len(group)] for number, group in enumerate(subjects.values())]


def every(step: int, items: Sequence[T]) -> Sequence[T]:
    """Every ``step``-th of the items; all of them at night."""
    return items if NIGHTLY else items[::step]


LOGS = ALL_LOGS if NIGHTLY else one_of_each_subject(ALL_LOGS)
