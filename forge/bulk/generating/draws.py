"""Draws for rows: ranks that are even or skewed, and which row of another table a row refers to.

Skewed: rank ``n`` is as likely as ``1 / n ** exponent`` (Zipf), for any number of ranks.  The weights are sums of
decimals, so that every machine has the same.  The first ranks have a weight each, later ones share those of spans that
grow with the rank.

A row refers to one that is there before it, and is never deleted.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.generating.lives import (
    GROUP,
    INSIDE,
    OFFSET,
    ROWS,
    SLOT,
    VERSIONS,
    Lives,
    Numbers,
    begins,
    below,
    drawn,
    first_inside,
    is_ended,
    owner_of,
)
from forge.bulk.machine import inline, kernel

#: Ranks with a weight of their own; each later span is longer than the one before by this part.
_OWN: Final = 512
_GROWTH: Final = 16
#: The sum of all weights.
_SCALE: Final = 1 << 60

Ranks = npt.NDArray[np.int64]


@cache
def zipf_table(exponent: float, ranks: int) -> tuple[Ranks, Ranks]:
    """Where spans of ranks begin, and the weights before each; both have an entry for the end."""
    starts = list(range(min(_OWN, ranks) + 1))
    while starts[-1] < ranks:
        starts.append(min(starts[-1] + starts[-1] // _GROWTH, ranks))
    with localcontext() as context:
        context.prec = 28
        power = -Decimal(str(exponent))
        weights = [(end - start) * (Decimal(start + end + 1) / 2) ** power for start, end in pairwise(starts)]
        total = sum(weights)
        sums, reached = [0], Decimal(0)
        for weight in weights:
            reached += weight
            sums.append(int(reached / total * _SCALE))
    return np.array(starts, np.int64), np.array(sums, np.int64)


@inline
def rank(number: Any, again: Any, starts: Any, sums: Any, limit: Any) -> Any:
    """A rank below ``limit``, which is at least 1, of two drawn numbers."""
    last = np.searchsorted(starts, limit, "left")  # The first span that begins at or behind the limit.
    span = np.searchsorted(sums[: last + 1], below(number, sums[last]), "right") - 1
    first = starts[span]
    return first + below(again, min(starts[span + 1], limit) - first)


@kernel
def skewed_ranks(key: Any, counters: Any, starts: Any, sums: Any) -> Any:
    """A rank for each counter."""
    out = np.empty(len(counters), np.int64)
    limit = starts[len(starts) - 1]
    for place in range(len(counters)):
        number = drawn(key, counters[place])
        out[place] = rank(number, drawn(number, 1), starts, sums, limit)
    return out


@kernel
def changing_ranks(
    key: Any, null_key: Any, nulls: Any, rows: Any, versions: Any, starts: Any, sums: Any, same: Any
) -> Any:
    """A rank for each version of a row, other than that of the version before; -1 for NULL.

    ``nulls``: of 2^64; ``starts`` and ``sums`` are empty where there is no skew; ranks of the same value have the same
    number in ``same``, as many as there are ranks.
    """
    out = np.empty(len(rows), np.int64)
    limit = len(same)
    for place in range(len(rows)):
        found = np.int64(-2)
        for version in range(versions[place] + 1):
            before = found
            counter = rows[place] * VERSIONS + version
            number = drawn(key, counter)
            found = rank(number, drawn(number, 1), starts, sums, limit) if len(starts) else below(number, limit)
            if drawn(null_key, counter) < nulls and before != -1:
                found = np.int64(-1)
            elif before >= 0 and same[found] == same[before]:
                for _ in range(limit - 1):
                    found = (found + 1) % limit
                    if same[found] != same[before]:
                        break
        out[place] = found
    return out


@kernel
def even_ranks(key: Any, counters: Any, limit: Any) -> Any:
    """The same without skew."""
    out = np.empty(len(counters), np.int64)
    for place in range(len(counters)):
        out[place] = below(drawn(key, counters[place]), limit)
    return out


#: Draws before the rows in front of the last one are looked at, the first of which is never deleted.
_DRAWS: Final = 8
_NO_RANKS: Final = np.zeros(0, np.int64)


def parents_of(child: Lives, parent: Lives, key: np.uint64, zipf: float | None, rows: Numbers) -> Numbers:
    """The number of the parent of each of the child's rows; -1 where no parent is there yet."""
    ranks = (_NO_RANKS, _NO_RANKS) if zipf is None else zipf_table(zipf, parent.rows)
    return np.asarray(_parents(child.arguments, parent.arguments, key, *ranks, rows))


@kernel
def _parents(child: Any, parent: Any, key: Any, starts: Any, sums: Any, rows: Any) -> Any:
    n, k, on, ok = child
    pn, pk, pon, pok = parent
    out = np.empty(len(rows), np.int64)
    for place in range(len(rows)):
        row = rows[place]
        root = owner_of(n, k, on, row) if n[INSIDE] else row
        while not begins(on, ok, root):
            root -= 1
        # The transaction that inserts it comes no earlier, ...
        moment = on[OFFSET] + root * on[SLOT]
        # ... and these rows are there before that.
        limit = min(max(moment - pon[OFFSET], 0) // pon[SLOT], pon[ROWS])
        if pn[INSIDE]:
            limit = first_inside(pn, pk, pon, limit)
        if limit == 0:
            out[place] = -1
            continue
        number = drawn(key, row)
        found = np.int64(0)
        for attempt in range(_DRAWS):
            again = drawn(number, attempt + 1)
            found = rank(number, again, starts, sums, limit) if len(starts) else below(number, limit)
            if not _is_ended(pn, pk, pon, pok, found):
                break
            number = again
        while found > 0 and _is_ended(pn, pk, pon, pok, found):
            found -= 1
        out[place] = found
    return out


@inline
def _is_ended(n: Any, k: Any, on: Any, ok: Any, row: Any) -> Any:
    owner = owner_of(n, k, on, row) if n[INSIDE] else row
    return is_ended(on, ok, owner // on[GROUP])
