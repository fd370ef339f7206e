"""INTVAR (5): a number that the next QUERY uses: 1 LAST_INSERT_ID, 2 INSERT_ID.  Statement format only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int64ul, Struct

from forge.events.layout import Body, Surroundings
from forge.events.plain import Fields
from forge.events.shapes import Shape, one_of

LAST_INSERT_ID, INSERT_ID = 1, 2
VARIABLES = {LAST_INSERT_ID: "LAST_INSERT_ID", INSERT_ID: "INSERT_ID"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Intvar(Body, type_code=5, type_name="INTVAR"):
    variable: int
    value: int
    layout: ClassVar[Struct] = Struct("variable" / Int8ul, "value" / Int64ul)

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"variable": VARIABLES.get(self.variable, self.variable), "value": self.value}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"variable": one_of(VARIABLES.values())})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{fields['variable']} = {fields['value']}"

    def statement(self, surroundings: Surroundings) -> str | None:
        return f"{VARIABLES[self.variable]} {self.value}" if self.variable in VARIABLES else None
