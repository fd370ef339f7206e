"""FLOAT, DOUBLE, BIT and YEAR in bulk."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.bulk.registry import column_plan
from forge.errors import FormatError, ScenarioError
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.declaration.typetext import parse_type
from forge.values.registry import codec_for, column_for
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow

COLUMNS = {
    "floats": strategies.float_columns(),
    "bits": strategies.bit_columns(),
    "years": strategies.temporal_columns().filter(lambda column: column.type_code == WireType.YEAR),
}


def bits_of(value: Any) -> Any:
    """A float by its bytes: -0.0 is not 0.0, and one NaN is another's equal."""
    return struct.pack("<d", value) if isinstance(value, float) and not math.isnan(value) else repr(value)


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS.keys())
@given(data=st.data())
def test_any_cell_is_read_as_the_codec_reads_it(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    size = plan_of(column).wire
    cells: list[Cell] = [codec_for(column).encode(column, value) for value in codec_for(column).examples(column)]
    some = st.binary(min_size=size, max_size=size)
    cells += data.draw(st.lists(st.one_of(some, st.sampled_from((NULL, ABSENT))), max_size=20))
    expected = values_decoded(column, cells)
    assert list(map(bits_of, values_read(column, cells))) == list(map(bits_of, expected))


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS.keys())
@given(data=st.data())
def test_a_value_is_written_as_the_codec_writes_it(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    values = data.draw(st.lists(st.one_of(strategies.values_for(column), st.none()), max_size=20))
    expected = [None if value is None else codec_for(column).encode(column, value) for value in values]
    plan = plan_of(column)
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


#: (type, server, values that the column takes, values that it refuses or changes)
TAKEN = [
    ("FLOAT", "mysql", [0.5, -0.0, -1.5], [math.nan, math.inf, -math.inf]),
    ("DOUBLE", "mysql", [1e308, -0.0, 5e-324, -5e-324], [math.nan, math.inf, -math.inf]),
    ("DOUBLE", "mariadb", [0.0, -1.0], [-0.0]),
    ("FLOAT UNSIGNED", "mysql", [0.5, -0.0], [-0.5, -1e-45]),
    ("DOUBLE UNSIGNED", "mysql", [0.5, -0.0], [-0.5, -5e-324, -math.inf]),
    ("FLOAT(7,3)", "mysql", [0.125, 0.5, 9999.0, -3.25], [0.0625, 1e-9, 10000.0, 1e30, math.nan, -0.0]),
    ("DOUBLE(7,3)", "mysql", [0.1, 0.125, 0.001, -9999.999], [0.0625, 0.3 - 0.1, 1e300, math.nan, -0.0]),
    ("BIT(7)", "mysql", [0, 127], [128, 255, 256, 2**64 - 1]),
    ("BIT(64)", "mysql", [0, 2**64 - 1], []),
    ("YEAR", "mysql", [0, 1901, 2155], [-32768, -1, 1, 50, 1900, 2156, 32767]),
]


@pytest.mark.parametrize(("type_text", "server", "taken", "refused"), TAKEN)
def test_what_the_codec_refuses_or_changes_is_odd(
    type_text: str, server: str, taken: list[Any], refused: list[Any]
) -> None:
    column = column_for(parse_type(type_text), server=server)
    plan, codec = plan_of(column), codec_for(column)
    for value in refused:
        assert is_changed(column, value), value
    array = pa.array([*taken, *refused], plan.arrow_type)
    written = [codec.encode(column, codec.accept(column, value)) for value in array.to_pylist()[: len(taken)]]
    assert cells_written(plan, array) == [*written, *[ODD] * len(refused)]


def is_changed(column: Column, value: Any) -> bool:
    codec = codec_for(column)
    try:
        return bool(bits_of(codec.accept(column, value)) != bits_of(value))
    except ScenarioError:
        return True


@pytest.mark.parametrize(("scale", "name"), [(0, "FLOAT"), (3, "FLOAT"), (2, "DOUBLE"), (30, "DOUBLE")])
@given(data=st.data())
def test_a_stated_scale_makes_exactly_those_values_odd_that_the_codec_changes(
    scale: int, name: str, data: st.DataObject
) -> None:
    column = column_for(SqlType(name, precision=scale + 5, scale=scale))
    width = 32 if name == "FLOAT" else 64
    some = st.floats(width=32) if width == 32 else st.floats()
    near = st.integers(-(10**6), 10**6).map(lambda number: codec_for(column).accept(column, number / 1000.0 / 1000))
    values = data.draw(st.lists(st.one_of(some, near), max_size=20))
    plan = plan_of(column)
    expected = [ODD if is_changed(column, value) else codec_for(column).encode(column, value) for value in values]
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


@pytest.mark.parametrize(
    "column", [Column(WireType.FLOAT, b"\x08"), Column(WireType.DOUBLE), Column(WireType.BIT, b"\x08\x00")]
)
def test_metadata_that_no_such_column_has_are_a_format_error(column: Column) -> None:
    with pytest.raises(FormatError) as caught:
        column_plan(column)
    assert caught.value.phase == "metadata"
