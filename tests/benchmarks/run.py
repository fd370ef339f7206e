"""Rounds: each times the subjects of the chosen lines, those of one figure in turns; a ratio is of one round."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.lines import Key, Line
from tests.benchmarks.measure import Cost, NotHere, Pass, Subject

#: How often the turn goes round at most: all subjects of a round make as many passes.
_TURNS = 9
#: There are no more turns in a round in which the passes of one subject have taken longer (seconds).
_ENOUGH = 1.5
#: A subject whose one pass takes longer (seconds) is timed in so many rounds only.
_LONG_PASS, _ROUNDS_OF_LONG = 10.0, 3


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, least and greatest of the rounds."""

    median: float
    least: float
    greatest: float


def spread(figures: Sequence[float]) -> Spread:
    return Spread(median(figures), min(figures), max(figures))


def together(lines: Iterable[Line]) -> list[list[Key]]:
    """The keys, those together that a line, or a row of lines with keys in common, compares with each other."""
    groups: list[list[Key]] = []
    for line in lines:
        keys = list(line.keys)
        joined = [group for group in groups if not set(keys).isdisjoint(group)]
        groups = [group for group in groups if group not in joined]
        groups.append(list(dict.fromkeys([key for group in joined for key in group] + keys)))
    return groups


@dataclass
class Run:
    """What the rounds gave: for each key the best pass of each round that it was timed in."""

    rounds: int
    costs: dict[Key, list[Cost]] = field(default_factory=dict)
    #: What is not on this machine, and what went wrong.
    missing: dict[Key, str] = field(default_factory=dict)
    failed: dict[Key, str] = field(default_factory=dict)
    #: Load averages over a minute, before each round and after the last.
    load: list[float] = field(default_factory=list)

    def measure(self, lines: Iterable[Line], subject_of: Callable[[Key], Subject], say: Callable[[str], None]) -> None:
        """A subject that is missing or fails is left out of all rounds, and named.  Ctrl-C: the rounds before count."""
        groups = together(lines)
        for number in range(self.rounds):
            self.load.append(os.getloadavg()[0])
            try:
                for keys in groups:
                    say(f"round {number + 1} of {self.rounds}: {', '.join(' '.join(key).strip() for key in keys)}")
                    self._measure([key for key in keys if self._is_wanted(key, number)], subject_of, first=number == 0)
            except KeyboardInterrupt:
                if not number:
                    raise
                say(f"stopped: {number} rounds count")
                self.rounds = number
                self.costs = {key: costs[:number] for key, costs in self.costs.items()}
                break
        self.load.append(os.getloadavg()[0])

    def _is_wanted(self, key: Key, number: int) -> bool:
        if key in self.missing or key in self.failed:
            return False
        return number < _ROUNDS_OF_LONG or min(cost.wall for cost in self.costs[key]) <= _LONG_PASS

    def _measure(self, keys: Sequence[Key], subject_of: Callable[[Key], Subject], *, first: bool) -> None:
        """One round of subjects that are compared with each other: all of them start, and then take turns."""
        costs: dict[Key, list[Cost]] = {key: [] for key in keys}
        with ExitStack() as processes:
            passes: dict[Key, Pass] = {}
            for key in keys:
                with self._reported(key):
                    subject = subject_of(key)
                    if first:
                        subject.prepare()
                    passes[key] = processes.enter_context(subject.started())
            for _ in range(_TURNS):
                for key, once in passes.items():
                    if key not in self.failed:
                        with self._reported(key):
                            costs[key].append(once())
                if any(sum(cost.wall for cost in made) > _ENOUGH for made in costs.values()):
                    break
        for key, made in costs.items():
            if made and key not in self.failed:
                self.costs.setdefault(key, []).append(_best(made))

    @contextmanager
    def _reported(self, key: Key) -> Iterator[None]:
        """One that fails is reported: the others are still worth their time."""
        try:
            yield
        except NotHere as missing:
            self.missing[key] = str(missing)
        except Exception as error:  # noqa: BLE001
            self.failed[key] = f"{type(error).__name__}: {error}"
            self.costs.pop(key, None)


def _best(costs: Sequence[Cost]) -> Cost:
    """The least of the times, and the memory of the first pass: it grows with the passes of a process."""
    first = costs[0]
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs), first.rows, first.peak)
