"""A payload that is larger than the window: its event is read twice, for its checksum and for what it holds, so that it
is never in memory as a whole.
"""

from __future__ import annotations

import os
from io import FileIO
from typing import Any

from forge.binlog.payload import LARGEST, Content
from forge.bulk.file_sums import crc32_of_part
from forge.bulk.plan import Bytes
from forge.bulk.reading.payloads import head_of
from forge.bulk.reading.splits import PartOfFile
from forge.events.format import CHECKSUM_SIZE
from forge.events.transaction_payload import TransactionPayload

#: Where the type code is in an event.
_TYPE_OFFSET = 4


class LongPayload:
    """The payload of ``size`` bytes at ``place`` of a file, as servers write it and with the right checksum."""

    def __init__(self, file: FileIO, place: int, size: int, frames: tuple[int, int, int]) -> None:
        self._file = file
        self.place = place
        self.size = size
        self._begin, self._end, self._unpacked = frames

    def content(self) -> Content:
        """What it unpacks to.  Raises OSError, as reading it does."""
        self._file.seek(self.place + self._begin)
        return Content(PartOfFile(self._file, self.place + self._end), self._unpacked, LARGEST)

    def raw(self) -> bytes:
        """The bytes of its event."""
        return os.pread(self._file.fileno(), self.size, self.place)

    def pass_by(self) -> int:
        """Go on behind it: where that is."""
        return self._file.seek(self.place + self.size)


def long_payload(file: Any, buffer: Bytes, place: int, size: int, tail: int) -> LongPayload | None:
    """The payload that begins in the buffer and at ``place`` of the file.

    None for any other event, for a payload that is not as servers write it, and for what is no plain file: as a whole,
    such a one is looked at by those who know what is wrong with it.
    """
    if not isinstance(file, FileIO) or buffer[_TYPE_OFFSET] != TransactionPayload.type_code or size > LARGEST:
        return None
    begin, end, unpacked = (int(number) for number in head_of(buffer, size, tail))
    if not begin or unpacked > LARGEST or (tail and not _sum_holds(file, place, size)):
        return None
    return LongPayload(file, place, size, (begin, end, unpacked))


def _sum_holds(file: FileIO, place: int, size: int) -> bool:
    """Whether the last bytes of the event are the CRC32 of those before."""
    end = place + size - CHECKSUM_SIZE
    try:
        known = crc32_of_part(file.fileno(), place, end)
    except OSError:  # The file ends inside the event: those who read it whole say so.
        return False
    return os.pread(file.fileno(), CHECKSUM_SIZE, end) == known.to_bytes(CHECKSUM_SIZE, "little")
