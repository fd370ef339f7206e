"""ROTATE (4): the log goes on in another file.  Last event of a rotated file; invented ones have flag ARTIFICIAL.

The name has neither length nor terminator: it ends where the event (or its checksum) does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int64ul, Struct

from forge.events.layout import Body, Rest, Text
from forge.events.plain import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotate(Body):
    type_code: ClassVar[int] = 4
    type_name: ClassVar[str] = "ROTATE"
    position: int = 4
    next_file: str
    layout: ClassVar[Struct] = Struct("position" / Int64ul, "next_file" / Text(Rest()))

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{fields['position']} {words(fields['next_file'])}"
