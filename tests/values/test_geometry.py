"""GEOMETRY columns: well-known text and binary as MySQL 9.7 reads, stores and prints them."""

import math
import struct
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.spatial.geometry import GEOMETRY
from forge.values.spatial.wkb import coordinate_text
from forge.values.spatial.wkt import parse_wkt

COLUMN = Column(255, b"\x04", geometry_type=0)

#: Declared text, the logged value, the text of ST_AsText with axis-order=long-lat.
RECORDED = [
    ("POINT(1 2)", "00000000 01 01000000 000000000000f03f 0000000000000040", "POINT(1 2)"),
    (" point( -1.5  +2 ) ", "00000000 01 01000000 000000000000f8bf 0000000000000040", "POINT(-1.5 2)"),
    ("POINT(.5 5.)", "00000000 01 01000000 000000000000e03f 0000000000001440", "POINT(0.5 5)"),
    ("POINT(1e17 -0.0)", "00000000 01 01000000 00a0d88557347643 0000000000000080", "POINT(1e17 -0)"),
    ("POINT(0.1 1e-7)", "00000000 01 01000000 9a9999999999b93f 48afbc9af2d77a3e", "POINT(0.1 0.0000001)"),
    (
        "SRID=4326;POINT(20 10)",
        "e6100000 01 01000000 0000000000003440 0000000000002440",
        "SRID=4326;POINT(20 10)",
    ),
    ("GEOMETRYCOLLECTION EMPTY", "00000000 01 07000000 00000000", "GEOMETRYCOLLECTION EMPTY"),
    ("GeometryCollection( )", "00000000 01 07000000 00000000", "GEOMETRYCOLLECTION EMPTY"),
    (
        "MULTIPOINT(1 2,3 4)",
        "00000000 01 04000000 02000000 01 01000000 000000000000f03f 0000000000000040"
        "01 01000000 0000000000000840 0000000000001040",
        "MULTIPOINT((1 2),(3 4))",
    ),
    (
        "GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)),GEOMETRYCOLLECTION EMPTY)",
        "00000000 01 07000000 02000000 01 07000000 01000000 01 01000000 000000000000f03f 0000000000000040"
        "01 07000000 00000000",
        "GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)),GEOMETRYCOLLECTION EMPTY)",
    ),
]


@pytest.mark.parametrize(("declared", "value", "text"), RECORDED)
def test_text_becomes_the_bytes_and_the_text_of_the_server(declared: str, value: str, text: str) -> None:
    data = GEOMETRY.accept(COLUMN, declared)
    assert data == bytes.fromhex(value.replace(" ", ""))
    assert GEOMETRY.text(COLUMN, data) == text
    assert GEOMETRY.accept(COLUMN, text) == data
    assert GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, data)) == data


@pytest.mark.parametrize(
    "text",
    [
        "LINESTRING(0 0,1 1)",
        "POLYGON((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))",
        "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))",
        "GEOMETRYCOLLECTION(MULTIPOINT((1 1)),LINESTRING(0 0,0 0))",
    ],
)
def test_every_type_of_geometry_survives_text_and_bytes(text: str) -> None:
    assert GEOMETRY.text(COLUMN, GEOMETRY.accept(COLUMN, text)) == text


def test_a_cell_is_a_length_the_srid_and_the_geometry() -> None:
    data = GEOMETRY.accept(COLUMN, "POINT(1 2)")
    assert GEOMETRY.encode(COLUMN, data).hex() == "19000000" + data.hex()
    pieces = GEOMETRY.explain(COLUMN, GEOMETRY.encode(COLUMN, data))
    assert b"".join(piece.data for piece in pieces) == GEOMETRY.encode(COLUMN, data)
    assert [piece.meaning for piece in pieces][-2:] == ["type 1: POINT", "POINT(1 2)"]


def test_a_literal_is_the_stored_form() -> None:
    assert GEOMETRY.sql(COLUMN, GEOMETRY.accept(COLUMN, "GEOMETRYCOLLECTION EMPTY")) == "x'00000000010700000000000000'"


@pytest.mark.parametrize(
    "declared",
    [{"wkt": "POINT(1 2)", "srid": 4326}, {"wkt": "SRID=4326;POINT(1 2)"}, "srid = 4326 ; POINT(1 2)",
     {"hex": "e61000000101000000000000000000f03f0000000000000040"}],
)  # fmt: skip
def test_the_srid_is_declared_before_the_text_or_beside_it(declared: Any) -> None:
    assert GEOMETRY.text(COLUMN, GEOMETRY.accept(COLUMN, declared)) == "SRID=4326;POINT(1 2)"


