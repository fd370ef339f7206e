"""VIEW_CHANGE (37): group replication's membership change, with certification data.  Logged up to 8.2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Bytes, Int32ul, Int64ul, Struct

from forge.events.layout import Body, Rest, Surroundings
from forge.events.plain import Fields, text_or_hex, to_text, words
from forge.events.shapes import TEXT, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChange(Body):
    """``view_id`` is NUL-padded to 40 bytes; ``certification`` are ``certification_count`` pairs of key and
    GTID set.
    """

    type_code: ClassVar[int] = 37
    type_name: ClassVar[str] = "VIEW_CHANGE"
    features: ClassVar[tuple[str, ...]] = ("transaction_context",)
    view_id: bytes
    sequence_number: int
    certification_count: int
    certification: bytes
    layout: ClassVar[Struct] = Struct(
        "view_id" / Bytes(40),
        "sequence_number" / Int64ul,
        "certification_count" / Int32ul,
        "certification" / Rest(),
    )

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["view_id"])

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"view_id": text_or_hex(to_text(self.view_id.rstrip(b"\0")))} | self.shown_fields("view_id")

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"view_id": TEXT})
