"""BIT(n): uint64.  A cell whose unused bits are set is the number that its codec reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, rows_where, values_of
from forge.bulk.words import stored, words_of
from forge.values.base import Column
from forge.values.numeric.bits import BIT


class BitPlan(ColumnPlan):
    """Big-endian on the wire."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, pa.uint64(), BIT.size(column))
        self._largest = (1 << BIT.bits(column)) - 1

    def read(self, cells: Cells) -> Read:
        return Read((words_of(cells, self.wire, big_endian=True),))

    def write(self, array: pa.Array) -> Wire:
        words = values_of(array, 8).view(np.uint64)
        return Wire(stored(words, self.wire, big_endian=True), odd=rows_where(words > self._largest))


def plan(column: Column) -> ColumnPlan:
    return BitPlan(column)
