"""What the most recent FORMAT_DESCRIPTION, or START_V3 of older servers, says of the events after it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

HEADER_SIZE = 19
#: The header of 3.23: time, type, server, size.
OLD_HEADER_SIZE = 13
CHECKSUM_SIZE = 4

#: Types whose headers are the first 19 bytes whatever header FORMAT_DESCRIPTION announces: itself, and ROTATE.
SHORT_HEADERED = frozenset((4, 15))
#: Bytes of the fixed parts that the layouts of this room read.  A longer one has more behind them.
POST_HEADERS: dict[int, int] = {
    2: 13, 9: 4, 10: 4, 11: 4, 17: 4, 18: 26, 19: 8, 23: 8, 24: 8, 25: 8, 26: 2, 30: 10, 31: 10, 32: 10, 33: 42, 34: 42,
    36: 18, 37: 52, 39: 10, 161: 4, 162: 19, 163: 4, 165: 13, 166: 8, 167: 8, 168: 8, 169: 10, 170: 10, 171: 10,
}  # fmt: skip
#: Post-header lengths of servers that write no FORMAT_DESCRIPTION (Format_description_log_event for versions 1 and 3).
_OLD_LENGTHS = {
    1: bytes((56, 11, 0, 0, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0)),
    3: bytes((56, 11, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0)),
}
#: The numbers that trees before 5.1.6 gave to seven types, and those that the types have since.
_EARLY_NUMBERS = {16: 19, 17: 20, 18: 21, 19: 22, 20: 16, 21: 17, 22: 18}
_WRITTEN_EARLY = {later: early for early, later in _EARLY_NUMBERS.items()}
#: Versions of these trees: 5.1.1-a_drop5p3 and its like (Format_description_log_event of 5.1).
_EARLY_TREES = re.compile(r"5\.1\.[1-5]-a_drop5|5\.1\.4-a_drop6|5\.2\.[0-2]-a_drop6")
#: Types in the list of FORMAT_DESCRIPTION before 5.1.18, whose row events are those of PRE_GA_WRITE_ROWS and so on.
_PRE_GA_TYPES = 22


@dataclass(frozen=True, slots=True)
class FormatContext:
    """The framing in force: header length, post-header lengths by type - 1, and whether events carry a CRC32.

    ``binlog_version`` is 4 since 5.0, 3 in 4.x, 1 in 3.23.  ``early_numbers``: seven types have other numbers in the
    file than since 5.1.6; everywhere else in this project a type has the number that it has since.
    """

    server_version: str = ""
    post_header_lengths: bytes = b""
    checksum: bool = False
    binlog_version: int = 4
    header_length: int = HEADER_SIZE
    early_numbers: bool = False
    #: Whether headers, numbers and fixed parts are those that the layouts read: true of nearly all logs.
    plain: bool = field(init=False, repr=False, compare=False, default=False)
    #: 6 bytes; 4 in the 5.1 trees whose TABLE_MAP post-header is 6 bytes (log_event.h of 5.1.4 changed it).
    table_id_size: int = field(init=False, repr=False, compare=False, default=6)

    def __post_init__(self) -> None:
        same = self.binlog_version == 4 and self.header_length == HEADER_SIZE and not self.early_numbers
        object.__setattr__(self, "plain", same and bool(self.post_header_lengths) and self._has_known_lengths())
        object.__setattr__(self, "table_id_size", 4 if self.post_header_length(19) == 6 else 6)

    def _has_known_lengths(self) -> bool:
        return all(known >= self.post_header_length(code) for code, known in POST_HEADERS.items())

    @property
    def mariadb(self) -> bool:
        return "MariaDB" in self.server_version

    @property
    def usual(self) -> bool:
        """Whether events are framed as all servers since 5.1.18 do it; what reads logs in bulk takes no others."""
        if self.binlog_version != 4 or self.header_length != HEADER_SIZE or self.pre_ga:
            return False
        return self.query_has_variables and (self.plain or self._has_known_lengths())

    @property
    def pre_ga(self) -> bool:
        """Whether the file is of 5.1 before 5.1.18: its TABLE_MAP may say nothing of columns but their types."""
        return 18 < len(self.post_header_lengths) <= _PRE_GA_TYPES

    def header_size(self, type_code: int) -> int:
        """Bytes of the header of events of a type."""
        return HEADER_SIZE if type_code in SHORT_HEADERED and self.binlog_version == 4 else self.header_length

    def log_pos(self, offset: int, size: int) -> int:
        """What the header of an event there has as its position: where it ends, in 4.x where it starts; mod 2^32."""
        return (offset + (0 if self.binlog_version < 4 else size)) % (1 << 32)

    def type_of(self, number: int) -> int:
        """The type whose number in the file is that."""
        return _EARLY_NUMBERS.get(number, number) if self.early_numbers else number

    def number_of(self, type_code: int) -> int:
        """The inverse of :meth:`type_of`."""
        return _WRITTEN_EARLY.get(type_code, type_code) if self.early_numbers else type_code

    def lists(self, type_code: int) -> bool:
        """Whether FORMAT_DESCRIPTION has a length for events of a type; so it is where there is none."""
        return not self.post_header_lengths or type_code <= len(self.post_header_lengths)

    def is_placeholder(self, type_code: int) -> bool:
        """Whether events of a type (not 0) that had a post-header have none any more: it is no longer in use."""
        lengths, number = self.post_header_lengths, self.number_of(type_code)
        return number <= len(lengths) and lengths[number - 1] == 0

    def post_header_length(self, type_code: int) -> int:
        """Bytes of the fixed part of events of a type; 0 where FORMAT_DESCRIPTION does not say so."""
        lengths, number = self.post_header_lengths, self.number_of(type_code)
        return lengths[number - 1] if 0 < number <= len(lengths) else 0

    def more_post_header(self, type_code: int) -> tuple[int, int]:
        """Where in the body more of the fixed part lies than the layout reads, as (start, end); (0, 0) for nothing."""
        known = POST_HEADERS.get(type_code, 0)
        announced = self.post_header_length(type_code) if known else 0
        return (known, announced) if announced > known else (0, 0)

    @property
    def query_has_variables(self) -> bool:
        """Whether QUERY has status variables: since 5.0 (its post-header is 11 bytes without their length)."""
        return not 0 < self.post_header_length(2) < POST_HEADERS[2]


@lru_cache(maxsize=64)
def described_format(
    server_version: str, post_header_lengths: bytes, *, checksum: bool, header_length: int
) -> FormatContext:
    """What holds behind a FORMAT_DESCRIPTION of these fields.  Headers are never shorter than 19 bytes."""
    return FormatContext(
        server_version,
        post_header_lengths,
        checksum,
        header_length=max(header_length, HEADER_SIZE),
        early_numbers=_EARLY_TREES.match(server_version) is not None,
    )


@lru_cache(maxsize=64)
def checksummed(format: FormatContext, checksum: bool) -> FormatContext:
    """The framing with or without checksums."""
    return replace(format, checksum=checksum)


def old_format(server_version: str, binlog_version: int) -> FormatContext:
    """What holds behind a START_V3 of these fields: version 1 for 3.23, any other for 4.x."""
    version = 1 if binlog_version == 1 else 3
    size = OLD_HEADER_SIZE if version == 1 else HEADER_SIZE
    return FormatContext(server_version, _OLD_LENGTHS[version], binlog_version=version, header_length=size)


def version_tuple(server_version: str) -> tuple[int, int, int]:
    """(major, minor, patch) as libs/mysql/binlog/event/binlog_event.cpp reads it; (0, 0, 0) if it is not so."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", server_version)
    numbers = tuple(int(part) for part in match.groups()) if match else (0, 0, 0)
    return numbers if all(number < 256 for number in numbers) else (0, 0, 0)  # type: ignore[return-value]


def writes_checksums(server_version: str) -> bool:
    """Whether servers of that version end FORMAT_DESCRIPTION with an algorithm byte and a CRC."""
    floor = (5, 3, 0) if "MariaDB" in server_version else (5, 6, 1)
    return version_tuple(server_version) >= floor
