"""Transactions of a range of moments, statement by statement and row by row, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.generating.lives import DELETE, INSERT, UPDATE, Moments, Numbers, changes_between
from forge.bulk.generating.tables import PlannedTable
from forge.bulk.machine import kernel

#: Rows of a batch: calls of kernels are few beside it, and it is not far larger than the nearest caches.
BATCH_ROWS: Final = 1 << 15
#: Births of a segment, whose transactions are put into order at once.
_SEGMENT: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions in order: moment, the table that they are of, INSERT, UPDATE or DELETE, rows and version."""

    moments: Moments
    tables: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int8]
    firsts: Numbers
    counts: Numbers
    versions: Numbers

    def __len__(self) -> int:
        return len(self.moments)

    def taken(self, which: Any) -> Transactions:
        return Transactions(
            self.moments[which],
            self.tables[which],
            self.kinds[which],
            self.firsts[which],
            self.counts[which],
            self.versions[which],
        )


def transactions_between(tables: Sequence[PlannedTable], begin: int, end: int) -> Transactions:
    """All transactions of a range of moments, in the order of the log."""
    made = [changes_between(table.lives, begin, end) for table in tables]
    joined = Transactions(
        np.concatenate([each.moments for each in made]),
        np.repeat(np.arange(len(made)), [len(each.moments) for each in made]),
        np.concatenate([each.kinds for each in made]),
        np.concatenate([each.firsts for each in made]),
        np.concatenate([each.counts for each in made]),
        np.concatenate([each.versions for each in made]),
    )
    # Those of one moment keep the order of their tables and rows, which is the same for every range.
    return joined.taken(np.argsort(joined.moments, kind="stable"))


def segments(tables: Sequence[PlannedTable], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of moments that follow each other, each with so many births that they are in order quickly."""
    share = sum((end - begin) / int(table.lives.numbers[2]) for table in tables)
    parts = max(-(-int(share) // _SEGMENT), 1)
    ends = [begin + (end - begin) * part // parts for part in range(parts + 1)]
    yield from pairwise(ends)


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements of some transactions.  ``cuts[i]`` to ``cuts[i + 1]`` are those of transaction ``i``.

    Of each statement: its table, its kind, the first of ``counts`` rows, and their version; ``row_cuts`` says where its
    rows are among those of the batch.
    """

    transactions: Transactions
    cuts: Numbers
    tables: Numbers
    kinds: npt.NDArray[np.int8]
    firsts: Numbers
    counts: Numbers
    versions: Numbers
    row_cuts: Numbers

    @property
    def rows(self) -> int:
        return int(self.row_cuts[-1])


def batch_of(tables: Sequence[PlannedTable], transactions: Transactions) -> Batch:
    """The statements of transactions.

    Rows inside of others are inserted after and deleted before those; statements without rows are left out.
    """
    numbers = np.arange(len(transactions))
    parts = [(numbers, np.zeros(len(numbers), np.int64), transactions.tables, transactions)]
    for table in tables:
        own = (transactions.tables == table.index) & (transactions.kinds != UPDATE)
        if not table.inside or not own.any():
            continue
        chosen = transactions.taken(own)
        for place, inside in enumerate(table.inside):
            lives = tables[inside].lives
            firsts = lives.inside_of(chosen.firsts)
            counts = lives.inside_of(chosen.firsts + chosen.counts) - firsts
            versions = np.zeros(len(chosen), np.int64)
            of_inside = Transactions(
                chosen.moments, np.full(len(chosen), inside), chosen.kinds, firsts, counts, versions
            )
            # Before the owner (whose place is 0), the last one first, or after it.
            ranks = np.where(chosen.kinds == DELETE, -1 - place, 1 + place)
            parts.append((numbers[own], ranks, of_inside.tables, of_inside))
    transaction = np.concatenate([part[0] for part in parts])
    ranks = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[3].counts for part in parts])
    order = np.lexsort((ranks, transaction))
    order = order[counts[order] > 0]
    counts = counts[order]

    def ordered(name: str) -> Any:
        return np.concatenate([getattr(part[3], name) for part in parts])[order]

    return Batch(
        transactions,
        np.searchsorted(transaction[order], np.arange(len(numbers) + 1)),
        ordered("tables"),
        ordered("kinds"),
        ordered("firsts"),
        counts,
        ordered("versions"),
        np.concatenate([[0], np.cumsum(counts)]),
    )


def batches_between(tables: Sequence[PlannedTable], begin: int, end: int) -> Iterator[Batch]:
    """All statements of a range of moments, in batches."""
    for first, last in segments(tables, begin, end):
        transactions = transactions_between(tables, first, last)
        weights = np.cumsum(transactions.counts * _rows_with(tables)[transactions.tables])
        at = 0
        while at < len(transactions):
            reached = weights[at - 1] if at else 0
            stop = max(int(np.searchsorted(weights, reached + BATCH_ROWS)), at + 1)
            yield batch_of(tables, transactions.taken(slice(at, stop)))
            at = stop


def _rows_with(tables: Sequence[PlannedTable]) -> npt.NDArray[np.float64]:
    """Rows that come with one of each table's, on average."""
    return np.array([1 + sum(tables[inside].lives.rows for inside in each.inside) / each.lives.rows for each in tables])


@kernel
def spread(firsts: Any, counts: Any, total: Any) -> Any:
    """The numbers from each of ``firsts`` on, as many as ``counts`` says."""
    out = np.empty(total, np.int64)
    at = 0
    for place in range(len(firsts)):
        for number in range(counts[place]):
            out[at] = firsts[place] + number
            at += 1
    return out


__all__ = [
    "DELETE", "INSERT", "UPDATE", "Batch", "Transactions", "batch_of", "batches_between", "segments", "spread",
    "transactions_between",
]  # fmt: skip
