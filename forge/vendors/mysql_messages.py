"""What mysqlbinlog says on standard error."""

from __future__ import annotations

from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC
from forge.events.format import HEADER_SIZE

#: Bytes that an event may have.
_LARGEST = 1 << 30
UNFINISHED = (
    "This might be because the last statement was not fully written to the log, or because you are using a"
    " --stop-position or --stop-datetime that refers to an event in the middle of a statement. The event(s) from the"
    " partial statement have not been written to output."
)
WITHOUT_QUERY = (
    "The range of printed events ends with an Intvar_event, Rand_event or User_var_event with no matching"
    " Query_log_event."
)
WITHOUT_END = (
    "The range of printed events ends with a row event or a table map event that does not have the STMT_END_F flag set."
)
OF_A_DATABASE = (
    "The option --database has been used. It may filter parts of transactions, but will include the GTIDs in any case."
    " If you want to exclude or include transactions, you should use the options --exclude-gtids or --include-gtids,"
    " respectively, instead."
)
UNREAD_INNER = "ERROR: Error decoding Payload_log_event: Found invalid event in binary log."


def bad_beginning(data: bytes) -> str:
    """Of a file that does not begin as a log does."""
    if data == ENCRYPTED_MAGIC:
        return "ERROR: Reading encrypted log files directly is not supported."
    if len(data) < len(MAGIC):
        return "ERROR: I/O error reading the header from the binary log"
    return "ERROR: Binlog has bad magic number;  It's not a binary log file that can be used by this version of MySQL"


def unread(offset: int, raw: bytes, *, torn: bool) -> str:
    """Of an event that it cannot read, of which the file has ``raw``."""
    size = int.from_bytes(raw[9:13], "little")
    if not torn:
        reason = "Found invalid event in binary log"
    elif len(raw) >= HEADER_SIZE and size < HEADER_SIZE:
        reason = "corrupted data in log event"
    elif len(raw) >= HEADER_SIZE and size > _LARGEST:
        reason = "Event too big"
    else:
        reason = "binlog truncated in the middle of event; consider out of disk space"
    return f"ERROR: Could not read entry at offset {offset}: Error in log format or read error 1.\nERROR: {reason}"
