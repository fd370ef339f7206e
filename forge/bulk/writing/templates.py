"""What stands around rows in a transaction: events that the reference path wrote, with places that are stamped.

An *envelope* is made of the events of one transaction of the table: GTID, BEGIN, TABLE_MAP, a rows event without its
rows, XID.  The events of another transaction differ from them in a few numbers, which stand at the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: The numbers of a transaction, in the order in which arrays of them have them: header times (of its statements one
#: after the other, then of its commit, then of its end), GTID and logical clock, commit time, XID, exec_time of BEGIN
#: and of COMMIT, the connection.
STAMPS: Final = (
    "time_0",
    "time_1",
    "time_2",
    "time_3",
    "gno",
    "last_committed",
    "sequence_number",
    "commit_timestamp",
    "xid",
    "begin_exec_time",
    "commit_exec_time",
    "thread_id",
)
STMT_END: Final = 0x0001


@dataclass(frozen=True, slots=True)
class Stamp:
    """A number of the transaction in an event: ``STAMPS[number]``, ``width`` little-endian bytes at ``offset``."""

    number: int
    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """An event, header included and checksum left out.

    ``length_at``: where the transaction's length (a packed integer) has to be put in; None if the event has none.
    ``positioned``: whether it says where the next event begins (log_pos).
    """

    data: bytes
    stamps: tuple[Stamp, ...] = ()
    length_at: int | None = None
    positioned: bool = True

    def stamped(self, numbers: Sequence[int], length: bytes = b"") -> bytes:
        """The event of a transaction with these numbers."""
        data = bytearray(self.data)
        for stamp in self.stamps:
            value = numbers[stamp.number]
            data[stamp.offset : stamp.offset + stamp.width] = value.to_bytes(stamp.width, "little")
        if self.length_at is not None:
            data[self.length_at : self.length_at] = length
        return bytes(data)


@dataclass(frozen=True, slots=True)
class RowsTemplate:
    """A rows event up to its rows.

    ``before`` and ``after`` are the indexes of the columns in its images, None where it has no such image.  ``alone``:
    every row has an event of its own.  ``compressed_code``: the type of the event if its rows are compressed; 0 if
    they never are.  ``flags_at``: where the rows flags stand.
    """

    head: EventTemplate
    before: tuple[int, ...] | None
    after: tuple[int, ...] | None
    alone: bool
    flags_at: int
    compressed_code: int = 0


@dataclass(frozen=True, slots=True)
class StatementTemplate:
    """A statement's events: its TABLE_MAPs, and the rows event, of which it may have several."""

    maps: tuple[EventTemplate, ...]
    rows: RowsTemplate


@dataclass(frozen=True, slots=True)
class Envelope:
    """One transaction around its rows: ``opening`` (GTID, BEGIN), its statements, ``closing`` (XID or COMMIT)."""

    opening: tuple[EventTemplate, ...]
    statements: tuple[StatementTemplate, ...]
    closing: tuple[EventTemplate, ...]

    @property
    def queries(self) -> int:
        """How many QUERY events stand around the statements."""
        names = (STAMPS[stamp.number] for event in (*self.opening, *self.closing) for stamp in event.stamps)
        return sum(name.endswith("exec_time") for name in names)
