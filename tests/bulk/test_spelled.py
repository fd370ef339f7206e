"""Texts of dictionary arrays, one behind the other."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.spelled import spelled

pytestmark = pytest.mark.slow

TEXTS = ["", "a", "32 bytes, as many as a word has it", "x" * 32, "y" * 33, "z" * 64, "ä" * 65, "no row has it" * 9]


@pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
@given(places=st.lists(st.one_of(st.none(), st.integers(0, len(TEXTS) - 2)), max_size=40), skipped=st.integers(0, 3))
def test_each_index_becomes_its_text(index: pa.DataType, places: list[int | None], skipped: int) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array(places, index), pa.array(TEXTS)).slice(skipped)
    found = spelled(array)
    found.validate(full=True)
    assert found.to_pylist() == [None if place is None else TEXTS[place] for place in places[skipped:]]


def test_rows_without_a_text_need_no_dictionary() -> None:
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int32()), pa.array([], pa.string()))
    assert spelled(nothing).equals(pa.nulls(2, pa.string()))
    assert spelled(nothing.slice(2)).to_pylist() == []
