"""Which row of another table a row refers to: one that is there before it, and is never deleted."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.generating.lives import (
    GROUP,
    INSIDE,
    OFFSET,
    ROWS,
    SLOT,
    Keys,
    Lives,
    Numbers,
    begins,
    below,
    drawn,
    first_inside,
    is_ended,
    owner_of,
)
from forge.bulk.generating.skew import Ranks, rank, zipf_table
from forge.bulk.machine import inline, kernel

#: Draws before the rows in front of the last one are looked at, the first of which is never deleted.
_DRAWS: Final = 8
_NO_RANKS: Final = np.zeros(0, np.int64)


def parents_of(child: Lives, parent: Lives, key: np.uint64, zipf: float | None, rows: Numbers) -> Numbers:
    """The number of the parent of each of the child's rows; -1 where no parent is there yet."""
    ranks = (_NO_RANKS, _NO_RANKS) if zipf is None else zipf_table(zipf, parent.rows)
    return np.asarray(_parents(*child.arguments, *parent.arguments, key, *ranks, rows))


@kernel
def _parents(
    n: Numbers,
    k: Keys,
    on: Numbers,
    ok: Keys,
    pn: Numbers,
    pk: Keys,
    pon: Numbers,
    pok: Keys,
    key: Any,
    starts: Ranks,
    sums: Ranks,
    rows: Numbers,
) -> Any:
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
