"""RAND (13): the two seeds of RAND() in the next QUERY.  Statement format only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int64ul, Struct

from forge.events.layout import Body, Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rand(Body, type_code=13, type_name="RAND", features=("files_in_events",)):
    seed1: int
    seed2: int
    layout: ClassVar[Struct] = Struct("seed1" / Int64ul, "seed2" / Int64ul)

    def statement(self, surroundings: Surroundings) -> str | None:
        return f"RAND {self.seed1} {self.seed2}"
