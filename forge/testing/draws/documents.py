"""JSON documents, geometries and vectors, as forge.values holds them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from forge.testing.draws.source import Source
from forge.values.json.binary import Opaque, SqlInteger, encode_document
from forge.values.json.opaque import opaque_decimal

#: Integers around the borders of the binary form's classes.
_BORDERS = (0, -1, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**64 - 1)
_COORDINATES = (0.0, -0.0, 1.5, -180.0, 90.0, 1e-300, 1e300)

_SCALARS: tuple[Callable[[Source], Any], ...] = (
    lambda source: None,
    lambda source: source.truth(),
    lambda source: source.one_of(_BORDERS),
    lambda source: source.integer(-(2**63), 2**64 - 1),
    lambda source: source.real(),
    lambda source: source.text(20),
    # Those that only SQL puts into documents.
    lambda source: SqlInteger(source.integer(0, 2**32 - 1), True),
    lambda source: opaque_decimal(Decimal(source.integer(-(10**12), 10**12)).scaleb(-3)),
    lambda source: Opaque(source.one_of((15, 16, 252)), source.binary(20)),
)


def json_scalar(source: Source) -> Any:
    """null, truth, numbers, text, and the values that only SQL puts into documents."""
    return source.one_of(_SCALARS)(source)


def json_value(source: Source, depth: int = 3) -> Any:
    """A document as a Python value."""
    kind = source.integer(0, 3) if depth else 0
    if kind < 2:
        return json_scalar(source)
    if kind == 2:
        return source.several(lambda inner: json_value(inner, depth - 1), 0, 6)
    return {source.text(5): json_value(source, depth - 1) for _ in range(source.integer(0, 6))}


def json_document(source: Source) -> bytes:
    """A document in MySQL's binary form."""
    return encode_document(json_value(source))


def _point(source: Source) -> bytes:
    return struct.pack("<2d", *(source.one_of(_COORDINATES) if source.truth() else source.real() for _ in range(2)))


def _counted(parts: list[bytes]) -> bytes:
    return struct.pack("<I", len(parts)) + b"".join(parts)


def _tagged(kind: int, body: bytes) -> bytes:
    return struct.pack("<BI", 1, kind) + body


def _ring(source: Source) -> bytes:
    """A closed ring of at least four points."""
    points = source.several(_point, 3, 5)
    return _counted([*points, points[0]])


_SIMPLE: tuple[Callable[[Source], bytes], ...] = (
    lambda source: _tagged(1, _point(source)),
    lambda source: _tagged(2, _counted(source.several(_point, 2, 4))),
    lambda source: _tagged(3, _counted(source.several(_ring, 1, 2))),
)


def well_known_binary(source: Source, depth: int = 2) -> bytes:
    """WKB of every kind, little-endian as servers store it."""
    kind = source.integer(0, 6 if depth else 5)
    if kind < 3:
        return _SIMPLE[kind](source)
    if kind < 6:
        return _tagged(kind + 1, _counted(source.several(_SIMPLE[kind - 3], 1, 3)))
    return _tagged(7, _counted(source.several(lambda inner: well_known_binary(inner, depth - 1), 0, 3)))


def geometry(source: Source) -> bytes:
    """A cell's value of a geometry column: SRID and WKB."""
    return struct.pack("<I", source.one_of((0, 4326, 3857))) + well_known_binary(source)


def vector(source: Source, dimensions: int = 8) -> bytes:
    """A cell's value of a VECTOR column: floats of four bytes."""
    parts = [source.real(32) for _ in range(source.integer(1, dimensions))]
    return struct.pack(f"<{len(parts)}f", *parts)