def test_the_srid_of_the_column_is_the_default_and_the_only_one() -> None:
    column = Column(255, b"\x04", geometry_type=1, declared=SqlType("POINT", srid=4326))
    assert GEOMETRY.text(column, GEOMETRY.accept(column, "POINT(1 2)")) == "SRID=4326;POINT(1 2)"
    with pytest.raises(ScenarioError, match="SRID 4326 cannot hold a geometry of SRID 0"):
        GEOMETRY.accept(column, "SRID=0;POINT(1 2)")


def test_a_column_of_a_subtype_holds_that_subtype_only() -> None:
    column = Column(255, b"\x04", geometry_type=2)
    assert GEOMETRY.type_name(column) == "LINESTRING"
    with pytest.raises(ScenarioError, match="LINESTRING column cannot hold a POINT"):
        GEOMETRY.accept(column, "POINT(1 2)")


@pytest.mark.parametrize(
    "text",
    ["", "POINT", "POINT EMPTY", "POINT()", "POINT(1)", "POINT(1,2)", "POINT(1 2", "POINT(1 2) x", "POINT(1 2 3)",
     "POINT(nan 1)", "POINT(1e400 1)", "POINT(0x1 2)", "POINT(- 1 2)", "POINT(1e 2)", "POINT(1 2);", "POINT Z(1 2 3)",
     "LINESTRING(0 0)", "LINESTRING()", "LINESTRING EMPTY", "POLYGON((0 0,1 0,0 0))", "POLYGON((0 0,1 0,1 1,0 1))",
     "MULTIPOINT EMPTY", "MULTIPOINT()", "MULTIPOINT(1 2,(3 4))", "MULTIPOINT((1 2),3 4)", "MULTIPOINT((1 2)(3 4))",
     "MULTILINESTRING EMPTY", "GEOMETRYCOLLECTION(EMPTY)", "GEOMCOLLECTION(POINT(1 2))", "GEOMETRYCOLLECTION(1 2)",
     "SRID=4326", "SRID=99999999999;POINT(1 2)"],
)  # fmt: skip
def test_what_the_server_refuses_as_text_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError):
        GEOMETRY.accept(COLUMN, text)


def test_an_error_in_text_names_position_and_suggestion() -> None:
    with pytest.raises(ScenarioError, match=r"position 0: 'POIN.*did you mean 'POINT'"):
        parse_wkt("POIN(1 2)")


@pytest.mark.parametrize("declared", [1, None, {"wkt": 5}, {"wkt": "POINT(1 2)", "x": 1}, {"srid": 1}, {"hex": ""},
                                      {"wkt": "POINT(1 2)", "srid": -1}, {"hex": "00000000"}, b"\x00"])  # fmt: skip
def test_other_declarations_are_refused(declared: Any) -> None:
    with pytest.raises(ScenarioError):
        GEOMETRY.accept(COLUMN, declared)


def _point(x: float, y: float) -> bytes:
    return b"\x01\x01\0\0\0" + struct.pack("<dd", x, y)


@pytest.mark.parametrize(
    "wkb",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00\x00\x00\x00\x01" + bytes(16), id="big-endian"),
        pytest.param(_point(1, 2)[:-1], id="cut"),
        pytest.param(_point(1, 2) + b"x", id="bytes behind"),
        pytest.param(b"\x01\x00\0\0\0" + bytes(4), id="type 0"),
        pytest.param(b"\x01\x08\0\0\0" + bytes(4), id="type 8"),
        pytest.param(b"\x01\x01\0\0\x20\xe6\x10\0\0" + bytes(16), id="EWKB"),
        pytest.param(b"\x01\x02\0\0\0\xff\xff\xff\xff", id="huge count of points"),
        pytest.param(b"\x01\x03\0\0\0\xff\xff\xff\xff", id="huge count of rings"),
        pytest.param(b"\x01\x07\0\0\0\xff\xff\xff\xff", id="huge count of geometries"),
        pytest.param(b"\x01\x04\0\0\0\x01\0\0\0\x01\x02\0\0\0\0\0\0\0", id="a line in a multipoint"),
        pytest.param(b"\x01\x04\0\0\0\x01\0\0\0\x00\0\0\0\x01" + bytes(16), id="a big-endian part"),
        pytest.param(b"\x01\x07\0\0\0\x02\0\0\0" + _point(1, 2), id="a missing part"),
    ],
)
def test_malformed_geometries_are_refused(wkb: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, bytes(4) + wkb))
    assert caught.value.phase == "value"
    assert (caught.value.offset or 0) >= 4


