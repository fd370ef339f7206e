"""Parts of layouts that wrap others: fields that are derived, and fields that may be absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from construct import Subconstruct

from forge.events.giving import Give, giver_of
from forge.events.taking import Take, taker_of


class Derived(Subconstruct):  # type: ignore[misc]
    """A field that is computed from the others when None, and obeyed when given."""

    def __init__(self, subcon: Any, compute: Callable[[Any], Any]) -> None:
        super().__init__(subcon)
        self.compute = compute
        self.flagbuildnone = True

    def taker(self) -> Take:
        return taker_of(self.subcon)

    def giver(self) -> Give:
        return giver_of(self.subcon)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        return walk.part(self.subcon, name, flags)


class _Optional(Subconstruct):  # type: ignore[misc]
    """A field that may be absent: None."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True

    def giver(self) -> Give:
        inner = giver_of(self.subcon)
        return lambda value, fields: b"" if value is None else inner(value, fields)


class When(_Optional):
    """A field that is there only if ``condition(context)`` holds; None otherwise."""

    def __init__(self, subcon: Any, condition: Callable[[Any], Any]) -> None:
        super().__init__(subcon)
        self.condition = condition

    def taker(self) -> Take:
        inner, condition = taker_of(self.subcon), self.condition
        return lambda data, at, found: inner(data, at, found) if condition(found) else (None, at)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        return walk.part(self.subcon, name, flags) if self.condition(walk.context) else None


class WhileMore(_Optional):
    """A trailing field of later server versions: absent (None) where the event ends before it."""

    def taker(self) -> Take:
        inner = taker_of(self.subcon)
        return lambda data, at, found: inner(data, at, found) if at < len(data) else (None, at)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        return walk.part(self.subcon, name, flags) if walk.has_more else None
