"""The mutants: each a function of a seed and a number, made of a recorded log by the mutators of ``forge fuzz``."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import cache

from forge.binlog.reader import MAGIC, Frame, frames
from forge.binlog.writer import GROUP_BOUNDARIES
from forge.events.format import CHECKSUM_SIZE
from forge.events.format_description import FormatDescription
from forge.events.registry import event_name
from forge.resources import corpora_dir
from forge.testing.draws.source import RandomSource
from forge.testing.mutations import changed_log

#: Bytes of a recording that is changed whole, and of an excerpt: larger ones take longer and show no more.
_LARGEST, _LARGEST_EXCERPT = 3000, 600
#: One mutant of so many is made of a whole recording; the others of excerpts.
_WHOLE = 64
#: Changes of one log at most.
_MOST_CHANGES = 3
#: The version that wrote an excerpt, and the types and sizes of its events.
_Sizes = tuple[bytes, tuple[tuple[int, int], ...]]
_POSITION = struct.Struct("<I")
_POSITION_AT = 13


@cache
def recordings() -> tuple[bytes, ...]:
    """The logs that real servers wrote, the same in every run for one state of the repository."""
    paths = sorted(corpora_dir().joinpath("recordings").rglob("*.[0-9]*"))
    logs = [path.read_bytes() for path in paths if path.is_file()]
    return tuple(dict.fromkeys(log for log in logs if log[:4] == MAGIC))


@cache
def seeds() -> tuple[bytes, ...]:
    """The small ones of them, whole."""
    return tuple(log for log in recordings() if len(log) <= _LARGEST)


@cache
def excerpts() -> tuple[tuple[bytes, ...], ...]:
    """Of each recording its FORMAT_DESCRIPTION with one transaction, or what stands between two, each once; those with
    the same types of events together.

    A reader takes as long for every event, changed or not: where few stand around the changed one, more are changed.
    """
    kinds: dict[tuple[int, ...], dict[_Sizes, bytes]] = {}
    for log in recordings():
        for sizes, excerpt in _excerpts(log):
            if len(excerpt) <= _LARGEST_EXCERPT:
                kinds.setdefault(tuple(code for code, _ in sizes[1]), {}).setdefault(sizes, excerpt)
    return tuple(tuple(several.values()) for several in kinds.values())


def _excerpts(log: bytes) -> Iterator[tuple[_Sizes, bytes]]:
    events = list(frames(log))
    if not events or events[0].type_code != FormatDescription.type_code or _is_encrypted(events):
        return
    first, group = events[0], list[Frame]()
    for frame in [*events[1:], None]:
        if frame is not None and (not group or frame.type_code not in GROUP_BOUNDARIES):
            group.append(frame)
            continue
        if group:
            # Events of other sizes have other columns, values or metadata.
            sizes = tuple((one.type_code, len(one.raw)) for one in group)
            yield (first.raw[19:73], sizes), _file_of([first, *group])
        group = [] if frame is None else [frame]


def _is_encrypted(events: list[Frame]) -> bool:
    return any(event_name(frame.type_code) == "START_ENCRYPTION" for frame in events)


def _file_of(events: list[Frame]) -> bytes:
    """The events one behind the other, with positions and checksums that hold."""
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


def mutant(seed: int, number: int) -> bytes:
    """The log of that number."""
    source = RandomSource(f"tests/fuzz/{seed}/{number}")
    data = source.one_of(source.one_of(excerpts()) if source.integer(0, _WHOLE - 1) else seeds())
    for _ in range(source.integer(1, _MOST_CHANGES)):
        data, _ = changed_log(source, data)
    return data
