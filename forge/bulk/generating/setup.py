"""What a volume is: a scenario and how much of it, worked out as far as every part of it needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from forge import __version__
from forge.bulk.generating.epochs import Definitions, definitions_of
from forge.bulk.generating.lives import SPAN, transactions_in
from forge.bulk.generating.planned_tables import PlannedTable, planned_tables
from forge.bulk.generating.sources import Sources, pools_of
from forge.bulk.generating.volume_calendar import SECOND, Calendar, calendar_of
from forge.bulk.generating.volume_numbers import VolumeNumbers
from forge.compile.files.compilation import file_names
from forge.errors import ScenarioError
from forge.progress import Progress
from forge.scenario.model import Scenario
from forge.scenario.volume_model import Volume

#: Tables of a volume at most.
MOST_TABLES = 48
MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class FilePart:
    """File ``number`` has the moments from ``begin`` to ``end``; ``first_group`` groups of the log are before it."""

    number: int
    begin: int
    end: int
    first_group: int


@dataclass(frozen=True, slots=True)
class VolumeRequest:
    """What was asked for, and the values of its pools: all that a worker needs.

    ``transactions``: of each file.
    """

    scenario: Scenario
    rows: int
    files: int
    pools: Mapping[tuple[str, str], Sequence[Any]]
    transactions: tuple[int, ...]


@dataclass(frozen=True)
class VolumeSetup:
    """A request worked out."""

    request: VolumeRequest

    @cached_property
    def volume(self) -> Volume:
        return self.request.scenario.volume or Volume()

    @cached_property
    def definitions(self) -> Definitions:
        return definitions_of(self.request.scenario)

    @cached_property
    def tables(self) -> list[PlannedTable]:
        tables = self.definitions.epochs[0].tables
        if len(tables) > MOST_TABLES:
            raise ScenarioError(f"{len(tables)} tables are too many for forge generate", expected=f"{MOST_TABLES}")
        later = [
            {column.name.lower() for epoch in self.definitions.epochs for column in epoch.tables[index].columns}
            for index in range(len(tables))
        ]
        return planned_tables(tables, later, self.volume, self.request.rows, self.request.scenario.seed)

    @cached_property
    def calendar(self) -> Calendar:
        return calendar_of(self.volume)

    @cached_property
    def sources(self) -> list[Sources]:
        """By epoch."""
        seed = self.request.scenario.seed
        return [
            Sources(self.definitions, epoch, self.tables, self.volume, self.request.pools, seed)
            for epoch in self.definitions.epochs
        ]

    def epoch_range(self, number: int) -> tuple[int, int]:
        epochs = self.definitions.epochs
        return epochs[number].begin, epochs[number + 1].begin if number + 1 < len(epochs) else SPAN

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """The moments of each file."""
        files = self.request.files
        ends = [SPAN * number // files for number in range(files + 1)]
        return list(pairwise(ends))

    @cached_property
    def parts(self) -> list[FilePart]:
        own = len(self.definitions.logged)
        before = np.cumsum([own, *self.request.transactions]).tolist()
        return [
            FilePart(number, begin, end, before[number] if number else 0)
            for number, (begin, end) in enumerate(self.ranges)
        ]

    @cached_property
    def numbers(self) -> VolumeNumbers:
        ends = np.array([end for _, end in self.ranges])
        closed = (self.calendar.times(ends) // SECOND).tolist()
        return VolumeNumbers(self.definitions, self.calendar, closed, self.volume.sessions, self.request.scenario.seed)

    @cached_property
    def file_names(self) -> list[str]:
        return file_names(self.definitions.plan, self.request.files)

    @cached_property
    def identity(self) -> str:
        """Equal for two requests that make the same bytes."""
        digest = hashlib.sha256()
        scenario = msgspec.structs.replace(self.request.scenario, description=None, tags=[])
        digest.update(repr((__version__, scenario)).encode())
        digest.update(repr((self.request.rows, self.request.files)).encode())
        digest.update(repr(sorted(self.request.pools.items())).encode())
        return digest.hexdigest()


def requested(scenario: Scenario, rows: int, files: int, progress: Progress | None = None) -> VolumeSetup:
    """Work out a request.  ``progress`` gets (files counted, all files).

    Raises ScenarioError for what cannot be, UnsupportedError for what is not made.
    """
    if not 1 <= files <= MOST_FILES:
        raise ScenarioError(f"{files} files", expected=f"1 to {MOST_FILES}")
    first = VolumeSetup(VolumeRequest(scenario, rows, files, {}, (0,) * files))
    pools = pools_of(first.sources)
    # A copy does not know the text of its file, which no worker needs.
    plain = msgspec.structs.replace(scenario)
    request = VolumeRequest(plain, rows, files, pools, _transactions(first, progress))
    setup = VolumeSetup(request)
    for sources in setup.sources:
        for table in setup.tables:
            sources.of_table(table.index)
    return setup


def _transactions(setup: VolumeSetup, progress: Progress | None) -> tuple[int, ...]:
    """How many transactions each file has."""
    counts = []
    for number, (begin, end) in enumerate(setup.ranges):
        count = sum(len(epoch.groups) for epoch in setup.definitions.epochs[1:] if begin <= epoch.begin < end)
        count += sum(transactions_in(table.lives, begin, end) for table in setup.tables)
        counts.append(count)
        if progress is not None:
            progress(number + 1, setup.request.files)
    return tuple(counts)
