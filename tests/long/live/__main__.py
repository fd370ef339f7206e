"""``python -m tests.long.live``: random literals and statements on real servers, and what we say of them.

Compared are refusals, the bytes of events, and the rows that SELECT gives.  A run goes on where the last one of its
field, server and seed ended; what it finds is printed, and known differences (known.toml) are counted.  It is counted
in pieces, each server's up to the first that finds something new.  Seconds in which it is paused are no part of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from forge.record.builds import BUILD_OF_LINE, LINES_OF_TODAY, is_unpacked
from tests.counted_runs import behind, count_run
from tests.long.live.searching import BATCH, FIELDS, RUNS, Run, batch, is_known
from tests.long.live.watch import Watch

#: Seconds of a piece.
_PIECE = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--field", choices=FIELDS, action="append", help="default: all")
    parser.add_argument("--server", choices=BUILD_OF_LINE, action="append", help="default: those of `make servers`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="number of the first case (default: behind the counted ones)")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="end each field of each server after so many seconds"
    )
    parser.add_argument("--known", action="store_true", help="print known differences too")
    parser.add_argument("--uncounted", action="store_true", help="do not write runs.jsonl")
    given = parser.parse_args()
    servers = given.server or [line for line in LINES_OF_TODAY if is_unpacked(BUILD_OF_LINE[line])]
    if not servers:
        sys.exit("no real server is on this machine: `make servers`")
    new = 0
    for field in given.field or FIELDS:
        new += _search(field, servers, given)
    return 1 if new else 0


def _search(field: str, servers: Sequence[str], given: argparse.Namespace) -> int:
    """Ask the servers in turns, a piece each; how many differences are new."""
    new = dict.fromkeys(servers, 0)
    left = dict.fromkeys(servers, float(given.seconds))
    first = {
        server: behind(RUNS, field=field, server=server, seed=given.seed) if given.first is None else given.first
        for server in servers
    }
    while asked := [server for server in servers if left[server] > 0]:
        for server in asked:
            piece = _piece(Run(field, server, given.seed, first[server]), min(left[server], _PIECE), known=given.known)
            new[server] += piece.new
            count_run(RUNS, asdict(piece), counts=not given.uncounted and not new[server])
            sys.stdout.flush()
            first[server] += piece.count
            left[server] -= max(piece.seconds, 1)
    return sum(new.values())


def _piece(run: Run, seconds: float, *, known: bool) -> Run:
    with Watch() as watch:
        while not run.count or watch.seconds < seconds:
            statements, found = batch(run.field, run.server, run.seed, run.first + run.count)
            run.count += BATCH
            run.statements += statements
            for difference in found:
                is_old = is_known(difference)
                run.known += is_old
                run.new += not is_old
                if known or not is_old:
                    sys.stdout.write(f"{difference}\n")
        run.seconds = round(watch.seconds)
    return run


if __name__ == "__main__":
    sys.exit(main())
