"""XID (16): commit of a transaction in a transactional engine; the number is the engine's, increasing, not dense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int64ul, Struct

from forge.events.layout import Body, Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid(Body, type_code=16, type_name="XID"):
    xid: int
    layout: ClassVar[Struct] = Struct("xid" / Int64ul)

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"COMMIT, xid {fields['xid']}"

    def statement(self, surroundings: Surroundings) -> str | None:
        return f"XID {self.xid}"
