"""Delta debugging: of many parts, as many as possible are taken away while the log still shows what it has to show."""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from hashlib import sha256

from forge.conform.shrink.nodes import Log, Node, has_gtids, well_shaped, write_log
from forge.decode.expected import Expected, expected_of
from forge.errors import ForgeError
from forge.progress import Progress

#: Whether a file still shows it.
Shows = Callable[[bytes], bool]


class OutOfTime(Exception):
    """The time is over; the log so far is the result.  It never leaves this package."""


class Search:
    """The smallest log so far, and what was asked.

    A candidate is asked about only if it is smaller, is a file that breaks no rule of the format if the first one
    breaks none, has no bytes that are no value of their column if the first one has none, and has whole transactions,
    with their GTIDs, if the first one has.
    """

    def __init__(
        self, log: Log, data: bytes, shows: Shows, *, seconds: float | None = None, progress: Progress | None = None
    ) -> None:
        self.log = log
        self.data = data
        self.asked = 0
        self._first = len(data)
        self._shows = shows
        self._progress = progress
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._known: dict[bytes, bool] = {}
        self._size = _size(log, data)
        expected = expected_of(data)
        self._must_be_right = expected.problem is None
        self._must_have_values = not _has_broken_values(expected)
        self.must_be_shaped = well_shaped(log)
        self._must_have_gtids = self.must_be_shaped and has_gtids(log)

    def offer(self, log: Log | None, *, any_size: bool = False) -> bool:
        """Take the log if it is smaller and still shows it.  Raises OutOfTime."""
        if log is None or (self.must_be_shaped and not well_shaped(log)):
            return False
        if self._must_have_gtids and not has_gtids(log):
            return False
        try:
            data = write_log(log)
        except ForgeError:
            return False
        size = _size(log, data)
        if (size >= self._size and not any_size) or not self._still(data):
            return False
        self.log, self.data, self._size = log, data, size
        if self._progress is not None:
            self._progress(max(self._first - len(data), 0), self._first)
        return True

    def offer_bytes(self, data: bytes) -> bool:
        """As :meth:`offer`, of a file whose events are no longer of interest."""
        if len(data) >= len(self.data) or not self._still(data):
            return False
        self.data = data
        return True

    def most(self, count: int, without: Callable[[Set[int]], Log | None]) -> bool:
        """Take away as many of ``count`` parts as can be: all, halves, quarters, and so on to single ones.

        ``without`` makes the log without the parts of these numbers, or None if there is none.  Raises OutOfTime.
        """
        gone: set[int] = set()
        step = count
        while step:
            # From the end: what is before explains what is behind.
            for start in range((count - 1) // step * step, -1, -step):
                more = gone | set(range(start, min(start + step, count)))
                if len(more) > len(gone) and self.offer(without(more)):
                    gone = more
            step = 0 if step == 1 else -(-step // 2)
        return bool(gone)

    def _still(self, data: bytes) -> bool:
        key = sha256(data).digest()
        if key not in self._known:
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise OutOfTime
            self._known[key] = self._is_right(data) and self._ask(data)
        return self._known[key]

    def _ask(self, data: bytes) -> bool:
        self.asked += 1
        return self._shows(data)

    def _is_right(self, data: bytes) -> bool:
        if not (self._must_be_right or self._must_have_values):
            return True
        expected = expected_of(data)
        if self._must_be_right and expected.problem is not None:
            return False
        return not (self._must_have_values and _has_broken_values(expected))


def _has_broken_values(expected: Expected) -> bool:
    images = (image for row in expected.rows for image in (row["before"], row["after"]))
    return any("broken" in (cell.get("value") or ()) for image in images for cell in image or ())


def _size(log: Log, data: bytes) -> tuple[int, int]:
    """Bytes, those inside of payloads counted as they are unpacked; and of these the ones that are not zero."""
    inner = b"".join(_unpacked(node) for node in log.nodes if node.inner is not None)
    return len(data) + len(inner), len(data) - data.count(0) + len(inner) - inner.count(0)


def _unpacked(node: Node) -> bytes:
    try:
        return write_log(Log(node.inner or ()))
    except ForgeError:
        return b""
