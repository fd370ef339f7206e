"""Geometries in expressions: POINT(x, y) and those of well-known text, without a reference system (SRID 0)."""

from __future__ import annotations

import struct

from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    number_of,
)
from forge.sql.expressions.operands import (
    Operand,
)
from forge.values.spatial.wkb import POINT
from forge.values.spatial.wkt import parse_wkt

_SRID = struct.Struct("<I")


def _point(x: Operand, y: Operand) -> bytes:
    return _SRID.pack(0) + struct.pack("<BIdd", 1, POINT, float(number_of(x)), float(number_of(y)))


def _from_text(text: Operand, srid: Operand = 0) -> bytes:
    if srid != 0:
        # MySQL reads the axes of each reference system in their own order.
        raise UnsupportedError("a geometry of another SRID than 0 in expressions is not supported yet")
    return _SRID.pack(0) + parse_wkt(text)


_OF_TEXT = ("ST_GEOMFROMTEXT", "ST_GEOMETRYFROMTEXT", "ST_POINTFROMTEXT", "ST_LINEFROMTEXT", "ST_POLYFROMTEXT")
FUNCTIONS |= {"POINT": Function(_point, 2, 2), **dict.fromkeys(_OF_TEXT, Function(_from_text, 1, 2))}
