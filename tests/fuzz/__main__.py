"""``python -m tests.fuzz``: changed logs for all of our own readers (``make fuzz``).

A run goes on where the last one of its seed ended, and is counted in ``tests/fuzz/runs.jsonl`` unless something
failed.  Of a failure the log is kept in ``--out``; once it is mended, it belongs to ``regressions`` here, which the
unit tests read, and the run is made again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.mutants import mutant
from tests.fuzz.runs import RUNS, counted, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="number of the first mutant (default: behind the counted ones)")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, help="end after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="where the logs of failures go")
    parser.add_argument("--uncounted", action="store_true", help="do not write runs.jsonl")
    given = parser.parse_args()
    first = given.first
    if first is None:
        ends = [int(str(one["first"])) + int(str(one["count"])) for one in counted() if one["seed"] == given.seed]
        first = max(ends, default=0)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="forge-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        result = run(given.seed, first, given.count, Path(folder) / "mutant", seconds=given.seconds)
    for number, reader, what in result.failures:
        given.out.mkdir(parents=True, exist_ok=True)
        kept = given.out / f"{given.seed}-{number}"
        kept.write_bytes(mutant(given.seed, number))
        sys.stdout.write(f"{kept}: {reader}: {what}\n")
    if not given.uncounted and not result.failures:
        with RUNS.open("a", encoding="utf-8") as file:
            file.write(result.line())
    sys.stdout.write(result.line())
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
