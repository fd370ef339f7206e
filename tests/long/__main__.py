"""``python -m tests.long``: changed logs that are listed and assembled again (``make round-trips``)."""

from __future__ import annotations

import sys

from tests.counted_runs import command
from tests.long.round_trips import RUNS, mutant, run

if __name__ == "__main__":
    sys.exit(command(__doc__, run, mutant, RUNS, out="out/round-trips", count=1_000_000))
