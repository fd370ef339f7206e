"""Facts about TABLE_MAP: its flags and its optional metadata."""

from __future__ import annotations

import msgspec


class TableMaps(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about TABLE_MAP: its flags and its optional metadata."""

    #: Types of optional metadata in binlog_row_metadata = MINIMAL, in writing order.
    minimal_metadata: tuple[str, ...]
    #: The same in FULL.
    full_metadata: tuple[str, ...]
    #: binlog_row_metadata may be NO_LOG.
    metadata_can_be_off: bool
    #: TABLE_MAP says whether the table has triggers (TM_BIT_HAS_TRIGGERS_F).
    flags_triggers: bool
