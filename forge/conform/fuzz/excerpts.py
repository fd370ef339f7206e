"""Excerpts of a log: its FORMAT_DESCRIPTION with one transaction, or with what stands between two."""

from __future__ import annotations

from collections.abc import Iterator

from forge.binlog.reader import PlacedEvent, read_events
from forge.binlog.writer import GROUP_BOUNDARIES, write_binlog
from forge.events.format_description import FormatDescription
from forge.events.start_encryption import StartEncryption

#: The version that wrote an excerpt, and the types and sizes of its events.
Sizes = tuple[bytes, tuple[tuple[int, int], ...]]


def excerpts_of(log: bytes) -> Iterator[tuple[Sizes, bytes]]:
    """The excerpts of a log, with positions and checksums that hold; none of an encrypted one.

    Events of other sizes have other columns, values or metadata.  Raises FormatError where an event does not fit.
    """
    events = list(read_events(log, strict=False))
    bodies = [placed.event.body for placed in events]
    if not isinstance(next(iter(bodies), None), FormatDescription) or any(
        isinstance(b, StartEncryption) for b in bodies
    ):
        return
    first, group = events[0], list[PlacedEvent]()
    for placed in [*events[1:], None]:
        if placed is not None and (not group or placed.event.type_code not in GROUP_BOUNDARIES):
            group.append(placed)
            continue
        if group:
            sizes = tuple((one.event.type_code, len(one.raw)) for one in group)
            moved = [one.event.replace(log_pos=0 if one.event.log_pos == 0 else None) for one in (first, *group)]
            yield (first.raw[19:73], sizes), write_binlog(moved)
        group = [] if placed is None else [placed]
