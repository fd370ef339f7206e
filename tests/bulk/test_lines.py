"""Rows in bulk as lines of text: what the reference path prints of the same rows, to the byte."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import pyarrow as pa

from forge import build
from forge.binlog.selection import ALL
from forge.bulk.lines.cell_texts import Unsaid, cell_texts
from forge.bulk.lines.record_lines import AskedLines, record_lines
from forge.bulk.lines.row_lines import Form
from forge.bulk.reading.counts import count_tables
from forge.bulk.reading.tables import Images
from forge.bulk.registry import column_plan
from forge.cli.commands import rows as rows_command
from forge.errors import ForgeError
from forge.values.base import Column
from forge.values.wire_types import WireType
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow


def by_reference(log: Path, table: str, form: Form, images: Images) -> list[str]:
    """The lines as far as the log can be read."""
    asked = rows_command._asked(table, None, images)
    lines: list[str] = []
    with suppress(ForgeError):
        lines.extend("".join(pieces) for pieces in rows_command._text_records((str(log),), asked, form, ALL, None))
    return lines


def in_bulk(log: Path, table: str | None, form: Form, images: Images) -> tuple[int, bytes]:
    """(lines, their bytes) up to where the reference path goes on."""
    count, found = 0, b""
    asked = AskedLines({log: str(log)}, form, table, None, images, ALL, None, lambda read: None)
    try:
        for number, lines in record_lines(asked):
            count, found = count + number, found + bytes(lines)
    except Unsaid:
        pass
    return count, found


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_lines_of_a_recording_are_those_of_the_reference_path(log: Path) -> None:
    try:
        tables = list(count_tables(log))[:3]
    except ForgeError:
        return
    for number, table in enumerate(tables):
        for form in get_args(Form):
            images = get_args(Images)[(number + len(log.name)) % 3]
            count, found = in_bulk(log, table, form, images)
            expected = by_reference(log, table, form, images)[:count]
            assert found.decode() == "".join(expected)


def texts(column: Column, values: list[Any], kind: pa.DataType) -> list[str | None]:
    plan = column_plan(column)
    assert plan is not None
    found: list[str | None] = cell_texts(plan, pa.array(values, kind)).to_pylist()
    return found


@given(st.lists(st.none() | st.floats(allow_subnormal=True), max_size=20))
def test_doubles_are_written_as_json_of_python_writes_them(values: list[float | None]) -> None:
    expected = [None if value is None else json.dumps(value) for value in values]
    assert texts(Column(WireType.DOUBLE, b"\x08"), values, pa.float64()) == expected


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=20))
def test_floats_are_the_shortest_of_their_four_bytes(values: list[float]) -> None:
    found = texts(Column(WireType.FLOAT, b"\x04"), values, pa.float32())
    assert [struct.pack("<f", float(text or "")) for text in found] == [struct.pack("<f", value) for value in values]
    assert [text for text in found if text != json.dumps(float(text or ""))] == []


@given(st.integers(0, 20), st.lists(st.none() | st.integers(-(10**20) + 1, 10**20 - 1), max_size=20))
def test_decimals_have_all_their_digits_and_no_power_of_ten(scale: int, units: list[int | None]) -> None:
    values = [None if unit is None else Decimal(unit).scaleb(-scale) for unit in units]
    found = texts(Column(WireType.NEWDECIMAL, bytes((20, scale))), values, pa.decimal128(20, scale))
    assert found == [None if value is None else f"{value + 0:f}" for value in values]


@pytest.mark.parametrize(
    ("micros", "fsp", "text"),
    [(0, 0, "00:00:00"), (-1, 6, "-00:00:00.000001"), (838 * 3_600_000_000 + 59_120_000, 2, "838:00:59.12")],
)
def test_times_have_hours_of_two_digits_or_three(micros: int, fsp: int, text: str) -> None:
    column = Column(WireType.TIME2, bytes((fsp,)))
    assert texts(column, [timedelta(microseconds=micros), None], pa.duration("us")) == [text, None]


ODD = """\
scenario: odd
server: mysql-9.7
session: {row_metadata: full, sql_mode: ""}
tables: ["CREATE TABLE d.t (id INT, day DATE, s SET('a','b'), t TEXT, b BLOB, e ENUM('x,y','z'), n BIGINT UNSIGNED)"]
transactions:
  - - insert:
        into: d.t
        rows:
          - {id: 1, day: "0000-00-00", s: "a,b", t: "a \\"b\\", \\\\ \\n\\t\\u0001 ü", b: {hex: "00ff"}, e: "x,y"}
          - {id: 1, day: "2024-02-30", n: 18446744073709551615}
          - {id: 2, day: "2024-02-29", s: "", t: "", b: {hex: ""}, e: z}
          - {id: 3}
"""


def test_odd_dates_marks_and_empty_texts_are_as_the_reference_path_has_them(tmp_path: Path) -> None:
    log = tmp_path / "odd.000001"
    log.write_bytes(build(ODD).data)
    for form in get_args(Form):
        for images in get_args(Images):
            expected = by_reference(log, "d.t", form, images)
            assert in_bulk(log, None, form, images) == (len(expected), "".join(expected).encode())


def printed(log: Path) -> tuple[str, str]:
    """All lines that the command makes, and what is wrong behind them."""
    found = ""
    try:
        for part in rows_command._lines((str(log),), rows_command._asked(None, None, "after"), "csv", ALL, None):
            found += part if isinstance(part, str) else bytes(part.data).decode()
    except ForgeError as error:
        return found, str(error)
    return found, ""


def test_the_reference_path_goes_on_where_rows_in_bulk_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "torn.000001"
    log.write_bytes(build(ODD).data[:-9])
    by_reference = printed(log)
    monkeypatch.setattr("forge.cli.inputs.MANY", 0)
    assert printed(log) == by_reference
    assert by_reference[0].count("\r\n") == 5
    assert "torn.000001" in by_reference[1]
