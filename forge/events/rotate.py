"""ROTATE (4): the log goes on in another file.  Last event of a rotated file; invented ones have flag ARTIFICIAL.

The name has neither length nor terminator: it ends where the event (or its checksum) does.  3.23 writes no position:
it is 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int64ul, Struct

from forge.events.derived_parts import When
from forge.events.format import FormatContext
from forge.events.layout import Body, Rest, Text
from forge.events.plain import words


def _has_position(context: Any) -> bool:
    format: FormatContext = context._params.format
    return format.binlog_version > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotate(Body, type_code=4, type_name="ROTATE"):
    position: int | None = 4
    next_file: str
    layout: ClassVar[Struct] = Struct("position" / When(Int64ul, _has_position), "next_file" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{fields.get('position', 4)} {words(fields['next_file'])}"
