"""Dates and times that Arrow has and Python has not are written, rounded or refused as their text is."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa

from forge.bulk.writing.wire_columns import ColumnWriter
from forge.errors import ScenarioError
from forge.values.declaration.typetext import parse_type
from forge.values.registry import codec_for, column_for

pytestmark = pytest.mark.slow

LAST = 2**63 - 1
YEAR_0 = -62167219200 + 40 * 86400


def written(type_text: str, server: str, value: int, kind: pa.DataType) -> bytes:
    column = column_for(parse_type(type_text), name="c", server=server)
    words = pa.int32() if kind == pa.date32() else pa.int64()
    wire, _ = ColumnWriter(column).write(pa.array([value], words).view(kind), 0)
    return wire.values.tobytes()


@pytest.mark.parametrize(
    ("type_text", "server", "value", "kind", "text"),
    [
        ("DATETIME(6)", "mysql", 1500, pa.timestamp("ns"), "1970-01-01 00:00:00.000002"),
        ("DATETIME(6)", "mariadb", 1500, pa.timestamp("ns"), "1970-01-01 00:00:00.000001"),
        ("DATETIME(6)", "mysql", 2000, pa.timestamp("ns"), "1970-01-01 00:00:00.000002"),
        ("DATETIME", "mysql", YEAR_0 * 10**6, pa.timestamp("us"), "0000-02-10 00:00:00"),
        ("DATETIME(6)", "mysql", 86400 * 10**9 - 1, pa.timestamp("ns", "Europe/Berlin"), "1970-01-02 00:00:00.000000"),
        ("TIMESTAMP(6)", "mysql", 10**9 + 501, pa.timestamp("ns", "Europe/Berlin"), "1970-01-01 00:00:01.000001"),
        ("TIMESTAMP(6)", "mariadb", 10**9 + 1501, pa.timestamp("ns", "UTC"), "1970-01-01 00:00:01.000001"),
        ("DATE", "mysql", -719528 + 5, pa.date32(), "0000-01-06"),
        ("TIME(6)", "mysql", -1500, pa.duration("ns"), "-00:00:00.000002"),
        ("TIME(6)", "mysql", 3_723_000_001_499, pa.time64("ns"), "01:02:03.000001"),
        ("TIME(3)", "mysql", -3_723_000, pa.duration("ms"), "-01:02:03.000"),
    ],
)
def test_a_value_of_more_digits_or_years_is_stored_as_its_text(
    type_text: str, server: str, value: int, kind: pa.DataType, text: str
) -> None:
    column = column_for(parse_type(type_text), server=server)
    assert written(type_text, server, value, kind) == codec_for(column).encode(column, text)


@pytest.mark.parametrize(
    ("type_text", "value", "kind"),
    [
        ("DATETIME(6)", LAST, pa.timestamp("us")),
        ("DATETIME(6)", -LAST, pa.timestamp("us")),
        ("DATETIME", LAST, pa.timestamp("s")),
        ("TIMESTAMP(6)", LAST, pa.timestamp("us", "UTC")),
        ("TIMESTAMP(6)", LAST, pa.timestamp("ns", "Europe/Berlin")),
        ("DATE", 2**31 - 1, pa.date32()),
        ("DATE", 2932897, pa.date32()),
        ("TIME(6)", LAST, pa.duration("s")),
        ("TIME(6)", -LAST, pa.duration("ns")),
    ],
)
def test_a_value_beyond_the_column_is_refused_with_column_and_row(
    type_text: str, value: int, kind: pa.DataType
) -> None:
    with pytest.raises(ScenarioError) as caught:
        written(type_text, "mysql", value, kind)
    assert "row 1, column 'c'" in str(caught.value)
    assert "cannot hold" in str(caught.value)
