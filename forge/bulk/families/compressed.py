"""MariaDB's COMPRESSED columns: utf8 or binary, as without compression.

Each value is inflated and deflated by the reference, one after the other: zlib takes far longer than the call.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from forge.bulk.families.strings import BinaryPlan, TextPlan, within
from forge.bulk.machine import SLACK
from forge.bulk.plan import NULL, Bytes, Cells, ColumnPlan, Numbers, Read, Wire
from forge.bulk.text.form import LAST_OFFSET, either, located
from forge.errors import FormatError
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.column_charset import charset_of
from forge.values.text.compressed import compress, decompress
from forge.values.text.strings import TextCodec
from forge.values.wire_types import WireType


class CompressedPlan(ColumnPlan):
    """Bytes behind zlib; ``plain`` is the plan of the values as they are."""

    def __init__(self, plain: ColumnPlan) -> None:
        super().__init__(plain.column, plain.arrow_type, plain.wire)
        self._plain = plain

    def read(self, cells: Cells) -> Read:
        inflated, odd = _inflated(cells)
        read = self._plain.read(inflated)
        return Read(read.buffers, either(odd, read.odd))

    def write(self, array: pa.Array) -> Wire:
        plain = self._plain.write(array)
        values, starts, lengths = located(plain)
        spans = zip(starts.tolist(), lengths.tolist(), strict=True)
        stored = [compress(values[begin : begin + length].tobytes()) for begin, length in spans]
        made = np.array([len(data) for data in stored], np.int32)
        wire = Wire(_joined(stored), np.cumsum(made, dtype=np.int64) - made, made, plain.odd)
        return within(wire, (1 << -8 * self.wire) - 1)


class CompressedTextPlan(CompressedPlan):
    """The same for text, which may be bytes that are not of its set."""

    can_be_odd = True


def _joined(values: list[bytes]) -> Bytes:
    return np.frombuffer(b"".join(values) + bytes(SLACK), np.uint8)


def _inflated(cells: Cells) -> tuple[Cells, Numbers]:
    """The cells without compression, and the rows that have none; those are NULL."""
    values: list[bytes] = []
    odd: list[int] = []
    offsets = np.full(len(cells), NULL, np.int32)
    lengths = np.zeros(len(cells), np.int32)
    total = 0
    for row, (begin, length) in enumerate(zip(cells.offsets.tolist(), cells.lengths.tolist(), strict=True)):
        if begin < 0:
            continue
        try:
            value = decompress(cells.buffer[begin : begin + length].tobytes())
        except FormatError:
            odd.append(row)
            continue
        if total + len(value) > LAST_OFFSET:
            odd.append(row)
            continue
        values.append(value)
        offsets[row], lengths[row] = total, len(value)
        total += len(value)
    return Cells(_joined(values), offsets, lengths), np.array(odd, np.int32)


def plan(column: Column) -> ColumnPlan:
    codec = codec_for(column)
    assert isinstance(codec, TextCodec)
    charset = charset_of(column)
    if charset is None:
        return CompressedPlan(BinaryPlan(column, codec))
    # Text that needs no conversion is counted in bytes here.
    counts_bytes = charset.name == "utf8mb4" and column.type_code == WireType.VARCHAR_COMPRESSED
    most = None if counts_bytes else codec.characters(column)
    return CompressedTextPlan(TextPlan(column, codec, charset, most=most))
