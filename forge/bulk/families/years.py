"""YEAR: int16, where 0 is the year 0000, of YEAR(2) too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from forge.bulk.gather import fixed
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, rows_where, values_of
from forge.values.base import Column
from forge.values.temporal.year import YEAR

#: What 1 is to the byte: the years follow each other, but for 0.
_BASE = 1900
_YEARS = np.array([YEAR.decode(Column(YEAR.type_codes[0]), bytes([byte])) for byte in range(256)], np.int16)


class YearPlan(ColumnPlan):
    """A table of the 256 bytes."""

    def read(self, cells: Cells) -> Read:
        return Read((_YEARS[fixed(cells, 1)],))

    def write(self, array: pa.Array) -> Wire:
        years = values_of(array, 2).view(np.int16)
        stored = np.where(years == 0, 0, years - _BASE).astype(np.uint8)
        return Wire(stored, odd=rows_where(_YEARS[stored] != years))


def plan(column: Column) -> ColumnPlan:
    return YearPlan(column, pa.int16(), YEAR.size(column))
