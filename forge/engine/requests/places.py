"""Where a request stands, for the errors about it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class RequestPlace(Protocol):
    """The place of a request in what a person edits: an entry of a file, a line of a script."""

    @property
    def line(self) -> int | None:
        """The line; None if there is none."""

    def at(self, *steps: str | int) -> AbstractContextManager[None]:
        """Errors of the block belong to the part of the request that the steps lead to, unless they know better."""

    def sql(self, text: str, *steps: str | int) -> AbstractContextManager[None]:
        """As :meth:`at`, for the SQL ``text`` of that part: an error's offset in it becomes a line."""

    def inside(self, *steps: str | int) -> RequestPlace:
        """The place of a part of the request."""
