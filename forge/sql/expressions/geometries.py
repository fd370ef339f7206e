"""Geometries in expressions: POINT(x, y) and those of well-known text, without a reference system (SRID 0)."""

from __future__ import annotations

import struct
from typing import Any

from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import Operand, Row, Rule, evaluate, number_of
from forge.values.spatial.wkb import POINT
from forge.values.spatial.wkt import parse_wkt

_SRID = struct.Struct("<I")


def _point(node: Any, row: Row) -> Operand:
    parts = [evaluate(part, row) for part in node.expressions]
    if None in parts:
        return None
    x, y = (float(number_of(part)) for part in parts)
    return _SRID.pack(0) + struct.pack("<BIdd", 1, POINT, x, y)


def _from_text(node: Any, row: Row) -> Operand:
    text, *others = (evaluate(part, row) for part in node.expressions)
    if text is None:
        return None
    if others not in ([], [0]):
        # MySQL reads the axes of each reference system in their own order.
        raise UnsupportedError("a geometry of another SRID than 0 in expressions is not supported yet")
    return _SRID.pack(0) + parse_wkt(text)


GEOMETRY_RULES: dict[str, Rule] = {
    "POINT": _point,
    "ST_GEOMFROMTEXT": _from_text,
    "ST_GEOMETRYFROMTEXT": _from_text,
    "ST_POINTFROMTEXT": _from_text,
    "ST_LINEFROMTEXT": _from_text,
    "ST_POLYFROMTEXT": _from_text,
}
