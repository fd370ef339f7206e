"""TINYINT to BIGINT: int8 to int64, uint8 to uint64 where SIGNEDNESS says so; MEDIUMINT, of three bytes, is int32."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from forge.bulk.gather import fixed
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, rows_where, values_of
from forge.values.base import Column
from forge.values.wire_types import WireType

_WIDTHS = {WireType.TINY: 1, WireType.SHORT: 2, WireType.INT24: 3, WireType.LONG: 4, WireType.LONGLONG: 8}
_SIGNED = {1: pa.int8(), 2: pa.int16(), 3: pa.int32(), 4: pa.int32(), 8: pa.int64()}
_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 3: pa.uint32(), 4: pa.uint32(), 8: pa.uint64()}


class IntegerPlan(ColumnPlan):
    """Wire and Arrow are the same bytes."""

    is_plain = True

    def read(self, cells: Cells) -> Read:
        return Read((fixed(cells, self.wire),))

    def write(self, array: pa.Array) -> Wire:
        return Wire(values_of(array, self.wire))


class MediumIntPlan(ColumnPlan):
    """Three bytes on the wire, four in Arrow."""

    def __init__(self, column: Column, arrow_type: pa.DataType, wire: int) -> None:
        super().__init__(column, arrow_type, wire)
        #: The bit of the sign.
        self._sign = 0 if column.unsigned else 1 << 23

    def read(self, cells: Cells) -> Read:
        numbers = fixed(cells, 4).view(np.int32) & 0xFFFFFF
        return Read(((numbers ^ self._sign) - self._sign,))

    def write(self, array: pa.Array) -> Wire:
        numbers = values_of(array, 4).view(np.int32)
        out = numbers.view(np.uint8).reshape(-1, 4)[:, :3].reshape(-1)
        # As unsigned, what is below the smallest is above the largest.
        return Wire(out, odd=rows_where((numbers + self._sign).view(np.uint32) > 0xFFFFFF))


def plan(column: Column) -> ColumnPlan:
    width = _WIDTHS[WireType(column.type_code)]
    arrow_type = (_UNSIGNED if column.unsigned else _SIGNED)[width]
    return (MediumIntPlan if width == 3 else IntegerPlan)(column, arrow_type, width)
