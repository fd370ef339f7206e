"""TRANSACTION_PAYLOAD (40, 8.0.20 on): the events of a transaction after its GTID, compressed.

No post-header, although FORMAT_DESCRIPTION says 40.  Inner events carry no checksum and log_pos 0 (recorded on 9.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from construct import Struct

from forge.events.layout import Body, Rest
from forge.events.type_length_values import TypeLengthValues, Values, packed_value

PAYLOAD_SIZE, COMPRESSION_TYPE, UNCOMPRESSED_SIZE = 1, 2, 3
ZSTD, NONE = 0, 255


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPayload(Body):
    """``values`` are (type, packed integer bytes): 2 compression (0 zstd, 255 none), 3 uncompressed size, 1
    payload size.
    """

    type_code: ClassVar[int] = 40
    type_name: ClassVar[str] = "TRANSACTION_PAYLOAD"
    values: Values
    payload: bytes
    layout: ClassVar[Struct] = Struct("values" / TypeLengthValues(), "payload" / Rest())

    def number(self, kind: int, default: int | None = None) -> int | None:
        """The number of that type in the head."""
        found = dict(self.values)
        return packed_value(found[kind]) if kind in found else default
