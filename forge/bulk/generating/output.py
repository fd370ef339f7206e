"""Where the bytes of a part go."""

from __future__ import annotations

from typing import Protocol


class Output(Protocol):
    """Takes bytes that follow each other."""

    def write(self, data: bytes | memoryview) -> None:
        """Raises OSError, which names the file, if there is no room."""
