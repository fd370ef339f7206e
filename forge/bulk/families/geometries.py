"""GEOMETRY and its subtypes: struct<srid: uint32, wkb: binary>, the two parts of what is stored.

Odd, read or written, are bytes that are not one whole little-endian geometry.  Odd is also a geometry to write that is
of a subtype that the column does not hold, or not of the SRID that it declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.gather import fixed, spans
from forge.bulk.machine import copy, kernel, load32, store32
from forge.bulk.plan import Cells, ColumnPlan, Numbers, Read, Wire, rows_where, slacked, spans_of, values_of
from forge.bulk.text.form import either, located
from forge.errors import FormatError
from forge.values.base import Column
from forge.values.spatial.geometry import GEOMETRY, holds
from forge.values.spatial.wkb import NAMES, POINT, wkb_text

_SRID = 4
_TYPE = pa.struct({"srid": pa.uint32(), "wkb": pa.binary()})
#: How the well-known binary of a point begins, in five bytes, and the bytes of a point with its SRID.
_POINT_HEAD, _HEAD, _POINT_SIZE = np.uint64(0x0101), np.uint64(0xFFFFFFFFFF), 25


class GeometryPlan(ColumnPlan):
    """SRID and well-known binary behind one length."""

    def __init__(self, column: Column) -> None:
        super().__init__(column, _TYPE, -GEOMETRY.prefix(column))
        declared = None if column.declared is None else column.declared.srid
        self._srid = -1 if declared is None else declared
        kinds = range(1, len(NAMES)) if column.geometry_type else ()
        self._kinds = sum(1 << kind for kind in kinds if holds(column, kind))

    def read(self, cells: Cells) -> Read:
        offsets = np.where(cells.offsets >= 0, cells.offsets + _SRID, cells.offsets)
        ends, data, _ = spans(Cells(cells.buffer, offsets, np.maximum(cells.lengths - _SRID, 0)))
        return Read((fixed(cells, _SRID), ends, data), _odd(cells, 0, -1))

    def array(self, rows: int, validity: pa.Buffer | None, nulls: int, read: Read) -> pa.Array:
        srid, ends, data = (pa.py_buffer(buffer) for buffer in read.buffers)
        parts = [
            pa.Array.from_buffers(pa.uint32(), rows, [None, srid]),
            pa.Array.from_buffers(pa.binary(), rows, [None, ends, data]),
        ]
        return pa.Array.from_buffers(_TYPE, rows, [validity], nulls, children=parts)

    def write(self, array: pa.Array) -> Wire:
        srids, parts = array.field(0), array.field(1)
        values, begins, sizes = located(spans_of(parts))
        lengths = sizes + np.int32(_SRID)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        out = slacked(int(lengths.sum()))
        _joined(values_of(srids, _SRID), values, begins, sizes, starts, out)
        odd = _odd(Cells(out, starts.astype(np.int32), lengths), self._kinds, self._srid)
        return Wire(out, starts, lengths, either(odd, either(_nulls(srids), _nulls(parts))))

    def declared(self, value: Any) -> Any:
        """The stored bytes: ``accept`` takes a mapping for what ST_GeomFromWKB does, which turns axes round."""
        if not isinstance(value, Mapping) or value.keys() != {"srid", "wkb"}:
            return value
        srid, wkb = value["srid"], value["wkb"]
        if not isinstance(srid, int) or not isinstance(wkb, bytes) or not 0 <= srid < 1 << 32:
            return value
        return srid.to_bytes(_SRID, "little") + wkb


def _nulls(array: pa.Array) -> Numbers:
    return rows_where(array.is_null().to_numpy(zero_copy_only=False))


def _odd(cells: Cells, kinds: int, srid: int) -> Numbers:
    """The rows that are no geometries, of none of the types (a bit each; 0: any) or not of the SRID (-1: any)."""
    offsets = cells.offsets
    heads = fixed(Cells(cells.buffer, np.where(offsets >= 0, offsets + _SRID, offsets), cells.lengths), 8)
    unknown = (heads & _HEAD != _POINT_HEAD) | (cells.lengths != _POINT_SIZE)
    if kinds and not kinds >> POINT & 1:
        unknown[:] = True
    if srid >= 0:
        unknown |= fixed(cells, _SRID) != srid
    # Most geometries are points; the reference looks at the others.
    rows = rows_where(unknown & (offsets >= 0))
    odd = [row for row in rows.tolist() if not _fits(_bytes_of(cells, row), kinds, srid)]
    return np.array(odd, np.int32)


def _bytes_of(cells: Cells, row: int) -> bytes:
    begin = int(cells.offsets[row])
    return cells.buffer[begin : begin + int(cells.lengths[row])].tobytes()


def _fits(value: bytes, kinds: int, srid: int) -> bool:
    try:
        wkb_text(value[_SRID:])
    except FormatError:
        return False
    kind = int.from_bytes(value[_SRID + 1 : _SRID + 5], "little")
    return bool(not kinds or kinds >> kind & 1) and srid in (-1, int.from_bytes(value[:_SRID], "little"))


@kernel
def _joined(srids: Any, values: Any, begins: Any, sizes: Any, starts: Any, out: Any) -> None:
    for row in range(len(sizes)):
        store32(out, starts[row], load32(srids, _SRID * row))
        copy(out, starts[row] + _SRID, values, begins[row], sizes[row])


def plan(column: Column) -> ColumnPlan:
    return GeometryPlan(column)
