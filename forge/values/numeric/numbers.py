"""What the codecs of numbers share."""

from __future__ import annotations

from typing import Any

from forge.values.base import Column
from forge.values.cells import FixedWidthCodec
from forge.values.clipping import Clipped
from forge.values.literals import hex_mapping


class NumberCodec(FixedWidthCodec):
    """A number, which bytes and hex literals are too in a session without strict mode: big-endian ones."""

    metadata_space = "numeric"

    def clip(self, column: Column, declared: Any) -> Clipped:
        data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
        return super().clip(column, declared if data is None else int.from_bytes(data, "big"))
