"""Geometries and vectors in bulk."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import struct
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.bulk.writing.wire_columns import ColumnWriter
from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.spatial.wkb import NAMES
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, cells_written, plan_of, values_decoded, values_read
from tests.strategies.documents import geometries

pytestmark = pytest.mark.slow

_GEOMETRY = Column(WireType.GEOMETRY, b"\4")
_POINT = struct.pack("<BIdd", 1, 1, 1.5, -2.0)


@st.composite
def _damaged(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    """A value with some bytes changed, cut, or added."""
    data = bytearray(draw(values))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.sampled_from([0, 1, 2, 3, 7, 8, 255]))
    end = draw(st.integers(0, len(data)) | st.just(len(data)))
    return bytes(data[:end]) + draw(st.sampled_from([b"", b"", b"\0"]))


def _cell(column: Column, data: bytes) -> bytes:
    return len(data).to_bytes(-plan_of(column).wire, "little") + data


def _cells(column: Column, values: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[Cell]]:
    whole = values.map(lambda data: _cell(column, data))
    return st.lists(st.one_of(whole, st.sampled_from((NULL, ABSENT))), max_size=8)


def _parted(value: Any) -> Any:
    return {"srid": int.from_bytes(value[:4], "little"), "wkb": value[4:]} if isinstance(value, bytes) else value


@given(cells=_cells(_GEOMETRY, _damaged(geometries())))
def test_geometries_are_read_as_the_codec_reads_them_and_written_again(cells: list[Cell]) -> None:
    values = values_read(_GEOMETRY, cells)
    assert values == [_parted(value) for value in values_decoded(_GEOMETRY, cells)]
    kept = [cell for cell, value in zip(cells, values, strict=True) if value != ODD]
    array = pa.array([value for value in values if value != ODD], plan_of(_GEOMETRY).arrow_type)
    assert cells_written(plan_of(_GEOMETRY), array) == [None if isinstance(cell, int) else cell for cell in kept]


@given(data=st.data())
def test_geometries_are_written_where_their_column_takes_them(data: st.DataObject) -> None:
    kind, srid = data.draw(st.sampled_from(NAMES)), data.draw(st.sampled_from([None, 4326]))
    column = column_for(SqlType(kind, srid=srid))
    values = data.draw(st.lists(_damaged(geometries()).filter(lambda value: len(value) >= 4), max_size=8))
    array = pa.array([_parted(value) for value in values], plan_of(column).arrow_type)
    assert cells_written(plan_of(column), array) == [_expected(column, value) for value in values]


@pytest.mark.parametrize("levels", [63, 64, 65, 500])
def test_collections_in_collections_are_followed_as_deep_as_they_go(levels: int) -> None:
    whole = bytes(4) + struct.pack("<BII", 1, 7, 1) * levels + _POINT
    cells: list[Cell] = [_cell(_GEOMETRY, whole), _cell(_GEOMETRY, whole[:-1]), _cell(_GEOMETRY, whole)]
    assert values_read(_GEOMETRY, cells) == [_parted(whole), ODD, _parted(whole)]


def test_a_geometry_without_one_of_its_parts_is_odd() -> None:
    plan = plan_of(_GEOMETRY)
    parts = [{"srid": None, "wkb": _POINT}, None, {"srid": 0, "wkb": None}, {"srid": 0, "wkb": _POINT}]
    assert cells_written(plan, pa.array(parts, plan.arrow_type)) == [
        ODD,
        None,
        ODD,
        _cell(_GEOMETRY, bytes(4) + _POINT),
    ]


def _expected(column: Column, value: Any) -> bytes | str | None:
    """The cell that the reference makes of a declared value."""
    codec = codec_for(column)
    try:
        return None if value is None else codec.encode(column, codec.accept(column, value))
    except ScenarioError:
        return ODD


_VECTORS = [
    column_for(SqlType("VECTOR", length=3)),
    column_for(SqlType("VECTOR", length=3), server="mariadb"),
    column_for(SqlType("VECTOR", length=64), server="mariadb"),
    Column(WireType.VECTOR, b"\4"),
]


def _floats(value: Any) -> Any:
    return (
        [item for (item,) in struct.iter_unpack("<f", value)]
        if isinstance(value, bytes) and len(value) % 4 == 0
        else ODD
    )


@given(column=st.sampled_from(_VECTORS), data=st.data())
def test_vectors_are_read_as_the_codec_reads_them(column: Column, data: st.DataObject) -> None:
    numbers = st.lists(
        st.floats(width=32, allow_nan=False, allow_infinity=column.type_code == WireType.VECTOR), max_size=5
    )
    values = numbers.map(lambda items: struct.pack(f"<{len(items)}f", *items))
    cells = data.draw(_cells(column, st.one_of(values, values.map(lambda value: value[:-1]))))
    decoded = values_decoded(column, cells)
    assert values_read(column, cells) == [_floats(value) if value is not None else None for value in decoded]


@given(column=st.sampled_from(_VECTORS), data=st.data())
def test_vectors_are_written_as_the_codec_writes_them(column: Column, data: st.DataObject) -> None:
    plan = plan_of(column)
    numbers = st.one_of(st.sampled_from([0.0, 1.5, 1e18, 9.9e18, 3e38]), st.floats(width=32))
    values = data.draw(st.lists(st.one_of(st.lists(numbers, max_size=4), st.none()), max_size=8))
    array = pa.array(values, plan.arrow_type)
    for value, written in zip(array.to_pylist(), cells_written(plan, array), strict=True):
        expected = _expected(column, None if value is None else struct.pack(f"<{len(value)}f", *value))
        if written == ODD and value is not None and sum(item * item for item in value) >= 1e38:
            continue  # Near the longest vector of MariaDB the reference decides.
        assert written == expected


def test_a_vector_with_a_null_in_it_is_odd() -> None:
    plan = plan_of(_VECTORS[0])
    array = pa.array([[1.0], [None, 2.0], None, [3.0], [None]], plan.arrow_type)
    one, three = (_cell(_VECTORS[0], struct.pack("<f", number)) for number in (1, 3))
    assert cells_written(plan, array) == [one, ODD, None, three, ODD]


def test_a_geometry_that_the_reference_writes_keeps_its_axes() -> None:
    """A mapping is declared for ST_GeomFromWKB, which turns those of 4326 round.  Signed SRIDs are cast."""
    values = [{"srid": 4326, "wkb": _POINT}, None, {"srid": 0, "wkb": _POINT}]
    assert plan_of(_GEOMETRY).declared(values[0]) == struct.pack("<I", 4326) + _POINT
    writer = ColumnWriter(_GEOMETRY)
    for array in (pa.array(values), pa.array(values, plan_of(_GEOMETRY).arrow_type)):
        made, odd = writer.write(array, 0)
        assert not odd
        found = [made.values[at : at + length].tobytes() for at, length in zip(made.starts, made.lengths, strict=True)]
        assert [found[0], found[2]] == [struct.pack("<I", srid) + _POINT for srid in (4326, 0)]
