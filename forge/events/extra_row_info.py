"""The chunks of a row event's extra row info (rows of version 2): those of NDB, then the partitions of the rows.

A chunk begins with its kind, one byte.  That of NDB follows with its length, itself and the format included, the format
(0 is NDB's own), flags, and what the flags name (ndb_binlog_extra_row_info.cc); that of partitions with the partition,
for an UPDATE the new one and the old one (libs/mysql/binlog/event/rows_event.h).
"""

from __future__ import annotations

import struct

NDB = 0
PARTITION = 1
#: Flags of NDB's own format: a transaction id (u64) and conflict flags (u16) follow.
TRANSACTION_ID = 0x0001
CONFLICT_FLAGS = 0x0002
_NDB_HEAD = struct.Struct("<BBBH")


def ndb_chunk(transaction_id: int) -> bytes:
    """What ``ndb_log_transaction_id`` adds to row events."""
    payload = transaction_id.to_bytes(8, "little")
    return _NDB_HEAD.pack(NDB, _NDB_HEAD.size - 1 + len(payload), 0, TRANSACTION_ID) + payload


def partition_chunk(partitions: tuple[int, ...]) -> bytes:
    """The partition of the rows; of an UPDATE the new one, then the old one."""
    return bytes((PARTITION,)) + b"".join(number.to_bytes(2, "little") for number in partitions)


def chunks(extra: bytes) -> tuple[tuple[int, str], ...]:
    """Where each chunk ends, and what it says in words; the last takes what cannot be read."""
    found: list[tuple[int, str]] = []
    at = 0
    while at < len(extra):
        at, words = _ndb(extra, at) if extra[at] == NDB else _partitions(extra, at)
        found.append((at, words))
    return tuple(found)


def _ndb(extra: bytes, at: int) -> tuple[int, str]:
    end = at + 1 + (extra[at + 1] if at + 1 < len(extra) else 0)
    if at + _NDB_HEAD.size > end or end > len(extra):
        return len(extra), "row info of NDB that cannot be read"
    _, _, form, flags = _NDB_HEAD.unpack_from(extra, at)
    rest = extra[at + _NDB_HEAD.size : end]
    if form != 0:
        return end, f"row info of NDB's format {form}"
    parts, place = [], 0
    for bit, size, words in ((TRANSACTION_ID, 8, "transaction"), (CONFLICT_FLAGS, 2, "conflict flags")):
        if flags & bit and place + size <= len(rest):
            parts.append(f"{words} {int.from_bytes(rest[place : place + size], 'little')}")
            place += size
    return end, f"row info of NDB: {', '.join(parts) or f'flags {flags}'}"


def _partitions(extra: bytes, at: int) -> tuple[int, str]:
    rest = extra[at + 1 :]
    if extra[at] != PARTITION or len(rest) not in (2, 4):
        return len(extra), f"row info of kind {extra[at]}"
    numbers = [int.from_bytes(rest[place : place + 2], "little") for place in range(0, len(rest), 2)]
    return len(extra), f"row info of partitions: {', from '.join(map(str, numbers))}"
