"""VIEW_CHANGE (37): group replication's membership change, with certification data.  Logged up to 8.2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Bytes, Int32ul, Int64ul, Struct

from forge.events.counted_items import NamedItems, set_or_hex
from forge.events.derived_parts import Derived
from forge.events.layout import Body, Surroundings, derived
from forge.events.plain import Fields, text_or_hex, to_text, words
from forge.events.shapes import TEXT, Shape, array, object_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChange(Body, type_code=37, type_name="VIEW_CHANGE", features=("transaction_context",)):
    """``view_id`` is NUL-padded to 40 bytes; ``certification`` has pairs of a key and the GTID set (as in
    PREVIOUS_GTIDS) that wrote it.
    """

    view_id: bytes
    sequence_number: int
    certification_count: int | None = derived()
    certification: tuple[tuple[str, bytes], ...] = ()
    layout: ClassVar[Struct] = Struct(
        "view_id" / Bytes(40),
        "sequence_number" / Int64ul,
        "certification_count" / Derived(Int32ul, lambda this: len(this.certification)),
        "certification" / NamedItems(lambda this: int(this.certification_count)),
    )

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["view_id"])

    def canonical(self, surroundings: Surroundings) -> Fields:
        certified = [{"key": text_or_hex(key), "gtid_set": set_or_hex(value)} for key, value in self.certification]
        shown = self.shown_fields("view_id", "certification")
        return {"view_id": text_or_hex(to_text(self.view_id.rstrip(b"\0")))} | shown | {"certification": certified}

    @classmethod
    def canonical_shape(cls) -> Shape:
        certified = array(object_of({"key": TEXT, "gtid_set": {}}))
        return cls.shape_with({"view_id": TEXT, "certification": certified})
