"""PARTIAL_ROW_DATA (172, MariaDB 12.3): a piece of a row event that is too large for its replicas (MDEV-32570).

The pieces of one event follow each other.  Not recorded: from the vendor's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int32ul, Int64ul, Struct

from forge.events.derived_parts import When
from forge.events.layout import Body, Rest

#: The bit of ``piece_flags`` that says that the size of the whole event follows.
WITH_SIZE = 0x01


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialRowData(Body, type_code=172, type_name="PARTIAL_ROW_DATA", features=("partial_row_data",)):
    """Piece ``number`` (from 1) of ``pieces``; ``whole_size`` are the bytes of the event that they make."""

    pieces: int
    number: int
    piece_flags: int = 0
    whole_size: int | None = None
    data: bytes
    layout: ClassVar[Struct] = Struct(
        "pieces" / Int32ul,
        "number" / Int32ul,
        "piece_flags" / Int8ul,
        "whole_size" / When(Int64ul, lambda this: this.piece_flags & WITH_SIZE),
        "data" / Rest(),
    )

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"piece {fields['number']} of {fields['pieces']}, {len(fields['data']) // 2} bytes"
