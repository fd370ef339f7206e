"""A search for logs that a testee gets wrong: each try is a function of the seed and a number, and can be made again.

The rule is our strict reader's: of a log without a problem a reader gets the same rows, or refuses it; of one with a
problem it gets some of them, and refuses it or reads on.  It never crashes, hangs, takes memory beyond its limit, or
shows another row.  A log that was not changed it may not refuse.

A testee that tells its coverage leads the search: the log that reached new places of its code is kept, and every other
log from then on is made of a kept one.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from forge.conform.kit.reading import open_kit
from forge.conform.one_file import FileResult, ask
from forge.conform.shrink.outcomes import TesteeFinding, TesteeOutcome, finding_of
from forge.conform.shrink.shrink import shrink
from forge.conform.testee import Testee
from forge.corpus.outcomes import Outcome
from forge.errors import ScenarioError
from forge.logs import build
from forge.testing.draws.scenarios import scenario_of
from forge.testing.draws.source import RandomSource, Source
from forge.testing.mutations import changed_log

_WRONG: frozenset[Outcome] = frozenset(("crashed", "timeout", "disagree"))
#: Changes of one log at most.
_MOST_CHANGES = 3
#: One log of so many is not changed.
_UNCHANGED = 16
#: Bytes of a log that is changed, of a kit or kept: larger ones take long, and show no more.
_LARGEST = 1 << 16
#: Kept logs are changed at most so often over: what is left of the first log then is little.
_LONGEST_CHAIN = 24


class Seeds(Protocol):
    """Where the logs come from that are changed."""

    def log(self, source: Source) -> bytes: ...


class DrawnSeeds:
    """Logs of generated scenarios, of all types and server lines."""

    def log(self, source: Source) -> bytes:
        while True:
            try:
                return build(scenario_of(source, "drawn")).files[0].data
            except ScenarioError:
                continue  # Two equal keys, for example.


class KitSeeds:
    """The logs of a kit that a correct reader accepts.  Raises ScenarioError if the folder is no kit."""

    def __init__(self, folder: Path) -> None:
        kit = open_kit(folder)
        accepted = (case for case in kit.cases if case.verdict == "accept")
        self._paths = [kit.path(case, file) for case in accepted for file in case.files if file.size <= _LARGEST]
        if not self._paths:
            raise ScenarioError(
                f"the kit in {folder} has no log that is accepted", expected="one made by forge corpus export"
            )

    def log(self, source: Source) -> bytes:
        return source.one_of(self._paths).read_bytes()


@dataclass(frozen=True, slots=True)
class Try:
    """A log to ask about: how it was changed, and whether it was.

    ``bases`` are the numbers of the logs that it was made of, the first of them first.
    """

    number: int
    data: bytes
    mutations: tuple[str, ...]
    bases: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A cause, with the first log that shows it and the smallest that was found."""

    finding: TesteeFinding
    seed: int
    first: Try
    message: str | None
    smallest: bytes

    @property
    def name(self) -> str:
        """The same for the same cause."""
        digest = hashlib.sha256(repr((self.finding.outcome, self.finding.kind)).encode()).hexdigest()
        return f"{self.finding.outcome}-{digest[:8]}"


@dataclass(slots=True)
class Tally:
    """What a search has done."""

    tries: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    #: How often each cause came.
    causes: Counter[tuple[Outcome, str | None]] = field(default_factory=Counter)
    #: Places of the testee's code that were reached, and logs that were kept because they reached new ones.
    places: set[int] = field(default_factory=set)
    kept: int = 0


def try_of(seeds: Seeds, seed: int, number: int, base: Try | None = None) -> Try:
    """The log of a number: the same for the same seed, number, and seeds or base."""
    source = RandomSource(f"fuzz/{seed}/{number}")
    data = seeds.log(source) if base is None else base.data
    mutations = [] if base is None else list(base.mutations)
    if base is not None or source.integer(0, _UNCHANGED - 1):
        for _ in range(source.integer(1, _MOST_CHANGES)):
            data, mutation = changed_log(source, data)
            mutations.append(mutation)
    return Try(number, data, tuple(mutations), () if base is None else (*base.bases, base.number))


def base_of(seeds: Seeds, seed: int, numbers: Sequence[int]) -> Try | None:
    """The log that is made of these, the first of them first: ``bases`` of a try.  None for none."""
    base = None
    for number in numbers:
        base = try_of(seeds, seed, number, base)
    return base


class Kept:
    """Logs that reached new places, and the choice of the one that the next is made of."""

    def __init__(self, seed: int, places: set[int]) -> None:
        self._seed = seed
        self._places = places
        self.tries: list[Try] = []

    def note(self, one: Try, coverage: Iterable[int]) -> None:
        """Keep the log if it reached a place that none before did."""
        before = len(self._places)
        self._places.update(coverage)
        if len(self._places) > before and len(one.bases) < _LONGEST_CHAIN and len(one.data) <= _LARGEST:
            self.tries.append(one)

    def base(self, number: int) -> Try | None:
        """What the log of that number is made of; None for a seed."""
        source = RandomSource(f"fuzz/{self._seed}/{number}/base")
        return source.one_of(self.tries) if self.tries and source.truth() else None


class Asked(Protocol):
    """Which logs are made (by a seed, from a number on, of a base), and when the search ends."""

    @property
    def seed(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def bases(self) -> Sequence[int]: ...
    @property
    def tries(self) -> int | None: ...
    @property
    def seconds(self) -> float | None: ...


def search(
    testee: Testee,
    seeds: Seeds,
    path: Path,
    asked: Asked,
    *,
    shrink_seconds: float = 20.0,
    tally: Tally | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Failure]:
    """Causes of failures, each once, as they are found; ends after the tries or seconds that are asked for.

    ``path``: the file that the testee is asked about.  With ``asked.bases`` every log is made of the one that these
    numbers give.
    Raises EnvironmentMissing, ScenarioError if it cannot be asked.
    """
    tally = tally or Tally()
    seed, tries = asked.seed, asked.tries
    kept, given = Kept(seed, tally.places), base_of(seeds, seed, asked.bases)
    deadline = None if asked.seconds is None else time.monotonic() + asked.seconds
    number = first = asked.first
    while (tries is None or number < first + tries) and (deadline is None or time.monotonic() < deadline):
        one = try_of(seeds, seed, number, given or kept.base(number))
        path.write_bytes(one.data)
        result = ask(testee, path, one.data, coverage=True)
        kept.note(one, result.reading.coverage)
        tally.kept = len(kept.tries)
        tally.tries += 1
        tally.outcomes[result.outcome] += 1
        if progress is not None:
            progress(tally.tries)
        if _fails(one, result):
            finding = finding_of(result)
            cause = finding.outcome, finding.kind
            tally.causes[cause] += 1
            if tally.causes[cause] == 1:
                yield _failure(testee, path, one, result, seed, shrink_seconds)
        number += 1


def _fails(one: Try, result: FileResult) -> bool:
    return result.outcome in _WRONG or (result.outcome == "refused" and not one.mutations)


def _failure(testee: Testee, path: Path, one: Try, result: FileResult, seed: int, seconds: float) -> Failure:
    finding = finding_of(result)
    outcomes = TesteeOutcome(testee, path)

    def shows(candidate: bytes) -> bool:
        found = outcomes.of(candidate)
        return (found.outcome, found.kind) == (finding.outcome, finding.kind)

    smallest = shrink(one.data, shows, seconds=seconds).data if seconds and shows(one.data) else one.data
    return Failure(finding, seed, one, result.message, smallest)
