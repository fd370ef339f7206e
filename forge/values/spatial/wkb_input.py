"""Well-known binary of either byte order to the bytes that ``ST_GeomFromWKB`` stores.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8: all numbers become little-endian; each part of a collection has its own
byte order.  MySQL takes the parts of MULTI... types in little-endian order only, needs two points in a line, four in a
ring and one part in a MULTI..., and turns latitude and longitude of geographic systems round.  MariaDB takes lines and
rings of one point, empty MULTIPOINTs and MULTIPOLYGONs, and leaves the axes.  What is malformed is an error on MySQL;
MariaDB stores NULL, or ignores bytes at the end.  NaN and, outside of geographic systems, infinity are taken.
"""

from __future__ import annotations

import struct
from typing import Final

from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Column
from forge.values.spatial.reference_systems import axes_of
from forge.values.spatial.wkb import (
    GEOMETRYCOLLECTION,
    LINESTRING,
    MEMBERS,
    MULTILINESTRING,
    MULTIPOINT,
    MULTIPOLYGON,
    NAMES,
    POINT,
)

_ORDERS: Final = {0: ">", 1: "<"}
_HEAD_SIZE: Final = 5
_POINT_SIZE: Final = 16


def stored_wkb(column: Column, data: bytes, srid: int) -> bytes:
    """The WKB that a column's server stores for ``ST_GeomFromWKB(data, srid)``.

    Raises ScenarioError with the offset of what is wrong, UnsupportedError for reference systems whose meridian or unit
    is an unusual one.
    """
    return _Reader(column, data, srid).geometry()


class _Reader:
    """A cursor over the bytes, and what is stored so far."""

    def __init__(self, column: Column, data: bytes, srid: int) -> None:
        self.data = data
        self.offset = 0
        self.stored = bytearray()
        self.lenient = column.dialect.lenient_wkb
        self.axes = axes_of(srid) if column.dialect.orders_axes else "projected"
        if self.axes == "unmeasured":
            raise UnsupportedError(
                f"WKB of SRID {srid}, which does not count degrees from Greenwich, is not supported",
                expected="{hex: ...}, the SRID and WKB as they are stored",
            )

    def geometry(self) -> bytes:
        # Parts still to come and the collection's type, for each collection around the geometry that is next.
        around: list[tuple[int, int]] = [(1, 0)]
        while around:
            left, outer = around.pop()
            if not left:
                continue
            around.append((left - 1, outer))
            order, kind = self._head(outer)
            if kind in MEMBERS:
                around.append((self._count(order, self._fewest(kind), f"parts of a {NAMES[kind]}"), kind))
            elif kind == POINT:
                self._points(order, 1)
            elif kind == LINESTRING:
                self._points(order, self._count(order, 1 if self.lenient else 2, "points of a LINESTRING"))
            else:
                for _ in range(self._count(order, 1, "rings of a POLYGON")):
                    self._ring(order)
        if self.offset != len(self.data):
            raise self._wrong(f"{len(self.data) - self.offset} bytes follow the geometry", "its end")
        return bytes(self.stored)

    def _fewest(self, kind: int) -> int:
        if self.lenient:
            return int(kind == MULTILINESTRING)
        return int(kind in (MULTIPOINT, MULTILINESTRING, MULTIPOLYGON))

    def _head(self, outer: int) -> tuple[str, int]:
        """The byte order and type of a geometry in a collection of type ``outer``, 0 for none."""
        order = _ORDERS.get(self._bytes(1, "a byte order")[0])
        if order is None:
            self.offset -= 1
            raise self._wrong(f"{self.data[self.offset]} is not a byte order", "00 (big-endian) or 01 (little-endian)")
        if order == ">" and outer not in (0, GEOMETRYCOLLECTION) and not self.lenient:
            self.offset -= 1
            raise self._wrong(
                f"a big-endian part of a {NAMES[outer]}, which MySQL refuses", "parts in little-endian order"
            )
        (kind,) = struct.unpack(order + "I", self._bytes(_HEAD_SIZE - 1, "the type of a geometry"))
        member = MEMBERS[outer] if outer else 0
        if not POINT <= kind <= GEOMETRYCOLLECTION or (member and kind != member):
            self.offset -= _HEAD_SIZE - 1
            wanted = f"{member}, a {NAMES[member]}" if member else "a type from 1 (POINT) to 7 (GEOMETRYCOLLECTION)"
            raise self._wrong(f"the type {kind}", wanted)
        self.stored += struct.pack("<BI", 1, kind)
        return order, kind

    def _count(self, order: str, fewest: int, things: str) -> int:
        (count,) = struct.unpack(order + "I", self._bytes(4, f"the number of {things}"))
        if count < fewest:
            self.offset -= 4
            raise self._wrong(f"{count} {things}", f"at least {fewest}")
        self.stored += struct.pack("<I", count)
        return int(count)

    def _ring(self, order: str) -> None:
        start = self.offset
        count = self._count(order, 1 if self.lenient else 4, "points of a ring")
        beginning = len(self.stored)
        self._points(order, count)
        first, last = self.stored[beginning : beginning + _POINT_SIZE], self.stored[-_POINT_SIZE:]
        # MariaDB compares numbers (NaN equals nothing, -0 is 0), MySQL bytes.
        closed = struct.unpack("<dd", first) == struct.unpack("<dd", last) if self.lenient else first == last
        if not closed:
            self.offset = start
            raise self._wrong("an open ring", "a ring that ends where it starts")

    def _points(self, order: str, count: int) -> None:
        if count * _POINT_SIZE > len(self.data) - self.offset:
            raise self._wrong(
                f"{len(self.data) - self.offset} bytes for {count} points", f"{count * _POINT_SIZE} bytes"
            )
        for _ in range(count):
            x, y = struct.unpack(order + "dd", self._bytes(_POINT_SIZE, "a point"))
            if self.axes == "latitude first":
                x, y = y, x
            if self.axes != "projected" and (abs(x) > 180 or abs(y) > 90):
                self.offset -= _POINT_SIZE
                raise self._wrong(f"longitude {x}, latitude {y}", "-180 to 180 and -90 to 90 degrees")
            self.stored += struct.pack("<dd", x, y)

    def _bytes(self, size: int, expected: str) -> bytes:
        data = self.data[self.offset : self.offset + size]
        if len(data) < size:
            raise self._wrong("the bytes end", expected)
        self.offset += size
        return data

    def _wrong(self, problem: str, expected: str) -> ScenarioError:
        return ScenarioError(f"invalid WKB at offset {self.offset}: {problem}", expected=expected)
