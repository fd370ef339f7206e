"""Rounds: each times every subject of the chosen lines, one after the other; ratios are taken within a round."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.lines import Key, Line
from tests.benchmarks.measure import Cost, NotHere, Subject


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, least and greatest of the rounds."""

    median: float
    least: float
    greatest: float


def spread(figures: Sequence[float]) -> Spread:
    return Spread(median(figures), min(figures), max(figures))


@dataclass
class Run:
    """What the rounds gave: for each key the best pass of each round."""

    rounds: int
    passes: int
    costs: dict[Key, list[Cost]] = field(default_factory=dict)
    #: What is not on this machine, and what went wrong.
    missing: dict[Key, str] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    #: Load averages over a minute, before each round and after the last.
    load: list[float] = field(default_factory=list)

    def measure(self, lines: Iterable[Line], subject_of: Callable[[Key], Subject], say: Callable[[str], None]) -> None:
        """A subject that is missing or fails is left out of all rounds, and named."""
        keys = list(dict.fromkeys(key for line in lines for key in line.keys))
        for number in range(self.rounds):
            self.load.append(os.getloadavg()[0])
            for key in keys:
                say(f"round {number + 1} of {self.rounds}: {' '.join(key)}")
                self._measure(key, subject_of, first=number == 0)
        self.load.append(os.getloadavg()[0])

    def _measure(self, key: Key, subject_of: Callable[[Key], Subject], *, first: bool) -> None:
        if key in self.missing or key in self.failed:
            return
        try:
            subject = subject_of(key)
            if first:
                subject.prepare()
            costs = subject.passes(self.passes)
            if not costs:
                raise ValueError("it measured nothing")
        except NotHere as missing:
            self.missing[key] = str(missing)
        except Exception as error:  # noqa: BLE001 - one that fails is reported, the others are still worth their time
            self.failed[key] = f"{type(error).__name__}: {error}"
            self.costs.pop(key, None)
        else:
            best = min(costs, key=lambda cost: cost.wall)
            cpu = min(cost.cpu for cost in costs)
            self.costs.setdefault(key, []).append(Cost(best.wall, cpu, best.rows, best.peak))
