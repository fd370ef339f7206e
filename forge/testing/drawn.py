"""Hypothesis as a source of chances: what ``forge.testing.draws`` draws, as strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Concatenate, ParamSpec, TypeVar

from hypothesis import strategies as st

from forge.testing.draws.source import Source, Width

T = TypeVar("T")
P = ParamSpec("P")


class HypothesisSource(Source):
    """Chances that Hypothesis takes: it looks for examples that fail, and makes them small."""

    shrinks = True

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, least: int, most: int) -> int:
        return self._draw(_integers(least, most))

    def one_of(self, items: Sequence[T]) -> T:
        return items[self._draw(_integers(0, len(items) - 1))]

    def once_in(self, times: int) -> bool:
        # What is rare is what is left out first.
        return self._draw(_integers(0, times - 1)) == times - 1

    def real(self, width: Width = 64, least: float | None = None) -> float:
        return self._draw(_reals(width, least))

    def binary(self, most: int, least: int = 0) -> bytes:
        return self._draw(_binaries(least, most))

    def text(self, most: int, alphabet: Sequence[str] | None = None) -> str:
        return self._draw(_texts(most, None if alphabet is None else tuple(alphabet)))

    def several(self, draw: Callable[[Source], T], least: int, most: int) -> list[T]:
        # A number, and as many things that are drawn by themselves: Hypothesis can leave out each of them.
        return [self._draw(_drawn(draw, ())) for _ in range(self.integer(least, most))]


# A strategy takes longer to make than to draw from.
_integers = cache(st.integers)


@cache
def _reals(width: Width, least: float | None) -> st.SearchStrategy[float]:
    return st.floats(min_value=least, allow_nan=False, allow_infinity=False, width=width)


@cache
def _binaries(least: int, most: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=least, max_size=most)


@cache
def _texts(most: int, alphabet: tuple[str, ...] | None) -> st.SearchStrategy[str]:
    return st.text(max_size=most) if alphabet is None else st.text(st.sampled_from(alphabet), max_size=most)


@st.composite
def _drawn(draw: st.DrawFn, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    return function(HypothesisSource(draw), *arguments)


def drawn(function: Callable[Concatenate[Source, P], T], *arguments: P.args, **named: P.kwargs) -> st.SearchStrategy[T]:
    """What ``function`` draws, as a strategy."""
    return _drawn(lambda source, *given: function(source, *given, **named), arguments)
