"""MariaDB's UUID, INET4 and INET6: their 16 or 4 bytes in the order of their text, which is how Arrow has UUIDs too.

Only a declared column knows that it is not a BINARY.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.families.strings import without_pad
from forge.bulk.machine import copy, kernel
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, values_of
from forge.values.base import Column
from forge.values.network import NetworkCodec
from forge.values.registry import codec_for

_ZERO = np.zeros(1, np.uint8)


class NetworkPlan(ColumnPlan):
    """Always the same size, but for 00 bytes at the end, which are not stored."""

    def __init__(self, column: Column, codec: NetworkCodec) -> None:
        self._size = codec.limit(column)
        super().__init__(column, pa.binary(self._size), -codec.prefix(column))

    def read(self, cells: Cells) -> Read:
        out = np.zeros(self._size * len(cells), np.uint8)
        odd = np.empty(len(cells), np.int32)
        found = _restore(cells.buffer, cells.offsets, cells.lengths, self._size, out, odd)
        return Read((out,), odd[:found])

    def write(self, array: pa.Array) -> Wire:
        lengths = np.full(len(array), self._size, np.int32)
        starts = self._size * np.arange(len(array), dtype=np.int64)
        return without_pad(Wire(values_of(array, self._size), starts, lengths), _ZERO)


@kernel
def _restore(buffer: Any, offsets: Any, lengths: Any, size: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(offsets)):
        if offsets[row] < 0:
            continue
        if lengths[row] > size:
            odd[found] = row
            found += 1
            continue
        copy(out, np.int64(size) * row, buffer, np.int64(offsets[row]), np.int64(lengths[row]))
    return found


def plan(column: Column) -> ColumnPlan:
    codec = codec_for(column)
    assert isinstance(codec, NetworkCodec)
    return NetworkPlan(column, codec)
