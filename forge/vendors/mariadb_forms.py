"""How mariadb-binlog writes user variables, and what it says of events that it cannot read."""

from __future__ import annotations

import re
from dataclasses import replace

from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE
from forge.vendors.shown_events import ShownEvent

_INCOMPATIBLE = {
    39: "Found incompatible MySQL 8.0 PARTIAL_UPDATE_ROWS_EVENT event. You can avoid this event by specifying"
    " 'binlog-row-value-options=\"\"' in the MySQL server",
    40: "Found incompatible MySQL 8.0 TRANSACTION_PAYLOAD_EVENT event. You can avoid this event by specifying"
    " 'binlog_transaction_compression=0' in the MySQL server",
}
#: Bits of FLAGS2, the first version of servers that have the one, and the first releases of 10.x that have the other.
_IF_EXISTS, _EXPLICIT_DEFAULTS = 1 << 28, 1 << 24
_LOGS_IF_EXISTS = [10, 5, 2]
_LOGS_EXPLICIT_DEFAULTS = {5: 17, 6: 9, 7: 5, 8: 4, 9: 2, 10: 1}


def unread(offset: int, raw: bytes, *, torn: bool) -> str:
    """What the program says of an event that it cannot read, of which the file has ``raw``."""
    size = int.from_bytes(raw[9:13], "little")
    if len(raw) < HEADER_SIZE or (torn and size >= HEADER_SIZE and len(raw) >= HEADER_SIZE):
        problem = "Event truncated"
    elif torn:
        problem = "Event invalid"
    else:
        problem = _INCOMPATIBLE.get(raw[4], "Found invalid event in binary log")
    about = f", data_len: {size}, event_type: {raw[4]}" if len(raw) >= HEADER_SIZE else ""
    return (
        f"ERROR: Error in Log_event::read_log_event(): '{problem}'{about}\n"
        f"ERROR: Could not read entry at offset {offset}: Error in log format or read error."
    )


def with_old_checksum(shown: ShownEvent, checksum: int | None) -> ShownEvent:
    """A rewritten event: the program leaves its checksum as it was."""
    if checksum is None or shown.checksum == checksum:
        return shown
    raw = shown.raw[:-CHECKSUM_SIZE] + checksum.to_bytes(CHECKSUM_SIZE, "little")
    return replace(shown, raw=raw, checksum=checksum)


def absent_flags(version: str) -> int:
    """The bits of FLAGS2 that servers of that version do not have."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:3]]
    if "mariadb" not in version.lower() or numbers < _LOGS_IF_EXISTS:
        return _IF_EXISTS | _EXPLICIT_DEFAULTS
    logged = numbers[0] > 10 or numbers[2] >= _LOGS_EXPLICIT_DEFAULTS.get(numbers[1], 0)
    return 0 if logged else _EXPLICIT_DEFAULTS
