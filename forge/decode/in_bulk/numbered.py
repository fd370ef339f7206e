"""What a line says of events whose bodies all differ, by their numbers: GTID and XID.

The first of each form is read by the reference path, which refuses what is wrong.  The others have the same layout.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from uuid import UUID

from forge.events.gtid import Gtid
from forge.events.xid import Xid

#: Bytes of a GTID up to the commit timestamp, of that one, and where the UUID and the number are.
_CLOCK_END, _TIME, _UUID, _NUMBER = 42, 7, 1, 17
#: Bytes of a number whose first one is that, and the least that is written so (forge.events.packed).
_PACKED: Final = {250: (1, 0), 252: (3, 251), 253: (4, 1 << 16), 254: (9, 1 << 24)}
#: Types whose bodies are told so.
NUMBERED: Final = (Xid.type_code, Gtid.type_code)


def form_of(code: int, body: bytes) -> tuple[int, ...] | None:
    """What tells how a body of a type in NUMBERED is laid out; None for one that the reference path reads each time."""
    size = len(body)
    if code == Xid.type_code:
        return code, size
    if size <= _CLOCK_END:
        return code, size
    at = _CLOCK_END + _TIME
    if size < at:
        return None
    # A top bit says that the original follows.
    at += _TIME * (body[at - 1] >> 7)
    if size <= at:
        return code, size, at
    first = max(body[at], 250)
    width, least = _PACKED.get(first, (1, 1))
    if int.from_bytes(body[at + 1 : at + width], "little") < least:
        return None
    version = at + width + 3
    return code, size, at, first, body[version] >> 7 if version < size else 0


def said_of(code: int, body: bytes) -> str:
    """What a line says of a body of a form that was met."""
    if code == Xid.type_code:
        return f"COMMIT, xid {int.from_bytes(body[:8], 'little')}"
    number = int.from_bytes(body[_NUMBER : _NUMBER + 8], "little", signed=True)
    return f"{_uuid(body[_UUID:_NUMBER])}:{number}"


@lru_cache(maxsize=256)
def _uuid(raw: bytes) -> str:
    return str(UUID(bytes=raw))
