"""LOAD (6): LOAD DATA of 3.23; one byte a separator, bits of ``empty`` say which of the five there are none of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Array, Int8ul, Struct

from forge.events.layout import Rest, Text
from forge.events.load_statement import NAMES, POST_HEADER, AsTuple, LoadStatement
from forge.events.plain import to_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(LoadStatement):
    type_code: ClassVar[int] = 6
    type_name: ClassVar[str] = "LOAD"
    separators: tuple[int, int, int, int, int] = (9, 0, 10, 0, 92)
    empty: int = 0

    layout: ClassVar[Struct] = Struct(
        *POST_HEADER,
        "separators" / AsTuple(Array(5, Int8ul)),
        "options" / Int8ul,
        "empty" / Int8ul,
        *NAMES,
        "file_name" / Text(Rest()),
    )

    def separator_texts(self) -> tuple[str, ...]:
        return tuple(
            "" if self.empty >> place & 1 else to_text(bytes([byte])) for place, byte in enumerate(self.separators)
        )
