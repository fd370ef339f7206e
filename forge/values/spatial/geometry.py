"""GEOMETRY and its subtypes (type 255): ``u32 length | u32 SRID LE | WKB`` (Field_geom of sql/field.cc).

The value of a cell is its bytes: SRID and WKB.  Declared and printed text has the axes in the order that is stored,
``POINT(x y)`` with longitude first in geographic systems: SQL's ``ST_GeomFromText('POINT(48 16)', 4326)`` (latitude
first) is declared ``SRID=4326;POINT(16 48)``.  The column's own SRID is not logged; the subtype is, in the optional
metadata.  MySQL and MariaDB take the stored form as a binary literal, as mysqldump writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from forge.errors import FormatError, ScenarioError
from forge.servers.facts.values import Dialect
from forge.values.base import Column, Piece, TypedValue, Value
from forge.values.cells import LengthPrefixed
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import hex_mapping, hexadecimal, shown
from forge.values.spatial.reference_systems import is_known
from forge.values.spatial.wkb import GEOMETRYCOLLECTION, MEMBERS, NAMES, wkb_text, wkb_type
from forge.values.spatial.wkb_input import stored_wkb
from forge.values.spatial.wkt import parse_wkt
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.wire_types import WireType

_SRID: Final = re.compile(r"\s*SRID\s*=\s*([0-9]{1,10})\s*;", re.I)
_SRID_SIZE: Final = 4
_EXPECTED: Final = (
    "WKT like 'POINT(1 2)' or 'SRID=4326;POINT(1 2)', {wkt: ..., srid: ...}, {wkb: ..., srid: ...} or {hex: ...}"
)


class GeometryCodec(LengthPrefixed):
    """An SRID and well-known binary behind a length of 4 bytes."""

    type_codes = (WireType.GEOMETRY,)
    metadata_space = "geometry"

    def decode(self, column: Column, raw: bytes) -> bytes:
        """The SRID and the WKB.  Raises FormatError unless they are one whole little-endian geometry."""
        value = self.payload(column, raw)
        try:
            _split(value)
        except FormatError as error:
            raise error.within(base=self.prefix(column)) from None
        return value

    def encode(self, column: Column, value: Value) -> bytes:
        """The cell of an SRID and WKB, which are not looked at: broken geometries can be made on purpose."""
        if not isinstance(value, bytes):
            raise ScenarioError(f"a geometry value is bytes, not {type(value).__name__}")
        return self.framed(column, value)

    def accept(self, column: Column, declared: Any) -> bytes:
        """The value for WKT or EWKT, for a mapping with ``wkt`` or ``wkb`` and ``srid``, or for the bytes as stored.

        Without an SRID that of the declared column counts, else 0.  Subtype and SRID must be the column's; whether
        a spatial reference system exists and what range its axes have is not checked.
        """
        value = self._value(column, declared)
        try:
            srid, wkb = _split(value)
        except FormatError as error:
            raise ScenarioError(f"the bytes are not a geometry: {error.rule}") from None
        if not holds(column, wkb_type(wkb)):
            raise ScenarioError(f"a {self.type_name(column)} column cannot hold a {NAMES[wkb_type(wkb)]}")
        expected = column.declared.srid if column.declared else None
        if expected is not None and srid != expected:
            raise ScenarioError(f"a column of SRID {expected} cannot hold a geometry of SRID {srid}")
        return value

    def _value(self, column: Column, declared: Any) -> bytes:
        if isinstance(declared, bytes):
            return declared
        if is_wkb(declared):
            wkb_srid, data = _wkb(column, declared)
            return wkb_srid.to_bytes(_SRID_SIZE, "little") + stored_wkb(column, data, wkb_srid)
        srid = column.declared.srid if column.declared else None
        if isinstance(declared, Mapping) and "wkt" in declared:
            if set(declared) - {"wkt", "srid"}:
                raise ScenarioError(f"a geometry cannot be the mapping {shown(dict(declared))}", expected=_EXPECTED)
            srid, text = declared.get("srid", srid), declared["wkt"]
        elif isinstance(declared, Mapping):
            return hex_mapping(declared) or b""
        else:
            text = declared
        if not isinstance(text, str):
            raise ScenarioError(f"a geometry cannot be {shown(text)}", expected=_EXPECTED)
        if match := _SRID.match(text):
            srid, text = int(match[1]), text[match.end() :]
        return _srid(srid).to_bytes(_SRID_SIZE, "little") + parse_wkt(text, short_lines=column.dialect.short_lines)

    def text(self, column: Column, value: Value) -> str | None:
        """WKT in stored axis order, with ``SRID=n;`` unless that is 0; None if a coordinate is not a number."""
        srid, wkb = _split(value)
        text = wkb_text(wkb)
        return f"SRID={srid};{text}" if srid and text else text

    def typed(self, column: Column, value: Value) -> TypedValue:
        srid, wkb = _split(value)
        return {"geometry": {"srid": srid, "wkb": wkb.hex()}}

    def sql(self, column: Column, value: Value) -> str:
        return f"x'{value.hex()}'"

    def wkb_sql(self, column: Column, declared: Mapping[str, Any]) -> str:
        """The expression for a mapping with ``wkb`` that was accepted: the server converts the bytes."""
        srid, data = _wkb(column, declared)
        return f"ST_GeomFromWKB({hexadecimal(data)}, {srid})"

    def type_name(self, column: Column) -> str:
        kind = column.geometry_type or 0
        return NAMES[kind] if kind < len(NAMES) else NAMES[0]

    def explain(self, column: Column, raw: bytes) -> list[Piece]:
        size = self.prefix(column)
        srid, wkb = _split(self.decode(column, raw))
        start = size + _SRID_SIZE
        text = wkb_text(wkb)
        return [
            Piece(0, raw[:size], f"{len(raw) - size} bytes follow"),
            Piece(size, raw[size:start], f"SRID {srid}"),
            Piece(start, wkb[:1], "byte order: little-endian"),
            Piece(start + 1, wkb[1:5], f"type {wkb_type(wkb)}: {NAMES[wkb_type(wkb)]}"),
            Piece(start + 5, wkb[5:], text or "coordinates that are not all numbers"),
        ]


def is_wkb(declared: Any) -> bool:
    """Whether a cell is ``{wkb: ..., srid: ...}``."""
    return isinstance(declared, Mapping) and "wkb" in declared


def _wkb(column: Column, declared: Mapping[str, Any]) -> tuple[int, bytes]:
    """The SRID, without one the column's or 0, and the bytes of a mapping with ``wkb``."""
    if set(declared) - {"wkb", "srid"}:
        raise ScenarioError(f"a geometry cannot be the mapping {shown(dict(declared))}", expected=_EXPECTED)
    srid = _srid(declared.get("srid", column.declared.srid if column.declared else None))
    data = declared["wkb"]
    if isinstance(data, (bytes, bytearray)):
        return srid, bytes(data)
    if not isinstance(data, str):
        raise ScenarioError(f"wkb cannot be {shown(data)}", expected="hex digits in quotes, or bytes")
    return srid, hex_mapping({"hex": data}) or b""


