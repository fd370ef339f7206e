"""``python -m tests.long.replicas``: the cells of ``corpora/replays`` on real replicas.

What they make of a cell is compared with what is kept; ``--record`` keeps it, of the cells that have nothing of that
line yet or, with ``--all``, of all.  A new cell is a line of JSON without ``results`` in a file there.

``--minutes`` draws cells instead, tables and rows and statements at random, and compares what a replica makes of them
with what :mod:`forge.replay` says.  A run goes on where the last one of its line and seed ended; one that finds
nothing is counted in ``runs.jsonl``, and what one finds is kept in the file that ``--finds`` names.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from forge.cli.progress import progress
from forge.record.builds import BUILD_OF_LINE, LINES_OF_TODAY
from tests.counted_runs import behind, count_run
from tests.long.replicas.replica import Refused, Servers
from tests.long.replicas.searching import RUNS, Search, keep, refusals
from tests.long.vendors.applier import ServerEnded
from tests.replay.built import is_built
from tests.replay.cells import Cell, packed, read_cells, replays_dir, write_cells


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.long.replicas", description=__doc__)
    parser.add_argument("--line", choices=BUILD_OF_LINE, action="append", help="of replicas (default: today's)")
    parser.add_argument("--file", action="append", help="names in corpora/replays, without .jsonl (default: all)")
    parser.add_argument("--record", action="store_true", help="keep results of cells that have none of that line")
    parser.add_argument("--all", action="store_true", help="with --record: of all cells")
    parser.add_argument("--minutes", type=float, help="draw cells for so long on each line")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="number of the first cell (default: behind the counted ones)")
    parser.add_argument("--finds", type=Path, default=Path("out/finds.jsonl"))
    given = parser.parse_args()
    if given.minutes:
        return _search(given)
    files = [replays_dir() / f"{name}.jsonl" for name in given.file] if given.file else sorted(_files())
    with Servers() as servers:
        return sum(_run(servers, path, given.line or LINES_OF_TODAY, given) for path in files) and 1


def _files() -> Iterator[Path]:
    return replays_dir().glob("*.jsonl")


def _search(given: argparse.Namespace) -> int:
    """Draw cells; whether the model was wrong about one."""
    wrong = 0
    with Servers() as servers:
        for line in given.line or LINES_OF_TODAY:
            first = behind(RUNS, line=line, seed=given.seed) if given.first is None else given.first
            search = Search(line, given.seed, first)
            search.run(servers, given.minutes * 60)
            wrong += len(search.found)
            if search.found:
                keep(given.finds, search)
            count_run(RUNS, search.told(), counts=not search.found)
            sys.stdout.write(refusals(search))
            sys.stdout.flush()
    return 1 if wrong else 0


def _run(servers: Servers, path: Path, lines: Sequence[str], given: argparse.Namespace) -> int:
    """Run the cells of a file; how many differ from what is kept of them."""
    cells, differing, began = list(read_cells([path])), 0, time.monotonic()
    for line in lines:
        for number, cell in progress(enumerate(cells), total=len(cells), label=f"{path.stem}, {line}"):
            is_kept = given.record and not given.all and line in cell.results
            if is_kept or (cell.lines and line not in cell.lines):
                continue
            try:
                found = outcome(servers, cell, line)
            except (Refused, ServerEnded) as error:
                sys.stdout.write(f"{path.stem}: {cell.name}, {line}: {error}\n")
                continue
            kept = cell.results.get(line)
            if kept is not None and kept.outcome != found.results[line].outcome:
                differing += 1
                sys.stdout.write(f"{path.stem}: {cell.name}, {line}: {kept.outcome} is now {found.results[line]}\n")
            cells[number] = found
    if given.record:
        write_cells(path, cells)
    sys.stdout.write(f"{path.stem}: {len(cells)} cells, {time.monotonic() - began:.1f} s, {differing} differ\n")
    return differing


def outcome(servers: Servers, cell: Cell, line: str) -> Cell:
    """The cell with what a replica of the line makes of it, and its log if that is not built.  Raises Refused."""
    source = cell.source or line
    log = servers[source].log(cell)
    logs = {name: kept for name, kept in cell.logs.items() if name != source}
    if not is_built(cell, source, log):
        logs[source] = packed(log)
    return replace(cell, results={**cell.results, line: servers[line].result(cell, log)}, logs=logs)


if __name__ == "__main__":
    sys.exit(main())
