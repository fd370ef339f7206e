"""FLOAT and DOUBLE: float32 and float64, of the same bytes on both sides.

NaN and infinities, which no server stores, are read as what they are.  Odd on writing is what ``accept`` refuses or
changes: these, negative values of UNSIGNED columns, -0 for a server that drops its sign, and values that FLOAT(M,D)
or DOUBLE(M,D) rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.gather import fixed
from forge.bulk.plan import Bytes, Cells, ColumnPlan, Numbers, Read, Wire, rows_where, values_of
from forge.values.base import Column
from forge.values.numeric.floats import FLOAT
from forge.values.wire_types import WireType


class FloatPlan(ColumnPlan):
    """Wire and Arrow are the same bytes."""

    is_plain = True

    def __init__(self, column: Column) -> None:
        arrow_type = pa.float32() if column.type_code == WireType.FLOAT else pa.float64()
        super().__init__(column, arrow_type, FLOAT.size(column))
        self._scale = None if column.declared is None else column.declared.scale
        self._keeps_negative_zero = column.dialect.keeps_negative_zero and self._scale is None

    def read(self, cells: Cells) -> Read:
        return Read((fixed(cells, self.wire),))

    def write(self, array: pa.Array) -> Wire:
        values = values_of(array, self.wire)
        odd = self._refused(values.view(np.float32 if self.wire == 4 else np.float64))
        if self._scale is not None:
            odd = np.union1d(odd, self._changed(values, self._scale)).astype(np.int32)
        return Wire(values, odd=odd)

    def _refused(self, numbers: npt.NDArray[Any]) -> Numbers:
        odd = ~np.isfinite(numbers)
        if self.column.unsigned:
            odd |= numbers < 0
        if not self._keeps_negative_zero:
            odd |= (numbers == 0) & np.signbit(numbers)
        return rows_where(odd)

    def _changed(self, data: Bytes, scale: int) -> npt.NDArray[np.int64]:
        """The rows that FLOAT(M,D) stores otherwise, or refuses: the arithmetic of forge.values.numeric.floats."""
        stated = data.view(np.float32 if self.wire == 4 else np.float64)
        declared = self.column.declared
        digits = (declared.precision or 0) if declared is not None else 0
        with np.errstate(invalid="ignore", over="ignore"):
            values = stated.astype(np.float64)
            floors = np.floor(values)
            rounded = floors + np.rint((values - floors) * 10.0**scale) / 10.0**scale
            beyond = np.abs(rounded) > 10.0 ** (digits - scale) - 10.0**-scale
            return np.flatnonzero(beyond | (rounded.astype(stated.dtype) != stated))


def plan(column: Column) -> ColumnPlan:
    return FloatPlan(column)
