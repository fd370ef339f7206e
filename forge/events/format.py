"""What the most recent FORMAT_DESCRIPTION says of the events after it."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADER_SIZE = 19
CHECKSUM_SIZE = 4


@dataclass(frozen=True, slots=True)
class FormatContext:
    """The framing in force: header length, post-header lengths by type - 1, and whether events carry a CRC32."""

    server_version: str = ""
    post_header_lengths: bytes = b""
    checksum: bool = False

    @property
    def mariadb(self) -> bool:
        return "MariaDB" in self.server_version

    def is_placeholder(self, type_code: int) -> bool:
        """Whether events of a type that had a post-header have none any more: the type is no longer in use."""
        lengths = self.post_header_lengths
        return len(lengths) >= type_code and lengths[type_code - 1] == 0

    def post_header_length(self, type_code: int) -> int:
        """Bytes of the fixed part of events of a type; 0 where FORMAT_DESCRIPTION does not say so."""
        lengths = self.post_header_lengths
        return lengths[type_code - 1] if 0 < type_code <= len(lengths) else 0

    @property
    def table_id_size(self) -> int:
        """6 bytes; 4 in the 5.1 trees whose TABLE_MAP post-header is 6 bytes (log_event.h of 5.1.4 changed it)."""
        lengths = self.post_header_lengths
        return 4 if len(lengths) > 18 and lengths[18] == 6 else 6


def version_tuple(server_version: str) -> tuple[int, int, int]:
    """(major, minor, patch) as libs/mysql/binlog/event/binlog_event.cpp reads it; (0, 0, 0) if it is not so."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", server_version)
    numbers = tuple(int(part) for part in match.groups()) if match else (0, 0, 0)
    return numbers if all(number < 256 for number in numbers) else (0, 0, 0)  # type: ignore[return-value]


def writes_checksums(server_version: str) -> bool:
    """Whether servers of that version end FORMAT_DESCRIPTION with an algorithm byte and a CRC."""
    floor = (5, 3, 0) if "MariaDB" in server_version else (5, 6, 1)
    return version_tuple(server_version) >= floor
