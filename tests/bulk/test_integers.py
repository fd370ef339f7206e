"""TINYINT to BIGINT in bulk."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow


@given(data=st.data())
def test_integers_are_read_as_the_codec_reads_them_and_written_as_it_writes_them(data: st.DataObject) -> None:
    column = data.draw(strategies.integer_columns())
    plan = plan_of(column)
    some = st.binary(min_size=plan.wire, max_size=plan.wire)
    cells: list[Cell] = data.draw(st.lists(st.one_of(some, st.sampled_from((NULL, ABSENT))), max_size=20))
    cells += [codec_for(column).encode(column, value) for value in codec_for(column).examples(column)]
    values = values_read(column, cells)
    assert values == values_decoded(column, cells)
    expected = [None if isinstance(cell, int) else cell for cell in cells]
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


@pytest.mark.parametrize(("unsigned", "beyond"), [(False, (-(1 << 23) - 1, 1 << 23)), (True, (-1, 1 << 24))])
def test_a_number_that_a_mediumint_cannot_hold_is_odd(unsigned: bool, beyond: tuple[int, int]) -> None:
    plan = plan_of(Column(WireType.INT24, unsigned=unsigned))
    values = [value for value in (1, *beyond) if value >= 0 or not unsigned]
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == [b"\1\0\0", *[ODD] * (len(values) - 1)]
