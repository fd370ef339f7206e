"""XA_PREPARE (38, 5.7.7 and MariaDB 10.5 on): ends the group of an XA transaction; with ``one_phase`` it
commits it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Int8ul, Int32ul, Struct

from forge.events.derived_parts import Derived
from forge.events.layout import Body, Span, Surroundings, derived, field_length, length_of
from forge.events.plain import Fields
from forge.events.shapes import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class XaPrepare(Body, type_code=38, type_name="XA_PREPARE", features=("xa_prepare",)):
    one_phase: int = 0
    format_id: int = 1
    gtrid_length: int | None = derived()
    bqual_length: int | None = derived()
    gtrid: bytes
    bqual: bytes = b""
    layout: ClassVar[Struct] = Struct(
        "one_phase" / Int8ul,
        "format_id" / Int32ul,
        "gtrid_length" / Derived(Int32ul, length_of("gtrid")),
        "bqual_length" / Derived(Int32ul, length_of("bqual")),
        "gtrid" / Span(field_length("gtrid_length")),
        "bqual" / Span(field_length("bqual_length")),
    )

    def canonical(self, surroundings: Surroundings) -> Fields:
        return self.shown_fields("one_phase") | {"one_phase": self.one_phase != 0}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return cls.shape_with({"one_phase": {"type": "boolean"}})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        verb = "XA COMMIT ONE PHASE" if fields["one_phase"] else "XA PREPARE"
        return f"{verb} X'{fields['gtrid']}',X'{fields['bqual']}',{fields['format_id']}"
