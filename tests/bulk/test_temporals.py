"""DATE, TIME, DATETIME and TIMESTAMP in bulk."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL, Cells
from forge.bulk.registry import column_plan
from forge.errors import FormatError, ScenarioError
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.declaration.column_type import Temporals
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import codec_for, column_for
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, array_of, cells_written, plan_of, values_decoded, values_read

pytestmark = pytest.mark.slow

COLUMNS = {
    "current": strategies.temporal_columns().filter(lambda column: column.type_code != WireType.YEAR),
    "old": strategies.old_temporal_columns(),
    "old, of a file": st.sampled_from(
        [Column(code) for code in (WireType.TIME, WireType.DATETIME, WireType.TIMESTAMP)]
    ),
}
family = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS.keys())


def cells_for(column: Column) -> st.SearchStrategy[Cell]:
    """Cells of values, such cells with a bit or a byte changed, any bytes, and none."""
    codec, size = codec_for(column), plan_of(column).wire
    good = strategies.values_for(column).map(lambda value: codec.encode(column, value))

    def changed(cell: bytes, place: int, mask: int) -> bytes:
        return cell[:place] + bytes([cell[place] ^ mask]) + cell[place + 1 :]

    masks = st.one_of(st.integers(1, 255), st.sampled_from([1 << bit for bit in range(8)]))
    damaged = st.builds(changed, good, st.integers(0, size - 1), masks)
    others: tuple[Cell, ...] = (NULL, ABSENT, bytes(size), b"\xff" * size, b"\x80" + bytes(size - 1))
    return st.one_of(good, damaged, st.binary(min_size=size, max_size=size), st.sampled_from(others))


def decoded(column: Column, cells: list[Cell]) -> list[Any]:
    """What the codec makes of them; ODD for what is text only."""
    return [ODD if isinstance(value, str) else value for value in values_decoded(column, cells)]


def examples(column: Column) -> list[Cell]:
    codec = codec_for(column)
    return [codec.encode(column, value) for value in codec.examples(column)]


@family
@given(data=st.data())
def test_any_cell_is_read_as_the_codec_reads_it(columns: st.SearchStrategy[Column], data: st.DataObject) -> None:
    column = data.draw(columns)
    cells = examples(column) + data.draw(st.lists(cells_for(column), max_size=20))
    assert values_read(column, cells) == decoded(column, cells)


@family
@given(data=st.data())
def test_the_text_of_an_array_is_that_of_the_canonical_decode(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns.filter(lambda column: plan_of(column).can_be_odd))
    cells = examples(column) + data.draw(st.lists(cells_for(column), max_size=20))
    array, odd = array_of(plan_of(column), cells)
    codec = codec_for(column)
    for row, text in enumerate(plan_of(column).as_text(array).to_pylist()):
        cell = cells[row]
        if isinstance(cell, int):
            assert text is None
        elif row not in odd:
            assert text == codec.text(column, codec.decode(column, cell))


@family
@given(data=st.data())
def test_a_value_is_written_as_the_codec_writes_it_and_odd_exactly_if_it_does_not_hold_it(
    columns: st.SearchStrategy[Column], data: st.DataObject
) -> None:
    column = data.draw(columns)
    plan = plan_of(column)
    read = [value for value in decoded(column, examples(column)) if value != ODD]
    drawn = data.draw(st.lists(st.one_of(st.none(), VALUES[str(plan.arrow_type)]), max_size=20))
    drawn += [cut(value, data.draw(st.integers(0, 6))) for value in drawn]
    array = pa.array(read + drawn, plan.arrow_type)
    assert cells_written(plan, array) == [encoded(column, value) for value in array.to_pylist()]


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "date32[day]": st.dates(),
    "duration[us]": st.one_of(
        st.timedeltas(timedelta(hours=-840), timedelta(hours=840)),
        st.timedeltas(timedelta(-(10**8)), timedelta(10**8)),
        st.just(timedelta(hours=839)),
    ),
    "timestamp[us]": st.datetimes(),
    "timestamp[us, tz=UTC]": st.one_of(
        st.datetimes(datetime(1969, 12, 31), datetime(2106, 2, 8), timezones=st.just(UTC)),
        st.datetimes(timezones=st.just(UTC)),
        st.sampled_from((2**31, 2**32)).map(lambda second: datetime.fromtimestamp(second, UTC)),
        st.sampled_from((0, 1, 10**6)).map(
            lambda micro: datetime(1970, 1, 1, 0, 0, micro // 10**6, micro % 10**6, UTC)
        ),
    ),
}


def cut(value: Any, digits: int) -> Any:
    """The value with so many fraction digits, which some columns hold."""
    unit = 10 ** (6 - digits)
    if isinstance(value, datetime):
        return value.replace(microsecond=value.microsecond // unit * unit)
    if isinstance(value, timedelta):
        return timedelta(microseconds=value // timedelta(microseconds=1) // unit * unit)
    return value


def encoded(column: Column, value: Any) -> bytes | str | None:
    """The cell of a value; ODD if the column does not take it, or changes it."""
    if value is None:
        return None
    codec = codec_for(column)
    try:
        accepted = codec.accept(column, value)
        cell = codec.encode(column, accepted)
    except ScenarioError:
        return ODD
    return cell if codec.python_value(column, accepted) == value else ODD


def test_every_day_of_the_calendar_is_read_and_written() -> None:
    plan = plan_of(Column(WireType.DATE))
    days = np.arange("0001-01-01", "10000-01-01", dtype="datetime64[D]")
    array = pa.Array.from_buffers(pa.date32(), len(days), [None, pa.py_buffer(days.astype(np.int32))])
    wire = plan.write(array)
    assert not len(wire.odd)
    words = wire.values.reshape(-1, 3).astype(np.uint32) @ np.array([1, 1 << 8, 1 << 16], np.uint32)
    months = days.astype("datetime64[M]")
    assert np.array_equal(words & 31, (days - months).astype(int) + 1)
    assert np.array_equal(words >> 5 & 15, months.astype(int) % 12 + 1)
    assert np.array_equal(words >> 9, months.astype(int) // 12 + 1970)
    buffer = np.concatenate([wire.values, np.zeros(64, np.uint8)])
    offsets = np.arange(0, 3 * len(days), 3, dtype=np.int32)
    read = plan.read(Cells(buffer, offsets, np.zeros(len(days), np.int32)))
    assert not len(read.odd)
    assert np.array_equal(read.buffers[0], days.astype(np.int32))


def test_every_date_that_is_not_in_the_calendar_is_odd() -> None:
    column = Column(WireType.DATE)
    fields = [(year, month, day) for year in (0, 1, 1900, 2000, 2023, 2024, 9999, 10000, 32767)
              for month in range(16) for day in range(32)]  # fmt: skip
    cells: list[Cell] = [(year << 9 | month << 5 | day).to_bytes(3, "little") for year, month, day in fields]
    assert values_read(column, cells) == [_date(*field) for field in fields]


def _date(year: int, month: int, day: int) -> date | str:
    try:
        return date(year, month, day)
    except ValueError:
        return ODD


#: (type, server, value): what a strict server refuses, rounds or, of MariaDB, cuts.
NOT_HELD = [
    ("DATETIME", 0, "mysql", datetime(2024, 2, 29, 1, 2, 3, 500000)),
    ("DATETIME", 5, "mysql", datetime(2024, 2, 29, 1, 2, 3, 1)),
    ("TIME", 2, "mariadb", timedelta(microseconds=-1)),
    ("TIME", 6, "mysql", timedelta(hours=839)),
    ("TIMESTAMP", 6, "mysql", datetime(1970, 1, 1, 0, 0, 0, 1, UTC)),
    ("TIMESTAMP", 6, "mysql", datetime(1970, 1, 1, tzinfo=UTC)),
    ("TIMESTAMP", 6, "mysql", datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC)),
    ("TIMESTAMP", 0, "mariadb-11.8", datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC)),
]


@pytest.mark.parametrize(("name", "fsp", "server", "value"), NOT_HELD)
def test_a_value_that_the_column_does_not_hold_is_odd(name: str, fsp: int, server: str, value: Any) -> None:
    column = column_for(SqlType(name, fsp=fsp), server=server)
    plan = plan_of(column)
    assert encoded(column, value) == ODD
    assert cells_written(plan, pa.array([value, None], plan.arrow_type)) == [ODD, None]


def test_a_server_of_longer_timestamps_takes_them() -> None:
    column = column_for(SqlType("TIMESTAMP", fsp=6), server="mariadb-11.8")
    plan = plan_of(column)
    values = [datetime(1970, 1, 1, 0, 0, 0, 1, UTC), datetime(2106, 2, 7, 6, 28, 15, 999999, UTC)]
    cells = cells_written(plan, pa.array(values, plan.arrow_type))
    assert cells == [encoded(column, value) for value in values]
    assert ODD not in cells


@pytest.mark.parametrize("extreme", [-(2**63), -(2**63) + 1, 2**63 - 1])
@pytest.mark.parametrize("temporals", ["new", "old"])
@pytest.mark.parametrize("name", ["TIME", "DATETIME", "TIMESTAMP"])
def test_the_ends_of_64_bits_are_odd(name: str, temporals: Temporals, extreme: int) -> None:
    plan = plan_of(column_for(SqlType(name, fsp=6), temporals=temporals))
    array = pa.array([extreme], pa.int64()).view(plan.arrow_type)
    assert plan.write(array).odd.tolist() == [0]


@pytest.mark.parametrize("days", [-(2**31), -719163, 2932897, 2**31 - 1])
def test_a_day_out_of_the_calendar_is_odd(days: int) -> None:
    plan = plan_of(Column(WireType.DATE))
    assert plan.write(pa.array([days], pa.int32()).view(pa.date32())).odd.tolist() == [0]


@pytest.mark.parametrize("code", [WireType.TIME2, WireType.DATETIME2, WireType.TIMESTAMP2])
def test_metadata_that_no_such_column_has_are_a_format_error(code: WireType) -> None:
    with pytest.raises(FormatError) as caught:
        column_plan(Column(code, b"\7"))
    assert caught.value.phase == "metadata"
