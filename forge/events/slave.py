"""SLAVE (7): where a replica of 3.23 was in its source's log (sql/log_event.h of 4.0).

No server wrote it to a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int16ul, Int64ul, Struct

from forge.events.layout import Body, Rest, Text, ZeroTerminated
from forge.events.plain import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Slave(Body, type_code=7, type_name="SLAVE", features=("files_in_events",)):
    """``position`` is an offset in ``source_file`` of the source at ``source_host`` and ``source_port``."""

    position: int = 4
    source_port: int = 3306
    source_host: str
    source_file: str
    layout: ClassVar[Struct] = Struct(
        "position" / Int64ul,
        "source_port" / Int16ul,
        "source_host" / ZeroTerminated(),
        "source_file" / Text(Rest()),
    )

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        host = f"{words(fields['source_host'])}:{fields['source_port']}"
        return f"{host} {words(fields['source_file'])} {fields['position']}"
