"""The numbers of each transaction: from the facts of the session, or the defaults of the reference path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forge.bulk.writing.layout import Stamps
from forge.bulk.writing.templates import STAMPS
from forge.compile.files.log import SessionLog
from forge.plan.clock import START
from forge.plan.session import Session


class Numbers:
    """Numbers of the groups from ``first_group`` on, which are all transactions of rows.

    ``log`` has compiled the groups before: it knows how far XIDs and QUERY events are.
    """

    def __init__(self, session: Session, log: SessionLog, first_group: int) -> None:
        self.session = session
        self.facts = session.facts
        self.log = log
        self.first_group = first_group
        self._first_query = log.queries
        self._xids = _array(self.facts.xids, np.uint64)
        # One for each group that the facts do not know.
        known = 0 if self.facts.xids is None else len(self.facts.xids)
        self.first_default_xid = next(log.next_xid) - max(first_group, known)
        self._commits = _array(self.facts.commit_timestamps, np.uint64)
        self._exec_times = _array(self.facts.exec_times, np.uint64)
        times = self.facts.timestamps
        self._times = None if times is None else _time_columns(times)

    def of(self, first: int, count: int, queries: int) -> Stamps:
        """A column for each of ``count`` transactions, of which the first is number ``first``: the rows are STAMPS.

        ``queries``: QUERY events that each transaction has.  The logical clock is left at 0.
        """
        groups = np.arange(self.first_group + first, self.first_group + first + count, dtype=np.int64)
        stamps = np.zeros((len(STAMPS), count), np.uint64)
        declared = self.log.clock.declared
        start = self.log.clock.second(int(groups[0]), 0) if declared is not None else None
        for place in range(4):
            column = None if self._times is None else self._times[place]
            default = (groups + START + 1) if start is None else np.full(count, start, np.int64)
            stamps[place] = _known(column, groups, default)
        stamps[STAMPS.index("gno")] = groups + self.log.group_number(0)
        stamps[STAMPS.index("commit_timestamp")] = _known(self._commits, groups, (groups + START + 1) * 1_000_000)
        stamps[STAMPS.index("xid")] = _known(self._xids, groups, groups + self.first_default_xid)
        for number, name in enumerate(("begin_exec_time", "commit_exec_time")[:queries]):
            places = self._first_query + (first + np.arange(count)) * queries + number
            stamps[STAMPS.index(name)] = _known(self._exec_times, places, np.zeros(count, np.int64))
        return stamps

    def second(self, transaction: int, statement: int) -> int:
        """Header time of a statement; the commit counts as the one behind the last."""
        return self.log.clock.second(self.first_group + transaction, statement)


def _array(values: Sequence[int] | None, kind: Any) -> Any:
    return None if values is None else np.array(values, kind)


def _time_columns(times: Sequence[Sequence[int]]) -> list[Any]:
    """The first four times of each group; the last stands for those that are not there."""
    sizes = set(map(len, times))
    if len(sizes) == 1:
        table = np.array(times, np.uint64)
        return [table[:, min(place, table.shape[1] - 1)] for place in range(4)]
    return [np.array([group[min(place, len(group) - 1)] for group in times], np.uint64) for place in range(4)]


def _known(recorded: Any, places: Any, default: Any) -> Any:
    """What the facts say, and the default behind their end."""
    if recorded is None:
        return default
    known = places < len(recorded)
    if known.all():
        return recorded[places]
    values = default.astype(np.uint64)
    values[known] = recorded[places[known]]
    return values
