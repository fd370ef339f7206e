"""What a crash leaves of a file: fewer events, a piece of one, zeros that the file system put behind it."""

from __future__ import annotations

from forge.binlog.reader import MAGIC, frames
from forge.errors import ScenarioError


def keep_events(data: bytes, events: int | None, more: int = 0) -> bytes:
    """The file with its first ``events`` whole events (all if None; negative: without so many at the end) and ``more``
    bytes of the next.  Raises ScenarioError if it does not have so many.
    """
    ends = [len(MAGIC), *(frame.offset + len(frame.raw) for frame in frames(data))]
    count = len(ends) - 1
    kept = count if events is None else events if events >= 0 else count + events
    if not 0 <= kept <= count:
        raise ScenarioError(
            f"torn.events is {events}, but the file has {count} events", expected=f"{-count} to {count}"
        )
    behind = (ends[kept + 1] if kept < count else len(data)) - ends[kept]
    if not 0 <= more <= behind:
        raise ScenarioError(f"torn.bytes is {more}, but the next event has {behind} bytes", expected=f"0 to {behind}")
    return data[: ends[kept] + more]
