"""TRANSACTION_PAYLOAD (40, 8.0.20 on): the events of a transaction after its GTID, compressed.

No post-header, although FORMAT_DESCRIPTION says 40.  Inner events carry no checksum and log_pos 0 (recorded on 9.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.events.layout import Body, Rest, Surroundings
from forge.events.plain import Fields
from forge.events.shapes import U32, U64, Shape, either, object_of
from forge.events.type_length_values import TypeLengthValues, Values, packed_value

PAYLOAD_SIZE, COMPRESSION_TYPE, UNCOMPRESSED_SIZE = 1, 2, 3
ZSTD, NONE = 0, 255
_COMPRESSIONS = {ZSTD: "ZSTD", NONE: "NONE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPayload(Body, type_code=40, type_name="TRANSACTION_PAYLOAD", features=("compression",)):
    """``values`` are (type, packed integer bytes): 2 compression (0 zstd, 255 none), 3 uncompressed size, 1
    payload size.
    """

    values: Values
    payload: bytes
    layout: ClassVar[Struct] = Struct("values" / TypeLengthValues(), "payload" / Rest())

    def number(self, kind: int, default: int | None = None) -> int | None:
        """The number of that type in the head."""
        numbers = dict(self.values)
        return packed_value(numbers[kind]) if kind in numbers else default

    def canonical(self, surroundings: Surroundings) -> Fields:
        kind = self.number(COMPRESSION_TYPE, ZSTD)
        return {
            "compression": None if kind is None else _COMPRESSIONS.get(kind, kind),
            "payload_size": len(self.payload),
            "uncompressed_size": self.number(UNCOMPRESSED_SIZE),
        }

    @classmethod
    def canonical_shape(cls) -> Shape:
        compression: Shape = {"type": ["string", "integer"]}
        size = either(U64, {"type": "null"})
        return object_of({"compression": compression, "payload_size": U32, "uncompressed_size": size})

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        return f"{fields['compression']}, {fields['payload_size']} of {fields['uncompressed_size']} bytes"
