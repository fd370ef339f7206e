"""Memory that is used again, by the thread that used it last: its core's caches may still hold it."""

from __future__ import annotations

from threading import get_ident
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Reused(Generic[_T]):
    """What nobody uses, by the thread that gave it back."""

    def __init__(self) -> None:
        self._free: dict[int, list[_T]] = {}

    def add(self, thing: _T) -> None:
        """It is not in use any more."""
        self._free.setdefault(get_ident(), []).append(thing)

    def take(self) -> _T | None:
        """One of this thread, or else of another; None if there is none."""
        own = self._free.get(get_ident())
        if own:
            return own.pop()
        return next((others.pop() for others in self._free.values() if others), None)

    def clear(self) -> None:
        self._free.clear()
