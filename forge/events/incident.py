"""INCIDENT (26): the server could not log something (1 LOST_EVENTS); a replica stops here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Int8ul, Int16ul, Struct

from forge.events.derived_parts import Derived
from forge.events.layout import Body, Span, Text, derived, field_length, length_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(Body, type_code=26, type_name="INCIDENT", informational=True):
    incident: int = 1
    message_length: int | None = derived()
    message: str = ""
    layout: ClassVar[Struct] = Struct(
        "incident" / Int16ul,
        "message_length" / Derived(Int8ul, length_of("message")),
        "message" / Text(Span(field_length("message_length"))),
    )
