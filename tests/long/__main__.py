"""``python -m tests.long``: changed logs that are listed and assembled again (``make round-trips``).

A run goes on where the last one of its seed ended, and is counted in ``tests/long/runs.jsonl`` unless a log came back
with other bytes; such a log is written to ``--out``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.long.round_trips import RUNS, counted, mutant, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="number of the first mutant (default: behind the counted ones)")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, help="end after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("out/round-trips"), help="where the logs of failures go")
    parser.add_argument("--uncounted", action="store_true", help="do not write runs.jsonl")
    given = parser.parse_args()
    first = given.first
    if first is None:
        first = max((one.first + one.count for one in counted() if one.seed == given.seed), default=0)
    result = run(given.seed, first, given.count, seconds=given.seconds)
    for number in result.failures:
        given.out.mkdir(parents=True, exist_ok=True)
        kept = given.out / f"{given.seed}-{number}"
        kept.write_bytes(mutant(given.seed, number))
        sys.stdout.write(f"{kept}: other bytes come back\n")
    if not given.uncounted and not result.failures:
        with RUNS.open("a", encoding="utf-8") as file:
            file.write(result.line())
    sys.stdout.write(result.line())
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
