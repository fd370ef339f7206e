"""Logs that are damaged where rows depend on it; checksums are made right again, so that they are believed."""

from __future__ import annotations

import zlib
from random import Random

#: TABLE_MAP, row events, GTIDs and payloads.
_TYPES = (19, 23, 24, 25, 30, 31, 32, 33, 39, 40, 162, 166, 167, 168)
_HEADER = 19


def damaged(log: bytes, random: Random) -> bytes | None:
    """The log cut, or with some bytes of one event changed; None if it has no such event."""
    if random.random() < 0.1:
        return log[: random.randrange(4, len(log))]
    events = [(begin, size) for begin, size in events_of(log) if log[begin + 4] in _TYPES and size > _HEADER + 4]
    if not events:
        return None
    begin, size = random.choice(events)
    changed = bytearray(log)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        inside = random.random() < 0.95
        at = random.randrange(begin + _HEADER, begin + size - 4) if inside else random.randrange(begin, begin + _HEADER)
        flipped = changed[at] ^ 1 << random.randrange(8)
        changed[at] = random.choice((0, 1, 127, 128, 254, 255, flipped, random.randrange(256)))
    if random.random() < 0.97:
        changed[begin : begin + size] = with_checksum(bytes(changed[begin : begin + size]))
    return bytes(changed)


def with_checksum(event: bytes) -> bytes:
    """The event with the checksum that its bytes have."""
    return event[:-4] + zlib.crc32(event[:-4]).to_bytes(4, "little")


def events_of(log: bytes) -> list[tuple[int, int]]:
    """Where each event begins, and its size."""
    found, at = [], 4
    while at + _HEADER <= len(log):
        size = int.from_bytes(log[at + 9 : at + 13], "little")
        if size < _HEADER or at + size > len(log):
            break
        found.append((at, size))
        at += size
    return found