def _srid(srid: Any) -> int:
    srid = srid or 0
    if isinstance(srid, bool) or not isinstance(srid, int) or not 0 <= srid < 1 << 32:
        raise ScenarioError(f"an SRID is an integer below 4294967296, not {shown(srid)}")
    return srid


def _split(value: bytes) -> tuple[int, bytes]:
    """SRID and WKB of a value.  Raises FormatError unless the WKB is one whole geometry."""
    if len(value) < _SRID_SIZE:
        raise FormatError(f"a geometry has an SRID of 4 bytes, not {len(value)}", phase="value", offset=0)
    try:
        wkb_text(value[_SRID_SIZE:])
    except FormatError as error:
        raise error.within(base=_SRID_SIZE) from None
    return int.from_bytes(value[:_SRID_SIZE], "little"), value[_SRID_SIZE:]


GEOMETRY = GeometryCodec()


def holds(column: Column, kind: int) -> bool:
    """Whether the column's type allows a geometry of that kind."""
    if not column.geometry_type or column.geometry_type == kind:
        return True
    of_many = column.dialect.collection_holds == "any" or kind in MEMBERS
    return column.geometry_type == GEOMETRYCOLLECTION and of_many


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    # MariaDB counts geometry columns as character columns of the binary collation.
    number = BINARY_COLLATION if dialect.geometry_is_character else None
    if sql_type.srid is not None and dialect.knows_reference_systems and not is_known(sql_type.srid):
        raise ScenarioError(f"there is no spatial reference system with SRID {sql_type.srid}", expected="0, 4326 ...")
    return Column(WireType.GEOMETRY, b"\x04", collation=number, geometry_type=NAMES.index(sql_type.name))


def _geometry(name: str) -> ColumnType:
    return ColumnType(
        name=name,
        facts=TypeFacts(
            kind="geometry",
            is_blob=True,
            in_key="none",
            literal_default=False,
            comparable=False,
            loadable=False,
            refuses_implicit_default=True,
            refuses_null_always=True,
        ),
        declare=_declare,
        aliases=("GEOMCOLLECTION",) if name == "GEOMETRYCOLLECTION" else (),
        examples=(SqlType(name),),
    )


FAMILY = Family(codecs=(GEOMETRY,), column_types=tuple(map(_geometry, NAMES)))
