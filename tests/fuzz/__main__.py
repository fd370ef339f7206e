"""``python -m tests.fuzz``: changed logs for all of our own readers (``make fuzz``).

A failure that is mended belongs to ``regressions`` here, which the unit tests read.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.counted_runs import command
from tests.fuzz.mutants import mutant
from tests.fuzz.runs import RUNS, Run, run


def run_in_memory(seed: int, first: int, count: int, *, seconds: float | None) -> Run:
    """The run, whose mutants are files in memory where the system has such a folder."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="forge-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        return run(seed, first, count, Path(folder) / "mutant", seconds=seconds)


if __name__ == "__main__":
    sys.exit(command(__doc__, run_in_memory, mutant, RUNS, out="out/fuzz", count=100_000))
