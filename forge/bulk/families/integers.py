"""TINYINT to BIGINT: int8 to int64, uint8 to uint64 where SIGNEDNESS says so; MEDIUMINT, of three bytes, is int32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.gather import fixed
from forge.bulk.machine import kernel, load32, signed
from forge.bulk.plan import Cells, ColumnPlan, Read, Wire, values_of
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
        self._unsigned = bool(column.unsigned)

    def read(self, cells: Cells) -> Read:
        out = np.empty(len(cells), np.int32)
        _read24(cells.buffer, cells.offsets, self._unsigned, out)
        return Read((out,))

    def write(self, array: pa.Array) -> Wire:
        words = values_of(array, 4)
        out = np.empty(3 * len(array), np.uint8)
        odd = np.empty(len(array), np.int32)
        found = _write24(words, self._unsigned, out, odd)
        return Wire(out, odd=odd[:found])


@kernel
def _read24(buffer: Any, offsets: Any, unsigned: Any, out: Any) -> None:
    for row in range(len(offsets)):
        offset = offsets[row]
        value = np.int64(0)
        if offset >= 0:
            value = signed(load32(buffer, offset) & np.uint64(0xFFFFFF))
            if not unsigned and value >= 1 << 23:
                value -= 1 << 24
        out[row] = value


@kernel
def _write24(words: Any, unsigned: Any, out: Any, odd: Any) -> Any:
    found = 0
    for row in range(len(out) // 3):
        value = signed(load32(words, 4 * row))
        if not unsigned and value >= 1 << 31:
            value -= 1 << 32
        low, high = (0, (1 << 24) - 1) if unsigned else (-(1 << 23), (1 << 23) - 1)
        if value < low or value > high:
            odd[found] = row
            found += 1
        out[3 * row] = value & 0xFF
        out[3 * row + 1] = (value >> 8) & 0xFF
        out[3 * row + 2] = (value >> 16) & 0xFF
    return found


def plan(column: Column) -> ColumnPlan:
    width = _WIDTHS[WireType(column.type_code)]
    arrow_type = (_UNSIGNED if column.unsigned else _SIGNED)[width]
    return (MediumIntPlan if width == 3 else IntegerPlan)(column, arrow_type, width)
