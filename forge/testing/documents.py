"""Hypothesis strategies for JSON documents, geometries and vectors, as forge.values holds them."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from forge.values.json.binary import Opaque, SqlInteger, encode_document
from forge.values.json.opaque import opaque_decimal

#: Integers around the borders of the binary form's classes.
_BORDERS = (0, -1, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**64 - 1)


def json_scalars() -> st.SearchStrategy[Any]:
    """null, truth, numbers, text, and the values that only SQL puts into documents."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(_BORDERS),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
        st.builds(SqlInteger, st.integers(0, 2**32 - 1), st.just(True)),
        st.builds(opaque_decimal, st.decimals(min_value=-(10**9), max_value=10**9, places=3).map(Decimal)),
        st.builds(Opaque, st.sampled_from([15, 16, 252]), st.binary(max_size=20)),
    )


def json_values(max_leaves: int = 20) -> st.SearchStrategy[Any]:
    """Documents as Python values."""
    return st.recursive(
        json_scalars(),
        lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=5), inner, max_size=6)),
        max_leaves=max_leaves,
    )


def json_documents() -> st.SearchStrategy[bytes]:
    """Documents in MySQL's binary form."""
    return json_values().map(encode_document)


def _coordinates() -> st.SearchStrategy[float]:
    return st.one_of(
        st.sampled_from((0.0, -0.0, 1.5, -180.0, 90.0, 1e-300, 1e300)), st.floats(allow_nan=False, allow_infinity=False)
    )


def _points() -> st.SearchStrategy[bytes]:
    return st.tuples(_coordinates(), _coordinates()).map(lambda point: struct.pack("<2d", *point))


def _counted(parts: list[bytes]) -> bytes:
    return struct.pack("<I", len(parts)) + b"".join(parts)


def _tagged(kind: int, body: bytes) -> bytes:
    return struct.pack("<BI", 1, kind) + body


def _rings() -> st.SearchStrategy[bytes]:
    """Closed rings of at least four points."""
    return st.lists(_points(), min_size=3, max_size=5).map(lambda points: _counted([*points, points[0]]))


def _collected(kind: int, part: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(part, min_size=1, max_size=3).map(lambda parts: _tagged(kind, _counted(parts)))


def well_known_binaries() -> st.SearchStrategy[bytes]:
    """WKB of every kind, little-endian as servers store it."""
    point = _points().map(lambda body: _tagged(1, body))
    line = st.lists(_points(), min_size=2, max_size=4).map(lambda points: _tagged(2, _counted(points)))
    polygon = st.lists(_rings(), min_size=1, max_size=2).map(lambda rings: _tagged(3, _counted(rings)))
    simple = (point, line, polygon)
    several = [_collected(kind, part) for kind, part in zip((4, 5, 6), simple, strict=True)]
    flat = st.one_of(*simple, *several)
    return st.recursive(
        flat, lambda inner: st.lists(inner, max_size=3).map(lambda parts: _tagged(7, _counted(parts))), max_leaves=4
    )


def geometries() -> st.SearchStrategy[bytes]:
    """Cells' values of geometry columns: SRID and WKB."""
    return st.builds(
        lambda srid, wkb: struct.pack("<I", srid) + wkb, st.sampled_from((0, 4326, 3857)), well_known_binaries()
    )


def vectors(max_dimensions: int = 8) -> st.SearchStrategy[bytes]:
    """Cells' values of VECTOR columns: floats of four bytes."""
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return st.lists(number, min_size=1, max_size=max_dimensions).map(
        lambda parts: struct.pack(f"<{len(parts)}f", *parts)
    )
