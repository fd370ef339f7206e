"""How far something is."""

from __future__ import annotations

from collections.abc import Callable

#: Told how many parts of all are done.
Progress = Callable[[int, int], None]
