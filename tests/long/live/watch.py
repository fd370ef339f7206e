"""How long a process was at work: while it stands still, because someone has paused it, no time passes."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

#: Seconds between two looks at the clock, and what a gap counts for at most: a busy machine makes some a little longer.
_TICK = 0.5
_LONGEST = 5.0


class Watch:
    """Counts seconds for the time of a ``with`` block."""

    def __init__(self, tick: float = _TICK, longest: float = _LONGEST) -> None:
        self._tick, self._longest = tick, longest
        self._seconds = 0.0
        self._seen = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticks = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._seen = time.monotonic()
        self._ticks.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._ticks.join()

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        with self._lock:
            now = time.monotonic()
            self._seconds += min(now - self._seen, self._longest)
            self._seen = now
            return self._seconds

    def _run(self) -> None:
        while not self._ended.wait(self._tick):
            _ = self.seconds
