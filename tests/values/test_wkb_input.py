"""Well-known binary of either byte order as ``ST_GeomFromWKB`` of MySQL 9.7, MariaDB 10.11 and 11.8 stores it."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge import values
from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import dialect_of
from forge.values.spatial.geometry import GEOMETRY
from forge.values.spatial.wkb import GEOMETRYCOLLECTION, LINESTRING, MEMBERS, POINT
from forge.values.spatial.wkb_input import stored_wkb
from tests.strategies.documents import well_known_binaries

ON_MYSQL = Column(255, b"\x04", geometry_type=0, dialect=dialect_of("mysql"))
ON_MARIADB = Column(255, b"\x04", geometry_type=0, dialect=dialect_of("mariadb"))
BOTH = pytest.mark.parametrize("column", [ON_MYSQL, ON_MARIADB], ids=["MySQL", "MariaDB"])

BIG_POINT = "00 00000001 4030000000000000 4048000000000000"
LITTLE_POINT = "01 01000000 0000000000003040 0000000000004840"
TURNED_POINT = "01 01000000 0000000000004840 0000000000003040"
ONE_POINT_LINE = "00 00000002 00000001 3ff0000000000000 4000000000000000"


def big(kind: int, *parts: str) -> str:
    return f"00 {kind:08x} {len(parts):08x} {' '.join(parts)}"


def little(kind: int, *parts: str) -> str:
    return f"01 {struct.pack('<II', kind, len(parts)).hex()} {' '.join(parts)}"


def accepted(column: Column, wkb: str, srid: int = 0) -> str:
    return GEOMETRY.accept(column, {"wkb": wkb, "srid": srid}).hex()


def stored(wkb: str, srid: int = 0) -> str:
    return struct.pack("<I", srid).hex() + wkb.replace(" ", "")


@BOTH
@pytest.mark.parametrize(
    ("wkb", "expected"),
    [
        (BIG_POINT, LITTLE_POINT),
        (LITTLE_POINT, LITTLE_POINT),
        (big(7), little(7)),
        (big(7, LITTLE_POINT, BIG_POINT), little(7, LITTLE_POINT, LITTLE_POINT)),
        (little(7, big(7, BIG_POINT)), little(7, little(7, LITTLE_POINT))),
        (big(4, LITTLE_POINT), little(4, LITTLE_POINT)),
        ("00 00000001 8000000000000000 7ff8000000000000", "01 01000000 0000000000000080 000000000000f87f"),
    ],
)
def test_servers_store_every_part_little_endian(column: Column, wkb: str, expected: str) -> None:
    assert accepted(column, wkb) == stored(expected)


def test_only_mariadb_takes_big_endian_parts_of_a_multipoint() -> None:
    assert accepted(ON_MARIADB, big(4, BIG_POINT)) == stored(little(4, LITTLE_POINT))
    with pytest.raises(ScenarioError, match="offset 9: a big-endian part of a MULTIPOINT, which MySQL refuses"):
        accepted(ON_MYSQL, big(4, BIG_POINT))


def test_mysql_stores_the_longitude_of_geographic_systems_first() -> None:
    assert accepted(ON_MYSQL, BIG_POINT, 4326) == stored(TURNED_POINT, 4326)
    assert accepted(ON_MARIADB, BIG_POINT, 4326) == stored(LITTLE_POINT, 4326)
    for srid in (3857, 2393, 7035):
        assert accepted(ON_MYSQL, BIG_POINT, srid) == stored(LITTLE_POINT, srid)


def test_mysql_refuses_places_that_are_not_on_the_globe() -> None:
    def point(x: float, y: float) -> str:
        return (b"\x01\x01\0\0\0" + struct.pack("<dd", x, y)).hex()

    for x, y in ((90.0, 180.0), (-90.0, -180.0)):
        assert accepted(ON_MYSQL, point(x, y), 4326) == stored(point(y, x), 4326)
    for x, y in ((90.1, 0.0), (0.0, -180.1), (float("inf"), 0.0)):
        with pytest.raises(ScenarioError, match="offset 5: longitude"):
            accepted(ON_MYSQL, point(x, y), 4326)
        assert accepted(ON_MARIADB, point(x, y), 4326) == stored(point(x, y), 4326)


def test_systems_of_other_meridians_are_not_supported() -> None:
    with pytest.raises(UnsupportedError, match="SRID 4807"):
        accepted(ON_MYSQL, BIG_POINT, 4807)


@pytest.mark.parametrize("wkb", [ONE_POINT_LINE, big(4), big(6), "00 00000003 00000001 00000001" + "00" * 16])
def test_mariadb_takes_less_than_mysql_does(wkb: str) -> None:
    assert len(accepted(ON_MARIADB, wkb)) == len(stored(wkb))
    with pytest.raises(ScenarioError, match="expected at least"):
        accepted(ON_MYSQL, wkb)


def test_the_ends_of_a_ring_are_compared_as_bytes_by_mysql_and_as_numbers_by_mariadb() -> None:
    minus = struct.pack("<BIII8d", 1, 3, 1, 4, 0.0, 0, 1, 1, 2, 2, -0.0, 0).hex()
    nan = float("nan")
    unequal = struct.pack("<BIII8d", 1, 3, 1, 4, nan, 0, 1, 1, 2, 2, nan, 0).hex()
    assert accepted(ON_MARIADB, minus) == stored(minus)
    assert accepted(ON_MYSQL, unequal) == stored(unequal)
    for column, wkb in ((ON_MYSQL, minus), (ON_MARIADB, unequal)):
        with pytest.raises(ScenarioError, match="offset 9: an open ring"):
            accepted(column, wkb)


@BOTH
@pytest.mark.parametrize(
    ("wkb", "offset"),
    [
        ("", 0), ("02" + BIG_POINT[2:], 0), ("00 0000", 1), ("00 00000008", 1), ("00 000003e9" + "00" * 24, 1),
        ("01 01000020 e6100000" + "00" * 16, 1), (BIG_POINT[:-2], 5), (BIG_POINT + "00", 21), ("00 00000002 0000", 5),
        ("00 00000002 00000000", 5), ("00 00000003 00000000", 5), ("00 00000002 ffffffff", 9),
        (big(7, "02" + BIG_POINT[2:]), 9), (big(4, little(2)), 10), (big(5), 5), ("00 00000007 00000001", 9),
    ],
)  # fmt: skip
def test_malformed_bytes_are_refused_with_their_offset(column: Column, wkb: str, offset: int) -> None:
    with pytest.raises(ScenarioError, match=f"invalid WKB at offset {offset}: "):
        accepted(column, wkb)


@pytest.mark.parametrize(
    ("declared", "match"),
    [({"wkb": 101}, "hex digits in quotes"), ({"wkb": "0"}, "is not hex"), ({"wkb": "00", "x": 1}, "mapping"),
     ({"wkb": "00", "srid": -1}, "SRID"), ({"wkb": "00", "srid": "4326"}, "SRID"), ({"wkb": None}, "hex digits")],
)  # fmt: skip
def test_other_declarations_are_refused(declared: Any, match: str) -> None:
    with pytest.raises(ScenarioError, match=match):
        GEOMETRY.accept(ON_MYSQL, declared)


def test_subtype_and_srid_are_the_columns() -> None:
    column = Column(255, b"\x04", geometry_type=LINESTRING, declared=SqlType("LINESTRING", srid=4326))
    with pytest.raises(ScenarioError, match="LINESTRING column cannot hold a POINT"):
        GEOMETRY.accept(column, {"wkb": BIG_POINT})
    column = Column(255, b"\x04", geometry_type=POINT, declared=SqlType("POINT", srid=4326))
    assert GEOMETRY.accept(column, {"wkb": BIG_POINT}).hex() == stored(TURNED_POINT, 4326)
    with pytest.raises(ScenarioError, match="SRID 4326 cannot hold a geometry of SRID 0"):
        GEOMETRY.accept(column, {"wkb": BIG_POINT, "srid": 0})


def test_python_takes_hex_digits_and_bytes() -> None:
    cell = bytes.fromhex("19000000" + stored(LITTLE_POINT))
    assert values.encode("POINT", {"wkb": BIG_POINT}) == cell
    assert values.encode("GEOMETRY", {"wkb": bytes.fromhex(BIG_POINT)}, server="mariadb-11.8") == cell


def reordered(data: bytes, big_endian: list[bool]) -> bytes:
    """Little-endian WKB with each geometry in the byte order that comes next in the list."""
    made, at = bytearray(), 0

    def numbers(form: str, order: str) -> tuple[Any, ...]:
        nonlocal at, made
        found = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        made += struct.pack(order + form, *found)
        return found

    def geometry() -> None:
        nonlocal at, made
        is_big = big_endian.pop() if big_endian else False
        order = ">" if is_big else "<"
        made.append(not is_big)
        at += 1
        (kind,) = numbers("I", order)
        if kind == POINT:
            numbers("dd", order)
            return
        (count,) = numbers("I", order)
        for _ in range(count):
            if kind in MEMBERS:
                geometry()
            else:
                points = 1 if kind == LINESTRING else numbers("I", order)[0]
                numbers(f"{2 * points}d", order)

    geometry()
    return bytes(made)


@given(well_known_binaries(), st.lists(st.booleans(), max_size=20))
def test_whatever_the_byte_orders_are_the_same_is_stored(wkb: bytes, orders: list[bool]) -> None:
    changed = reordered(wkb, orders)
    try:
        expected = stored_wkb(ON_MARIADB, wkb, 0)
    except ScenarioError:
        with pytest.raises(ScenarioError):
            stored_wkb(ON_MARIADB, changed, 0)
        return
    assert expected == wkb
    assert stored_wkb(ON_MARIADB, changed, 0) == wkb


def test_collections_nest_as_deep_as_one_likes() -> None:
    wkb = bytes.fromhex(big(GEOMETRYCOLLECTION, "")[:-1].replace(" ", "")) * 3000 + bytes.fromhex(BIG_POINT)
    assert len(stored_wkb(ON_MYSQL, wkb, 0)) == len(wkb)
