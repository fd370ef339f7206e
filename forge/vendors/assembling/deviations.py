"""What a text leaves open, as choices, the likely ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any

#: So many choices at once are other than the likely ones.
_MOST = 4


def by_deviation(choices: Sequence[Sequence[Any]], limit: int) -> Iterator[tuple[Any, ...]]:
    """One of each of the choices, whose first are the likely ones; first those that differ in fewest places."""
    if not choices:
        return iter(())
    open_ones = [place for place, values in enumerate(choices) if len(values) > 1]
    likely = [values[0] for values in choices]

    def found() -> Iterator[tuple[Any, ...]]:
        for count in range(min(_MOST, len(open_ones)) + 1):
            for places in combinations(open_ones, count):
                for values in product(*(choices[place][1:] for place in places)):
                    chosen = list(likely)
                    for place, value in zip(places, values, strict=True):
                        chosen[place] = value
                    yield tuple(chosen)

    return islice(found(), limit)
