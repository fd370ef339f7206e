"""Well-known binary of geometries, as servers store it, to well-known text.

::

    byte order 01 | type u32 | POINT: x, y doubles | LINESTRING: count u32, points
                             | POLYGON: count u32, rings (each count u32, points)
                             | MULTI..., GEOMETRYCOLLECTION: count u32, geometries with their own heads

All numbers are little-endian: MySQL 9.7 refuses to store big-endian parts (recorded, error 1416).  Collections nest
as deep as the server's thread stack allows (a few thousand levels), so nothing here recurses.
"""

from __future__ import annotations

import math
import struct
from typing import Final

from forge.errors import FormatError
from forge.values.numeric.floats import float_text, shortest_digits

POINT, LINESTRING, POLYGON, MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, GEOMETRYCOLLECTION = range(1, 8)
#: Names by type; 0 is any geometry in TABLE_MAP's metadata and no type of a value.
NAMES: Final = (
    "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
)  # fmt: skip
#: The type that every part of a collection has, 0 for any.
MEMBERS: Final = {MULTIPOINT: POINT, MULTILINESTRING: LINESTRING, MULTIPOLYGON: POLYGON, GEOMETRYCOLLECTION: 0}

_LONGEST: Final = 25
_HEAD: Final = struct.Struct("<BI")
_COUNT: Final = struct.Struct("<I")
_POINT: Final = struct.Struct("<dd")


def wkb_type(data: bytes) -> int:
    """The type of the outermost geometry, 1 to 7.  Raises FormatError."""
    return _head(data, 0)


def wkb_text(data: bytes) -> str | None:
    """The text of a geometry; None if a coordinate is not a number.

    Raises FormatError (phase "value", offset in ``data``) for bytes that are not one whole little-endian geometry.
    Counts may be smaller than a valid geometry has: an empty LINESTRING reads as such.
    """
    parts: list[str] = []
    #: Parts still to come and their type, for each collection around the geometry that is next.
    around: list[tuple[int, int]] = []
    offset, finite = 0, True
    while True:
        kind = _head(data, offset)
        member = around[-1][1] if around else 0
        if member and kind != member:
            raise _wrong(f"a {NAMES[member]} is expected here, not a {NAMES[kind]}", offset)
        if not member:
            parts.append(NAMES[kind])
        offset += _HEAD.size
        if kind in MEMBERS:
            count, offset = _count(data, offset)
            if count:
                parts.append("(")
                around.append((count, MEMBERS[kind]))
                continue
            parts.append(" EMPTY")
        else:
            coordinates, offset = _coordinates(data, offset, kind)
            finite = finite and coordinates is not None
            parts.append(coordinates or "")
        while around:
            left, member = around.pop()
            if left > 1:
                parts.append(",")
                around.append((left - 1, member))
                break
            parts.append(")")
        if not around:
            break
    if offset != len(data):
        raise _wrong(f"{len(data) - offset} bytes follow the geometry", offset)
    return "".join(parts) if finite else None


def _wrong(rule: str, offset: int) -> FormatError:
    return FormatError(rule, phase="value", offset=offset)


def _head(data: bytes, offset: int) -> int:
    if offset + _HEAD.size > len(data):
        raise _wrong("a geometry starts with its byte order and type", offset)
    order, kind = _HEAD.unpack_from(data, offset)
    if order != 1:
        raise _wrong(f"a stored geometry has the byte order 1, not {order}", offset)
    if not POINT <= kind <= GEOMETRYCOLLECTION:
        raise _wrong(f"{kind} is not a type of a geometry", offset + 1)
    return int(kind)


def _count(data: bytes, offset: int) -> tuple[int, int]:
    if offset + _COUNT.size > len(data):
        raise _wrong("a count of a geometry passes its end", offset)
    return int(_COUNT.unpack_from(data, offset)[0]), offset + _COUNT.size


def _coordinates(data: bytes, offset: int, kind: int) -> tuple[str | None, int]:
    """The text of a POINT, LINESTRING or POLYGON behind its name, None if not all are numbers; and where it ends."""
    if kind == POINT:
        return _points(data, offset, 1)
    count, offset = _count(data, offset)
    if not count:
        return " EMPTY", offset
    if kind == LINESTRING:
        return _points(data, offset, count)
    rings, finite = [], True
    for _ in range(count):
        points, offset = _count(data, offset)
        ring, offset = _points(data, offset, points)
        finite = finite and ring is not None
        rings.append(ring or "")
    return f"({','.join(rings)})" if finite else None, offset


def _points(data: bytes, offset: int, count: int) -> tuple[str | None, int]:
    end = offset + count * _POINT.size
    if end > len(data):
        raise _wrong(f"{count} points pass the end of the geometry", offset)
    pairs = list(_POINT.iter_unpack(data[offset:end]))
    if not all(math.isfinite(x) and math.isfinite(y) for x, y in pairs):
        return None, end
    return f"({','.join(f'{coordinate_text(x)} {coordinate_text(y)}' for x, y in pairs)})", end


def coordinate_text(value: float) -> str:
    """A finite coordinate as ST_AsText prints it: as a DOUBLE, but with an exponent instead of more than 25 characters.

    Only small numbers with many digits are that long.  Recorded on MySQL 9.7.
    """
    text = str(float_text(value))
    if len(text) <= _LONGEST:
        return text
    sign = "-" if value < 0 else ""
    digits, point = shortest_digits(abs(value), single=False)
    return f"{sign}{digits[0]}.{digits[1:]}e{point - 1}"
