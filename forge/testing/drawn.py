"""Hypothesis as a source of chances: what ``forge.testing.draws`` draws, as strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        return self._draw(st.integers(least, most))

    def one_of(self, items: Sequence[T]) -> T:
        return self._draw(st.sampled_from(items))

    def real(self, width: Width = 64, least: float | None = None) -> float:
        return self._draw(st.floats(min_value=least, allow_nan=False, allow_infinity=False, width=width))

    def binary(self, most: int, least: int = 0) -> bytes:
        return self._draw(st.binary(min_size=least, max_size=most))

    def text(self, most: int, alphabet: Sequence[str] | None = None) -> str:
        if alphabet is None:
            return self._draw(st.text(max_size=most))
        return self._draw(st.text(st.sampled_from(alphabet), max_size=most))

    def several(self, draw: Callable[[Source], T], least: int, most: int) -> list[T]:
        # A list that Hypothesis makes is one that it can make shorter anywhere.
        return self._draw(st.lists(_drawn(draw, ()), min_size=least, max_size=most))


@st.composite
def _drawn(draw: st.DrawFn, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    return function(HypothesisSource(draw), *arguments)


def drawn(function: Callable[Concatenate[Source, P], T], *arguments: P.args, **named: P.kwargs) -> st.SearchStrategy[T]:
    """What ``function`` draws, as a strategy."""
    return _drawn(lambda source, *given: function(source, *given, **named), arguments)
