"""The constant texts that the kernel prints."""

from __future__ import annotations

from typing import Final

#: The constant texts, at the beginning of TEXTS.
_FIXED: list[bytes] = []


def _text(text: str) -> tuple[int, int]:
    """Where a constant text begins, and its bytes."""
    begin = sum(map(len, _FIXED))
    _FIXED.append(text.encode())
    return begin, len(_FIXED[-1])


_DELIMITER: Final = "/*!*/;\n"
AT_PLACE, SERVER_ID, END_POS, CRC = _text("# at "), _text(" server id "), _text("  end_log_pos "), _text(" CRC32 0x")
TABLE_ID, WITH_FLAGS, BLOCK_BEGIN = _text(": table id "), _text(" flags:"), _text("\nBINLOG '\n")
BLOCK_END, XID, COMMIT = _text(f"'{_DELIMITER}"), _text("\tXid = "), _text(f"\nCOMMIT{_DELIMITER}")
THREAD, EXEC_TIME, SET_TIME = _text("\tQuery\tthread_id="), _text("\texec_time="), _text("SET TIMESTAMP=")
LINE_END, STATEMENT_END = _text("\n"), _text(_DELIMITER)
GTID, ANONYMOUS = _text("\tGTID\tlast_committed="), _text("\tAnonymous_GTID\tlast_committed=")
SEQUENCE, BY_ROW, NOT_BY_ROW = _text("\tsequence_number="), _text("\trbr_only=yes"), _text("\trbr_only=no")
ORIGINAL, IMMEDIATE = _text("\toriginal_committed_timestamp="), _text("\timmediate_commit_timestamp=")
LENGTH, READ_COMMITTED = (
    _text("\ttransaction_length="),
    _text(f"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/{_DELIMITER}"),
)
ORIGINAL_TIME, IMMEDIATE_TIME = _text("# original_commit_timestamp="), _text("# immediate_commit_timestamp=")
SET_ORIGINAL, SET_END = _text("/*!80001 SET @@session.original_commit_timestamp="), _text(f"*/{_DELIMITER}")
SET_ORIGINAL_VERSION = _text("/*!80014 SET @@session.original_server_version=")
SET_OWN_VERSION = _text("/*!80014 SET @@session.immediate_server_version=")
SET_GTID, SET_ANONYMOUS = (
    _text("SET @@SESSION.GTID_NEXT= '"),
    _text(f"SET @@SESSION.GTID_NEXT= 'ANONYMOUS'{_DELIMITER}"),
)
FLAG_NAMES: Final = [
    _text(f" {name}")
    for name in (
        "STMT_END_F", "NO_FOREIGN_KEY_CHECKS_F", "RELAXED_UNIQUE_CHECKS_F", "COMPLETE_ROWS_F", "USE_SQL_FOREIGN_KEY_F",
    )
]  # fmt: skip
ROW_EVENTS: Final = tuple(_text(f"\t{name}_rows") for name in ("Write", "Update", "Delete"))
MARIADB_GTID, COMMIT_ID, DDL, TRANSACTIONAL, WAITED, THREAD_ID = (
    _text("\tGTID "), _text(" cid="), _text(" ddl"), _text(" trans"), _text(" waited"), _text(" thread_id="),
)  # fmt: skip
SET_NUMBER = _text("/*M!100001 SET @@session.gtid_seq_no=")
START, ANNOTATION, ANNOTATION_LINE = (
    _text(f"START TRANSACTION\n{_DELIMITER}"), _text("\tAnnotate_rows:\n#Q> "), _text("\n#Q> "),
)  # fmt: skip
ROW_COUNT = _text("# Number of rows: ")
#: The flags of row events from this one on have no name.
FLAGS_END: Final = 1 << len(FLAG_NAMES)


def fixed_texts() -> bytes:
    """What TEXTS begins with."""
    return b"".join(_FIXED)