@pytest.mark.parametrize("cell", [b"", b"\x19\0\0\0", b"\x03\0\0\0\0\0\0", b"\0\0\0\0"])
def test_cells_without_a_geometry_are_refused(cell: bytes) -> None:
    with pytest.raises(FormatError):
        GEOMETRY.decode(COLUMN, cell)


def test_coordinates_that_are_not_numbers_decode_and_have_no_text() -> None:
    # MySQL 9.7 stores them from a binary literal and cannot print them.
    for wkb in (_point(math.nan, 1), b"\x01\x07\0\0\0\x01\0\0\0" + _point(1, math.inf)):
        value = GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, bytes(4) + wkb))
        assert GEOMETRY.text(COLUMN, value) is None


def test_geometries_with_too_few_points_decode_as_mariadb_stores_them() -> None:
    one = b"\x01\x02\0\0\0\x01\0\0\0" + struct.pack("<dd", 0, 0)
    assert GEOMETRY.text(COLUMN, bytes(4) + one) == "LINESTRING(0 0)"
    assert GEOMETRY.text(COLUMN, bytes(4) + b"\x01\x02\0\0\0\0\0\0\0") == "LINESTRING EMPTY"
    assert GEOMETRY.text(COLUMN, bytes(4) + b"\x01\x05\0\0\0\0\0\0\0") == "MULTILINESTRING EMPTY"


def test_collections_may_nest_thousands_of_levels_deep() -> None:
    text = "GEOMETRYCOLLECTION(" * 5000 + "POINT(1 2)" + ")" * 5000
    data = GEOMETRY.accept(COLUMN, text)
    assert GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, data)) == data
    assert GEOMETRY.text(COLUMN, data) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e15, "1e15"), (9.503613361626335e-9, "9.503613361626335e-9"), (1e-9, "0.000000001"), (-0.0, "-0"),
     (0.00000123456789012345678, "0.0000012345678901234567"), (-0.00000123456789012345, "-0.00000123456789012345")],
)  # fmt: skip
def test_coordinates_print_as_the_server_prints_them(value: float, text: str) -> None:
    assert coordinate_text(value) == text


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PAIRS = st.tuples(NUMBERS, NUMBERS).map(lambda pair: f"{pair[0]!r} {pair[1]!r}")
LINES = st.lists(PAIRS, min_size=2, max_size=4).map(lambda points: f"({','.join(points)})")
RINGS = st.lists(PAIRS, min_size=3, max_size=4).map(lambda points: f"({','.join([*points, points[0]])})")
POLYGONS = st.lists(RINGS, min_size=1, max_size=2).map(lambda rings: f"({','.join(rings)})")
SIMPLE = st.one_of(
    PAIRS.map("POINT({})".format),
    LINES.map("LINESTRING{}".format),
    POLYGONS.map("POLYGON{}".format),
    st.lists(PAIRS, min_size=1, max_size=3).map(lambda pairs: f"MULTIPOINT({','.join(pairs)})"),
    st.lists(LINES, min_size=1, max_size=3).map(lambda lines: f"MULTILINESTRING({','.join(lines)})"),
    st.lists(POLYGONS, min_size=1, max_size=3).map(lambda polygons: f"MULTIPOLYGON({','.join(polygons)})"),
)
GEOMETRIES = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3).map(lambda parts: f"GEOMETRYCOLLECTION({','.join(parts)})")
)


@given(GEOMETRIES, st.integers(0, 2**32 - 1))
def test_the_text_of_a_geometry_gives_its_bytes_back(text: str, srid: int) -> None:
    value = GEOMETRY.accept(COLUMN, {"wkt": text, "srid": srid})
    printed = GEOMETRY.text(COLUMN, GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, value)))
    assert GEOMETRY.accept(COLUMN, printed) == value


@given(GEOMETRIES, st.data())
def test_damaged_geometries_decode_or_raise_a_format_error(text: str, data: st.DataObject) -> None:
    value = bytearray(GEOMETRY.accept(COLUMN, text))
    value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    del value[data.draw(st.integers(0, len(value))) :]
    with suppress(FormatError):  # and nothing else
        GEOMETRY.text(COLUMN, GEOMETRY.decode(COLUMN, GEOMETRY.encode(COLUMN, bytes(value))))


@given(st.text(alphabet="POINTLSRGEMUYC() ,;=0123456789.-+e\n\x00é", max_size=40))
def test_arbitrary_text_is_a_geometry_or_raises_a_scenario_error(text: str) -> None:
    for start in ("", "POINT(", "MULTIPOINT((1 2),", "GEOMETRYCOLLECTION("):
        with suppress(ScenarioError):  # and nothing else
            GEOMETRY.accept(COLUMN, start + text)
