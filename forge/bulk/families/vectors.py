"""VECTOR: list<float32>, also that of MariaDB, which is a VARBINARY that only a declaration tells from others.

Odd are half floats, and on MySQL NaN and infinities.  Written, what a server refuses is odd as well: no number or more
than the dimensions, on MariaDB fewer, and a vector that it takes for too long.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.gather import spans
from forge.bulk.plan import NO_ROWS, Cells, ColumnPlan, Numbers, Read, Wire, rows_where, values_of
from forge.bulk.text.form import either
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.strings import VarcharCodec
from forge.values.vector import MAX_DIMENSIONS, VECTOR
from forge.values.wire_types import WireType

_FLOAT = 4
#: Every sum of squares below it is one that MariaDB can hold in a FLOAT, however it rounds in between.
_SAFE_SQUARE = 1e38


class VectorPlan(ColumnPlan):
    """32-bit floats behind a length; ``least`` to ``most`` of them, whose squares are below ``longest`` in sum."""

    def __init__(self, column: Column, prefix: int, *, least: int, most: int, longest: float) -> None:
        super().__init__(column, pa.list_(pa.float32()), -prefix)
        self._bounds = least, most, longest

    def read(self, cells: Cells) -> Read:
        parts = cells.lengths % _FLOAT
        odd = rows_where(parts != 0) if parts.any() else NO_ROWS
        ends, data, _ = spans(Cells(cells.buffer, cells.offsets, cells.lengths - parts))
        ends //= _FLOAT
        floats = data.view(np.float32)[: ends[-1]]
        if self.column.type_code == WireType.VECTOR:
            odd = either(odd, _odd(floats, ends, 0, len(floats), math.inf))
        return Read((ends, floats), odd)

    def array(self, rows: int, validity: pa.Buffer | None, nulls: int, read: Read) -> pa.Array:
        ends, floats = read.buffers
        values = pa.Array.from_buffers(pa.float32(), len(floats), [None, pa.py_buffer(floats)])
        return pa.Array.from_buffers(self.arrow_type, rows, [validity, pa.py_buffer(ends)], nulls, children=[values])

    def write(self, array: pa.Array) -> Wire:
        offsets = array.buffers()[1]
        ends = np.zeros(1, np.int32) if offsets is None else np.frombuffer(offsets, np.int32)
        ends = ends[array.offset : array.offset + len(array) + 1]
        values = values_of(array.values, _FLOAT)
        odd = _odd(values.view(np.float32), ends, *self._bounds)
        if array.values.null_count:
            nulls = np.flatnonzero(array.values.is_null().to_numpy(zero_copy_only=False))
            inside = nulls[(nulls >= ends[0]) & (nulls < ends[-1])]
            odd = either(odd, np.unique(np.searchsorted(ends, inside, side="right") - 1).astype(np.int32))
        return Wire(values, _FLOAT * ends[:-1].astype(np.int64), _FLOAT * np.diff(ends), odd)


def _odd(floats: npt.NDArray[np.float32], ends: Numbers, least: int, most: int, longest: float) -> Numbers:
    lengths = np.diff(ends)
    floats = floats[: ends[-1]]
    above = np.concatenate(([0], np.cumsum(~np.isfinite(floats))))
    odd = (lengths < least) | (lengths > most) | (above[ends[1:]] != above[ends[:-1]])
    if longest < math.inf and lengths.any():
        there = lengths > 0
        with np.errstate(invalid="ignore"):
            odd[there] |= ~(np.add.reduceat(floats.astype(np.float64) ** 2, ends[:-1][there]) < longest)
    return rows_where(odd)


def plan(column: Column) -> ColumnPlan:
    if column.type_code == WireType.VECTOR:
        most = MAX_DIMENSIONS if column.dimensions is None else column.dimensions
        return VectorPlan(column, VECTOR.prefix(column), least=1, most=most, longest=math.inf)
    codec = codec_for(column)
    assert isinstance(codec, VarcharCodec)
    dimensions = codec.limit(column) // _FLOAT
    return VectorPlan(column, codec.prefix(column), least=dimensions, most=dimensions, longest=_SAFE_SQUARE)
