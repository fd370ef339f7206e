"""Filters leave out splits without a row that can pass, and no other."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark", minversion="4.1", reason="the extra [spark] is not installed, or knows no filters")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

from pyspark.sql import datasource as pushed
from pyspark.sql.datasource import DataSourceReader, InputPartition

from forge.spark.reader import FilteringReader, SplitPartition
from forge.spark.source import BinlogDataSource

RECORDINGS = Path(__file__).parents[2] / "corpora" / "recordings"
LOGS = (
    RECORDINGS / "compressed-events" / "mariadb-11.8" / "binlog.000001",
    RECORDINGS / "compressed" / "binlog.000001",
    RECORDINGS / "transactions" / "compressed-engines" / "binlog.000001",
)
COLUMNS = ("_file", "_position", "_event", "_timestamp", "_operation", "_gtid", "_type", "_type_code")
ORDERED = (pushed.GreaterThan, pushed.GreaterThanOrEqual, pushed.LessThan, pushed.LessThanOrEqual)
TESTS: dict[type, Any] = {
    pushed.EqualTo: lambda value, given: value == given,
    pushed.In: lambda value, given: value in given,
    pushed.GreaterThan: lambda value, given: value > given,
    pushed.GreaterThanOrEqual: lambda value, given: value >= given,
    pushed.LessThan: lambda value, given: value < given,
    pushed.LessThanOrEqual: lambda value, given: value <= given,
    pushed.StringStartsWith: lambda value, given: value.startswith(given),
    pushed.StringEndsWith: lambda value, given: value.endswith(given),
    pushed.StringContains: lambda value, given: given in value,
}


def reader_of(rows: str, *filters: Any) -> FilteringReader:
    options = {"paths": "[" + ",".join(f'"{log}"' for log in LOGS) + "]", "rows": rows, "split_size": "1"}
    source = BinlogDataSource({**options, "pushdown": "true"})
    reader = source.reader(source.schema())
    assert isinstance(reader, FilteringReader)
    assert list(reader.pushFilters(list(filters))) == list(filters)
    return reader


def split_of(partition: InputPartition) -> Any:
    assert isinstance(partition, SplitPartition)
    return partition.split


@cache
def rows_of_splits(rows: str) -> list[tuple[Any, list[dict[str, Any]]]]:
    reader = reader_of(rows)
    return [
        (split_of(partition), [row for batch in reader.read(partition) for row in batch.to_pylist()])
        for partition in reader.partitions()
    ]


@given(st.sampled_from(["changes", "events"]), st.data())
def test_no_row_that_passes_is_left_out(rows: str, data: st.DataObject) -> None:
    splits = rows_of_splits(rows)
    every = [row for _, held in splits for row in held]
    column = data.draw(st.sampled_from([name for name in COLUMNS if name in every[0]]))
    values = list({row[column] for row in every if row[column] is not None})
    value = data.draw(st.sampled_from(values))
    kinds = [kind for kind in TESTS if isinstance(value, str) or not kind.__name__.startswith("String")]
    kind = data.draw(st.sampled_from([kind for kind in kinds if not isinstance(value, str) or kind not in ORDERED]))
    if kind is pushed.In:
        value = tuple(data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=3)))
    elif isinstance(value, str) and kind is not pushed.EqualTo:
        first = data.draw(st.integers(0, len(value)))
        value = value[first:] if kind is pushed.StringEndsWith else value[:first]
    elif isinstance(value, datetime):
        value += timedelta(seconds=data.draw(st.integers(-1, 1)))
    kept = {split_of(partition) for partition in reader_of(rows, kind((column,), value)).partitions()}
    passing = TESTS[kind]
    for split, held in splits:
        if any(row[column] is not None and passing(row[column], value) for row in held):
            assert split in kept


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ([pushed.EqualTo(("_gtid",), "0-1-14")], 2),  # the one that it is in force from, and its own
        ([pushed.EqualTo(("_file",), str(LOGS[1])), pushed.GreaterThan(("_position",), 1100)], 1),
        ([pushed.EqualTo(("_file",), "binlog.000009")], 0),
        ([pushed.In(("_event",), (15, 16)), pushed.StringContains(("_file",), "mariadb")], 1),
        ([pushed.EqualTo(("_operation",), "delete"), pushed.StringContains(("_file",), "mariadb")], 1),
        ([pushed.StringStartsWith(("_gtid",), "054930bc-"), pushed.StringContains(("_file",), "compressed/")], 2),
    ],
)
def test_most_splits_are_left_out(filters: list[Any], left: int) -> None:
    assert len(reader_of("changes", *filters).partitions()) == left


def test_what_cannot_be_told_leaves_nothing_out() -> None:
    every = len(reader_of("events").partitions())
    for filter in (
        pushed.Not(pushed.EqualTo(("_file",), "x")), pushed.IsNotNull(("_gtid",)), pushed.EqualTo(("body", "a"), 1),
        pushed.EqualTo(("_timestamp",), datetime(2024, 1, 1)), pushed.IsNull(("_gtid",)),
    ):  # fmt: skip
        assert len(reader_of("events", filter).partitions()) == every


def test_a_reader_takes_filters_only_where_they_are_pushed() -> None:
    source = BinlogDataSource({"path": str(LOGS[0])})
    assert type(source.reader(source.schema())).pushFilters is DataSourceReader.pushFilters
