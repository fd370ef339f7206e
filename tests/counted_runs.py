"""Long runs over mutants or cases: each is a function of a seed and a number, and each run is counted in a file.

A run goes on where the last one of its seed ended.  It is counted, a line of JSON each, unless something failed: then
the mutants that failed are kept, and the run is made again once they are mended.  A long one is made and counted in
pieces: what ends it in the middle costs one of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

#: Mutants of a piece.
_PIECE = 100_000


@dataclass(slots=True)
class Run:
    """A run over mutants: how many, and what was wrong with which."""

    seed: int
    first: int
    count: int = 0
    cpu_seconds: float = 0.0
    #: Number of the mutant, what was wrong.
    failures: list[tuple[int, str]] = field(default_factory=list)

    def told(self) -> dict[str, object]:
        """What its line says."""
        return {
            "seed": self.seed, "first": self.first, "count": self.count, "failures": self.failures,
            "cpu_seconds": round(self.cpu_seconds),
        }  # fmt: skip


class Mutation(Protocol):
    """Makes a run: so many mutants of the seed from number ``first`` on, or as many as ``seconds`` allow."""

    def __call__(self, seed: int, first: int, count: int, *, seconds: float | None) -> Run: ...


def counted(path: Path) -> list[dict[str, Any]]:
    """The runs that the file counts."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def behind(path: Path, **of: object) -> int:
    """The number behind the counted runs in which these values stand."""
    return max((one["first"] + one["count"] for one in counted(path) if of.items() <= one.items()), default=0)


def count_run(path: Path, told: dict[str, object], *, counts: bool) -> None:
    """Print the line of a run, and add it to the file if it ``counts``."""
    line = json.dumps(told) + "\n"
    if counts:
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
    sys.stdout.write(line)


def command(
    description: str | None, run: Mutation, mutant: Callable[[int, int], bytes], counts: Path, *, out: str, count: int
) -> int:
    """Make the run that the command line asks for, and count its pieces in ``counts``; returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, help="number of the first mutant (default: behind the counted ones)")
    parser.add_argument("--count", type=int, default=count, help=f"how many (default: {count:,})")
    parser.add_argument("--seconds", type=float, help="end after so many seconds")
    parser.add_argument("--out", type=Path, default=Path(out), help=f"where the logs of failures go (default: {out})")
    parser.add_argument("--uncounted", action="store_true", help=f"do not count it in {counts.name}")
    given = parser.parse_args()
    first = behind(counts, seed=given.seed) if given.first is None else given.first
    end, ends = first + given.count, None if given.seconds is None else time.monotonic() + given.seconds
    while first < end and (ends is None or time.monotonic() < ends):
        left = None if ends is None else ends - time.monotonic()
        result = run(given.seed, first, min(end - first, _PIECE), seconds=left)
        for number, what in result.failures:
            given.out.mkdir(parents=True, exist_ok=True)
            kept = given.out / f"{given.seed}-{number}"
            kept.write_bytes(mutant(given.seed, number))
            sys.stdout.write(f"{kept}: {what}\n")
        count_run(counts, result.told(), counts=not given.uncounted and not result.failures)
        if result.failures:
            return 1
        first += result.count
    return 0
