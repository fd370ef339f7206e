"""HEARTBEAT_V2 (41, 8.0.26 on): network only; where the source is, with a position beyond 4 GiB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, to_text
from forge.events.type_length_values import TypeLengthValues, Values, packed_value

FILE_NAME, POSITION = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatV2(Body):
    """``values`` are (type, bytes): 1 file name, 2 position (a packed integer)."""

    type_code: ClassVar[int] = 41
    type_name: ClassVar[str] = "HEARTBEAT_V2"
    values: Values
    layout: ClassVar[Struct] = Struct("values" / TypeLengthValues())

    @property
    def file_name(self) -> str:
        return to_text(dict(self.values).get(FILE_NAME, b""))

    @property
    def position(self) -> int:
        return packed_value(dict(self.values)[POSITION])
