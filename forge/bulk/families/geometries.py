"""GEOMETRY and its subtypes: struct<srid: uint32, wkb: binary>, the two parts of what is stored.

Odd, read or written, are bytes that are not one whole little-endian geometry.  Odd is also a geometry to write that is
of a subtype that the column does not hold, or not of the SRID that it declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.gather import fixed, spans
from forge.bulk.machine import copy, kernel, load8, load32, memory, signed, store32
from forge.bulk.plan import Bytes, Cells, ColumnPlan, Numbers, Read, Wire, slacked, spans_of, values_of
from forge.bulk.text.form import either, located
from forge.errors import FormatError
from forge.values.base import Column
from forge.values.spatial.geometry import GEOMETRY, holds
from forge.values.spatial.wkb import (
    GEOMETRYCOLLECTION,
    LINESTRING,
    MULTILINESTRING,
    MULTIPOINT,
    MULTIPOLYGON,
    NAMES,
    POINT,
    POLYGON,
    wkb_text,
)

_SRID = 4
_TYPE = pa.struct({"srid": pa.uint32(), "wkb": pa.binary()})
#: Collections in collections that the kernel follows: those in deeper ones are left to the reference.
_DEEPEST = 64
_LAST_KIND = len(NAMES) - 1
_WHOLE, _BROKEN, _DEEP = 0, 1, 2


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
        return Read((fixed(cells, _SRID), ends, data), _odd(cells.buffer, cells.offsets, cells.lengths, 0, -1))

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
        odd = _odd(out, starts, lengths, self._kinds, self._srid)
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
    return np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).astype(np.int32)


def _odd(data: Bytes, offsets: npt.NDArray[Any], lengths: Numbers, kinds: int, srid: int) -> Numbers:
    """The rows that are no geometries, of none of the types (a bit each; 0: any) or not of the SRID (-1: any)."""
    odd, found = np.empty(len(offsets), np.int32), np.empty(len(offsets), np.int8)
    count = int(_check(data, offsets, lengths, kinds, srid, odd, found))
    if not count:
        return odd[:0]
    kept = np.ones(count, bool)
    for index in np.flatnonzero(found[:count] == _DEEP).tolist():
        begin, length = int(offsets[odd[index]]), int(lengths[odd[index]])
        try:
            wkb_text(data[begin + _SRID : begin + length].tobytes())
        except FormatError:
            continue
        kept[index] = False
    return odd[:count][kept]


@kernel
def _joined(srids: Any, values: Any, begins: Any, sizes: Any, starts: Any, out: Any) -> None:
    for row in range(len(sizes)):
        store32(out, starts[row], load32(srids, _SRID * row))
        copy(out, starts[row] + _SRID, values, begins[row], sizes[row])


@kernel
def _check(data: Any, offsets: Any, lengths: Any, kinds: Any, srid: Any, odd: Any, why: Any) -> Any:
    found = 0
    held = memory(data)
    left, member = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST, np.int64)
    for row in range(len(offsets)):
        at = np.int64(offsets[row])
        if at < 0:
            continue
        end = at + np.int64(lengths[row])
        state = _BROKEN
        if at + _SRID + 5 <= end:
            state = _walked(held, at + _SRID, end, left, member)
            kind = signed(load32(held, at + _SRID + 1))
            if kinds and (kind > _LAST_KIND or not kinds >> kind & 1):
                state = _BROKEN
            if srid >= 0 and signed(load32(held, at)) != srid:
                state = _BROKEN
        if state != _WHOLE:
            odd[found] = row
            why[found] = state
            found += 1
    return found


@kernel
def _walked(held: Any, begin: Any, end: Any, left: Any, member: Any) -> Any:
    """Whether well-known binary is whole; ``left`` and ``member`` hold the collections around, as wkb_text does."""
    at = np.int64(begin)
    depth = 0
    while True:
        if at + 5 > end or load8(held, at) != 1:
            return _BROKEN
        kind = signed(load32(held, at + 1))
        at += 5
        if kind < POINT or kind > GEOMETRYCOLLECTION or (depth and member[depth - 1] and member[depth - 1] != kind):
            return _BROKEN
        if kind == POINT:
            at += 16
        else:
            if at + 4 > end:
                return _BROKEN
            count = signed(load32(held, at))
            at += 4
            if kind == LINESTRING:
                at += 16 * count
            elif kind == POLYGON:
                for _ in range(count):
                    if at + 4 > end:
                        return _BROKEN
                    at += 4 + 16 * signed(load32(held, at))
            elif count:
                if depth == _DEEPEST:
                    return _DEEP
                left[depth] = count
                member[depth] = 0
                if kind == MULTIPOINT:
                    member[depth] = POINT
                elif kind == MULTILINESTRING:
                    member[depth] = LINESTRING
                elif kind == MULTIPOLYGON:
                    member[depth] = POLYGON
                depth += 1
                continue
        if at > end:
            return _BROKEN
        while depth and left[depth - 1] == 1:
            depth -= 1
        if not depth:
            return _WHOLE if at == end else _BROKEN
        left[depth - 1] -= 1


def plan(column: Column) -> ColumnPlan:
    return GeometryPlan(column)
