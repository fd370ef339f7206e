"""START_V3 (1): the first event of every file of 3.23 (version 1) and 4.x (version 3), in FORMAT_DESCRIPTION's place.

The format follows from the version alone (Start_log_event_v3 of 4.1 and 5.0; read in files of 4.1.24 and 4.1.26).
Since 8.0.2 the number means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Bytes, Int16ul, Int32ul, Struct

from forge.events.format import HEADER_SIZE, FormatContext, old_format
from forge.events.format_description import PaddedVersion
from forge.events.layout import Body
from forge.events.plain import words

#: Bytes of the event's body.
BODY_SIZE = 56


@dataclass(frozen=True, slots=True, kw_only=True)
class StartV3(Body, type_code=1, type_name="START_V3"):
    """``created`` is the time at which the file was begun after a start of the server, in seconds; else 0."""

    binlog_version: int = 3
    server_version: str
    created: int = 0
    layout: ClassVar[Struct] = Struct(
        "binlog_version" / Int16ul, "server_version" / PaddedVersion(Bytes(50)), "created" / Int32ul
    )

    def context(self) -> FormatContext:
        """The framing of this event and of those after it."""
        return old_format(self.server_version, self.binlog_version)

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{words(fields['server_version'])}, version {fields['binlog_version']}"


def begins_old_file(type_code: int, format: FormatContext) -> bool:
    """Whether an event of that type says how the file is framed: no FORMAT_DESCRIPTION came before."""
    return type_code == StartV3.type_code and (format.binlog_version < 4 or not format.post_header_lengths)


def start_format(size: int) -> FormatContext:
    """The framing of a START_V3 event of that size."""
    return old_format("", 1 if size < HEADER_SIZE + BODY_SIZE else 3)


#: The least size that START_V3 has: version 1 has the short header.
