"""BINLOG_CHECKPOINT (161, MariaDB 10.0 on): the oldest file that crash recovery still needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int32ul, Struct

from forge.events.derived_parts import Derived
from forge.events.layout import Body, Span, Text, derived, field_length, length_of
from forge.events.plain import words


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogCheckpoint(Body, type_code=161, type_name="BINLOG_CHECKPOINT", features=("mariadb_gtid",)):
    file_name_length: int | None = derived()
    file_name: str
    layout: ClassVar[Struct] = Struct(
        "file_name_length" / Derived(Int32ul, length_of("file_name")),
        "file_name" / Text(Span(field_length("file_name_length"))),
    )

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"])
