"""Which columns an image has, as Spark shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
from forge.spark.reading.presence import with_full, without_full


@given(st.integers(1, 20).flatmap(lambda columns: st.tuples(st.just(columns), bitmaps_of(columns))), st.integers(0, 3))
def test_bitmaps_are_null_where_all_columns_are_there_and_come_back(drawn: tuple[int, list[int]], skipped: int) -> None:
    columns, numbers = drawn
    width, full = (columns + 7) // 8, (1 << columns) - 1
    given_bitmaps = pa.array([number.to_bytes(width, "little") for number in numbers], pa.binary(width))[skipped:]
    shown = without_full(given_bitmaps, columns)
    shown.validate(full=True)
    assert shown.is_null().to_pylist() == [number == full for number in numbers[skipped:]]
    assert with_full(shown, columns).equals(given_bitmaps)
    assert with_full(shown.cast(pa.binary()), columns).equals(given_bitmaps)


def bitmaps_of(columns: int) -> st.SearchStrategy[list[int]]:
    full = (1 << columns) - 1
    return st.lists(st.just(full) | st.integers(0, full), max_size=9)


def test_bitmaps_of_another_size_are_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        with_full(pa.array([b"\x01\x02"], pa.binary()), 3)
