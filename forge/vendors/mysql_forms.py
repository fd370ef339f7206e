"""How mysqlbinlog writes GTIDs, the flags of row events, partitions and user variables."""

from __future__ import annotations

import struct
import time

from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged

_ROW_FLAGS = (
    (1, b" STMT_END_F"), (2, b" NO_FOREIGN_KEY_CHECKS_F"), (4, b" RELAXED_UNIQUE_CHECKS_F"),
    (8, b" COMPLETE_ROWS_F"), (16, b" USE_SQL_FOREIGN_KEY_F"),
)  # fmt: skip
_NAMED_FLAGS = 31
#: The version of the server where an event has times of the commit and no version.
UNKNOWN_VERSION = 999999


def row_flag_names(flags: int) -> bytes:
    """The flags of a row event, if it has any."""
    if not flags:
        return b""
    unknown = flags & ~_NAMED_FLAGS
    names = b"".join(text for bit, text in _ROW_FLAGS if flags & bit)
    return b" flags:" + names + (b" UNKNOWN_FLAG(0x%X)" % unknown if unknown else b"")


def gtid_text(body: AnonymousGtid | GtidTagged) -> bytes:
    """The GTID as ``GTID_NEXT`` has it."""
    if isinstance(body, AnonymousGtid):
        return (body.gtid() or "ANONYMOUS").encode()
    return ":".join(str(part) for part in (body.uuid, body.tag, body.gno) if part is not None and part != "").encode()


def times_and_versions(body: AnonymousGtid | GtidTagged) -> tuple[int, int, int, int]:
    """The immediate and the original time of the commit, then the versions of the servers."""
    if isinstance(body, GtidTagged):
        times = (body.commit_timestamp or 0, body.original_commit_timestamp)
        versions = (body.server_version or 0, body.original_server_version)
    else:
        times = body.commit_timestamp or (0, None)
        versions = body.server_version or (UNKNOWN_VERSION if body.commit_timestamp else 0, None)
    time_at, version = times[0], versions[0]
    original_time, original_version = times[1], versions[1]
    return (
        time_at, time_at if original_time is None else original_time,
        version, version if original_version is None else original_version,
    )  # fmt: skip


def moment_in_full(microseconds: int) -> bytes:
    at = time.localtime(microseconds // 10**6)
    return time.strftime(f"%Y-%m-%d %H:%M:%S.{microseconds % 10**6:06d} %Z", at).encode()


def partitions_line(extra: bytes) -> bytes:
    """What the extra row info says of partitions."""
    if extra[:1] != b"\x01" or len(extra) not in (3, 5):
        return b""
    numbers = struct.unpack(f"<{len(extra) // 2}H", extra[1:])
    head = b"### Extra row info for partitioning: "
    if len(numbers) == 1:
        return head + b"partition: %d\n" % numbers
    return head + b"source_partition: %d target_partition: %d\n" % (numbers[1], numbers[0])
