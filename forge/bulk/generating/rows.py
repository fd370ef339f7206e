"""Rows of one table that cells are asked for: their numbers, their versions, and when those came about."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from forge.bulk.generating.lives import VERSIONS, Lives, Moments, Numbers, births_of, changes_of, owners_of


class Rows:
    """``numbers`` and ``versions`` of some rows of a table."""

    def __init__(self, lives: Lives, numbers: Numbers, versions: Numbers | None = None) -> None:
        self.lives = lives
        self.numbers = numbers
        self._versions = versions

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def versions(self) -> Numbers:
        return np.zeros(len(self.numbers), np.int64) if self._versions is None else self._versions

    @cached_property
    def inserted(self) -> Rows:
        """The same rows as they were inserted."""
        return self if self._versions is None else Rows(self.lives, self.numbers)

    @cached_property
    def counters(self) -> Numbers:
        """A number for each row and version."""
        counters = self.numbers * VERSIONS
        return counters if self._versions is None else counters + self._versions

    @cached_property
    def moments(self) -> Moments:
        """When each row got its version."""
        if self._versions is None:
            return np.asarray(births_of(*self.lives.arguments, self.numbers))
        return np.asarray(changes_of(*self.lives.arguments, self.numbers, self._versions))

    @cached_property
    def owners(self) -> Numbers:
        """The rows that these are inside of."""
        return np.asarray(owners_of(*self.lives.arguments, self.numbers))
