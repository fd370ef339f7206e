"""DECIMAL in bulk."""

from __future__ import annotations

from decimal import Decimal

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.bulk.registry import column_plan
from forge.errors import FormatError
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow


def columns() -> st.SearchStrategy[Column]:
    """Every precision and scale of MySQL and MariaDB, often those at which the cells' and Arrow's sizes change."""
    precisions = st.one_of(st.integers(1, 65), st.sampled_from((1, 9, 10, 16, 17, 18, 19, 38, 39, 65)))

    def scaled(precision: int) -> st.SearchStrategy[SqlType]:
        scales = st.integers(0, min(precision, 38))
        return st.builds(SqlType, name=st.just("DECIMAL"), precision=st.just(precision), scale=scales)

    return precisions.flatmap(scaled).map(lambda declared: column_for(declared, server="mariadb"))


@given(data=st.data())
def test_any_cell_is_read_as_the_codec_reads_it(data: st.DataObject) -> None:
    column = data.draw(columns())
    codec, size = codec_for(column), plan_of(column).wire
    cells: list[Cell] = [codec.encode(column, value) for value in codec.examples(column)]
    some: st.SearchStrategy[Cell] = st.one_of(
        st.binary(min_size=size, max_size=size),
        strategies.values_for(column).map(lambda value: codec.encode(column, value)),
        st.sampled_from((NULL, ABSENT, bytes(size), b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), b"\x80" * size)),
    )
    cells += data.draw(st.lists(some, max_size=20))
    assert [str(value) for value in values_read(column, cells)] == [
        str(value) for value in values_decoded(column, cells)
    ]


@given(data=st.data())
def test_a_value_is_written_as_the_codec_writes_it(data: st.DataObject) -> None:
    column = data.draw(columns())
    codec, plan = codec_for(column), plan_of(column)
    values = list(codec.examples(column))
    values += data.draw(st.lists(st.one_of(strategies.values_for(column), st.none()), max_size=20))
    expected = [None if value is None else codec.encode(column, value) for value in values]
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


@given(data=st.data())
def test_words_that_are_a_number_of_too_many_digits_are_odd(data: st.DataObject) -> None:
    column = data.draw(columns())
    codec, plan = codec_for(column), plan_of(column)
    precision, scale = column.metadata
    bits = 128 if precision <= 38 else 256
    near = st.sampled_from((0, 10**precision - 1, 10**precision, 2**63 - 1, 2**63, 2**64, 2 ** (bits - 1) - 1))
    numbers = st.one_of(
        near, near.map(lambda number: -number - 1), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    drawn = [
        number for number in data.draw(st.lists(numbers, max_size=20)) if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
    ]
    words = b"".join(number.to_bytes(bits // 8, "little", signed=True) for number in drawn)
    array = pa.Array.from_buffers(plan.arrow_type, len(drawn), [None, pa.py_buffer(words)])
    expected = [codec.encode(column, scaled(number, scale)) if abs(number) < 10**precision else ODD for number in drawn]
    wire = plan.write(array)
    odd = wire.odd.tolist()
    cells = [wire.values[row * plan.wire : (row + 1) * plan.wire].tobytes() for row in range(len(drawn))]
    assert [ODD if row in odd else cell for row, cell in enumerate(cells)] == expected


def scaled(number: int, scale: int) -> Decimal:
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


@pytest.mark.parametrize(("precision", "scale"), [(5, 2), (18, 5), (30, 10), (65, 30)])
def test_a_negative_number_is_odd_for_an_unsigned_column(precision: int, scale: int) -> None:
    column = column_for(SqlType("DECIMAL", precision=precision, scale=scale, unsigned=True))
    plan = plan_of(column)
    values = [scaled(number, scale) for number in (0, -1, 1)]
    encode = codec_for(column).encode
    expected = [encode(column, values[0]), ODD, encode(column, values[2])]
    assert cells_written(plan, pa.array(values, plan.arrow_type)) == expected


def test_zero_with_a_sign_is_read_as_zero() -> None:
    for precision in (5, 30, 65):
        column = column_for(SqlType("DECIMAL", precision=precision, scale=2))
        size = plan_of(column).wire
        assert values_read(column, [b"\x7f" + b"\xff" * (size - 1)]) == [Decimal("0.00")]


@pytest.mark.parametrize("metadata", [b"", b"\0\0", b"\x42\0", b"\5\6", b"\x41\x27"])
def test_metadata_that_no_decimal_has_are_a_format_error(metadata: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        column_plan(Column(WireType.NEWDECIMAL, metadata))
    assert caught.value.phase == "metadata"
