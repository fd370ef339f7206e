"""Facts about settings: what servers of the line have where nobody says otherwise."""

from __future__ import annotations

from typing import Literal

import msgspec


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The values of settings, by the names that they have in a scenario's session, where nobody says otherwise.

    A setting that does not exist yet has the value that says what the server does.  :func:`forge.plan.session.on_line`
    gives them to a session.  The defaults of ``sql_mode`` and of character sets are among the facts of QUERY events.
    """

    #: binlog_checksum.
    checksum: Literal["crc32", "none"]
    #: Bytes that rows of one event may have (binlog_row_event_max_size).
    binlog_row_event_max_size: int
    #: TIMESTAMP columns are as their definitions say; else NOT NULL, and have defaults without a word of it.
    explicit_defaults_for_timestamp: bool
