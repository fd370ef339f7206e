"""Transactions of a range of moments, statement by statement and row by row, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from forge.bulk.generating.lives import DELETE, SLOT, UPDATE, Changes, Moments, Numbers, changes_between
from forge.bulk.generating.planned_tables import PlannedTable

#: Rows of a batch: calls of kernels are few beside it, and it is not far larger than the nearest caches.
BATCH_ROWS: Final = 1 << 15
#: Births of a segment, whose transactions are put into order at once.
_SEGMENT: Final = 1 << 17


def _transactions_between(tables: Sequence[PlannedTable], begin: int, end: int) -> Changes:
    """All transactions of a range of moments, in the order of the log."""
    made = [changes_between(table.lives, begin, end) for table in tables]
    for number, each in enumerate(made):
        each["table"] = number
    joined = np.concatenate(made)
    # Those of one moment keep the order of their tables and rows, which is the same for every range.
    return joined[np.argsort(joined["moment"], kind="stable")]


def _segments(tables: Sequence[PlannedTable], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of moments that follow each other, each with so many births that they are in order quickly."""
    share = sum((end - begin) / int(table.lives.numbers[SLOT]) for table in tables)
    parts = max(-(-int(share) // _SEGMENT), 1)
    ends = [begin + (end - begin) * part // parts for part in range(parts + 1)]
    yield from pairwise(ends)


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements of some transactions.  ``cuts[i]`` to ``cuts[i + 1]`` are those of transaction ``i``.

    ``row_cuts`` says where the rows of each statement are among those of the batch.
    """

    transactions: Changes
    statements: Changes
    cuts: Numbers
    row_cuts: Numbers

    @property
    def moments(self) -> Moments:
        return np.ascontiguousarray(self.transactions["moment"])

    @property
    def rows(self) -> int:
        return int(self.row_cuts[-1])


def batch_of(tables: Sequence[PlannedTable], transactions: Changes) -> Batch:
    """The statements of transactions.

    Rows inside of others are inserted after and deleted before those; statements without rows are left out.
    """
    numbers = np.arange(len(transactions))
    parts = [(numbers, np.zeros(len(numbers), np.int64), transactions)]
    for table in tables:
        own = (transactions["table"] == table.index) & (transactions["kind"] != UPDATE)
        for place, inside in enumerate(table.inside if own.any() else (), 1):
            part, lives = transactions[own], tables[inside].lives
            firsts = lives.inside_of(part["first"])
            part["count"] = lives.inside_of(part["first"] + part["count"]) - firsts
            part["first"], part["table"], part["version"] = firsts, inside, 0
            # Before the owner (whose place is 0), the last one first, or after it.
            parts.append((numbers[own], np.where(part["kind"] == DELETE, -place, place), part))
    of_transaction, ranks, statements = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((ranks, of_transaction))
    order = order[statements["count"][order] > 0]
    statements = statements[order]
    cuts = np.searchsorted(of_transaction[order], np.arange(len(numbers) + 1))
    return Batch(transactions, statements, cuts, np.concatenate([[0], np.cumsum(statements["count"])]))


def batches_between(tables: Sequence[PlannedTable], begin: int, end: int) -> Iterator[Batch]:
    """All statements of a range of moments, in batches."""
    # Rows that come with one of each table's, on average.
    rows_with = np.array([
        1 + sum(tables[inside].lives.rows for inside in each.inside) / each.lives.rows for each in tables
    ])  # fmt: skip
    for first, last in _segments(tables, begin, end):
        transactions = _transactions_between(tables, first, last)
        weights = np.cumsum(transactions["count"] * rows_with[transactions["table"]])
        at = 0
        while at < len(transactions):
            reached = weights[at - 1] if at else 0
            stop = max(int(np.searchsorted(weights, reached + BATCH_ROWS)), at + 1)
            yield batch_of(tables, transactions[at:stop])
            at = stop


def spread(firsts: Numbers, counts: Numbers) -> Numbers:
    """The numbers from each of ``firsts`` on, as many as ``counts`` says."""
    ends = np.cumsum(counts)
    return np.asarray(np.repeat(firsts - (ends - counts), counts) + np.arange(ends[-1]))
