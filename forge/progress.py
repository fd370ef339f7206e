"""Progress of a job."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the number of finished parts and of all parts.
Progress = Callable[[int, int], None]
