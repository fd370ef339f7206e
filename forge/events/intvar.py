"""INTVAR (5): a number that the next QUERY uses: 1 LAST_INSERT_ID, 2 INSERT_ID.  Statement format only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int64ul, Struct

from forge.events.layout import Body

LAST_INSERT_ID, INSERT_ID = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Intvar(Body):
    type_code: ClassVar[int] = 5
    type_name: ClassVar[str] = "INTVAR"
    variable: int
    value: int
    layout: ClassVar[Struct] = Struct("variable" / Int8ul, "value" / Int64ul)
