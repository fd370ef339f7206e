"""Excerpts of a log: its FORMAT_DESCRIPTION with one transaction, or with what stands between two."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from forge.binlog.reader import MAGIC, Frame, frames
from forge.binlog.writer import GROUP_BOUNDARIES
from forge.events.format import CHECKSUM_SIZE
from forge.events.format_description import FormatDescription
from forge.events.registry import event_name

#: The version that wrote an excerpt, and the types and sizes of its events.
Sizes = tuple[bytes, tuple[tuple[int, int], ...]]
_POSITION = struct.Struct("<I")
_POSITION_AT = 13


def excerpts_of(log: bytes) -> Iterator[tuple[Sizes, bytes]]:
    """The excerpts of a log, with positions and checksums that hold; none of an encrypted one.

    Events of other sizes have other columns, values or metadata.  Raises FormatError where an event does not fit.
    """
    events = list(frames(log))
    if not events or events[0].type_code != FormatDescription.type_code or _is_encrypted(events):
        return
    first, group = events[0], list[Frame]()
    for frame in [*events[1:], None]:
        if frame is not None and (not group or frame.type_code not in GROUP_BOUNDARIES):
            group.append(frame)
            continue
        if group:
            sizes = tuple((one.type_code, len(one.raw)) for one in group)
            yield (first.raw[19:73], sizes), _file_of([first, *group])
        group = [] if frame is None else [frame]


def _is_encrypted(events: list[Frame]) -> bool:
    return any(event_name(frame.type_code) == "START_ENCRYPTION" for frame in events)


def _file_of(events: list[Frame]) -> bytes:
    checksums = events[0].raw[-CHECKSUM_SIZE:] == _checksum(events[0].raw)
    parts, end = [MAGIC], len(MAGIC)
    for frame in events:
        raw = frame.raw
        end += len(raw)
        if any(raw[_POSITION_AT : _POSITION_AT + _POSITION.size]):
            raw = raw[:_POSITION_AT] + _POSITION.pack(end) + raw[_POSITION_AT + _POSITION.size :]
            raw = raw[:-CHECKSUM_SIZE] + _checksum(raw) if checksums else raw
        parts.append(raw)
    return b"".join(parts)


def _checksum(raw: bytes) -> bytes:
    return _POSITION.pack(zlib.crc32(raw[:-CHECKSUM_SIZE]))
