"""HEARTBEAT_V2 (41, 8.0.26 on): network only; where the source is, with a position beyond 4 GiB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Surroundings
from forge.events.plain import Fields, plain, text_or_hex, to_text, words
from forge.events.shapes import TEXT, Shape, object_of
from forge.events.type_length_values import TypeLengthValues, Values, packed_value

FILE_NAME, POSITION = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatV2(Body):
    """``values`` are (type, bytes): 1 file name, 2 position (a packed integer)."""

    type_code: ClassVar[int] = 41
    type_name: ClassVar[str] = "HEARTBEAT_V2"
    features: ClassVar[tuple[str, ...]] = ("heartbeat_v2",)
    informational: ClassVar[bool] = True
    values: Values
    layout: ClassVar[Struct] = Struct("values" / TypeLengthValues())

    @property
    def file_name(self) -> str:
        return to_text(dict(self.values).get(FILE_NAME, b""))

    @property
    def position(self) -> int:
        return packed_value(dict(self.values)[POSITION])

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return words(fields["file_name"])

    def canonical(self, surroundings: Surroundings) -> Fields:
        return {"file_name": text_or_hex(self.file_name), "values": plain(self.values)}

    @classmethod
    def canonical_shape(cls) -> Shape:
        return object_of({"file_name": TEXT, "values": {"type": "array"}})
