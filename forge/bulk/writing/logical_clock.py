"""The logical clock of transactions that write new keys only, as forge.compile.groups.dependency has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.bulk.machine import kernel
from forge.bulk.writing.row_images import Sizes


class InsertClock:
    """(last_committed, sequence_number) of one INSERT after the other, none of which meets a key of another.

    ``limit``: entries that the history of written keys holds at most; None where the server keeps none, and goes by
    the order of commits.  ``keyless``: no key names the table's rows.
    """

    def __init__(self, sequence_number: int, history_start: int, limit: int | None, keyless: bool) -> None:
        self._state = np.array([sequence_number, 0, history_start], np.int64)
        self._limit = -1 if limit is None else limit
        self._keyless = keyless

    def restart(self) -> None:
        """A new file begins."""
        self._state[:] = (0, 0, 1)

    def next(self, keys: Sizes) -> tuple[Sizes, Sizes]:
        """(last_committed, sequence_number) of transactions that write so many entries of keys."""
        last_committed = np.empty(len(keys), np.int64)
        sequence_number = np.empty(len(keys), np.int64)
        _next(self._state, self._limit, self._keyless, keys, last_committed, sequence_number)
        return last_committed, sequence_number


@kernel
def _next(state: Any, limit: Any, keyless: Any, keys: Any, last_committed: Any, sequence_number: Any) -> None:
    number, history, start = state[0], state[1], state[2]
    for transaction in range(len(keys)):
        number += 1
        last = number - 1
        entries = keys[transaction]
        if limit >= 0 and entries == 0 and not keyless:
            history, start = 0, number
        elif limit >= 0:
            if not keyless:
                last = min(start, last)
            if history + entries > limit:
                history, start = 0, number
            else:
                history += entries
        last_committed[transaction] = last
        sequence_number[transaction] = number
    state[0], state[1], state[2] = number, history, start
