"""``spark.read.format("binlog")``: what it reads is what ``forge.read_rows`` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow as pa

from forge.columnar.reading.rows import read_rows
from forge.errors import ScenarioError
from forge.spark.source import BinlogDataSource

RECORDINGS = Path(__file__).parents[2] / "corpora" / "recordings"
MARIADB = RECORDINGS / "compressed-events" / "mariadb-11.8" / "binlog.000001"


def read(**options: Any) -> pa.Table:
    """What Spark's workers give it, in this process."""
    source = BinlogDataSource({name.lower(): str(value) for name, value in options.items()})
    schema = source.schema()
    reader = source.reader(schema)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return pa.Table.from_batches(batches)


def test_the_rows_of_a_table_are_those_of_read_rows() -> None:
    [name, *_] = {name for name, _ in read_rows(MARIADB)}
    for split_size in (1, 1 << 20):
        table = read(path=MARIADB, table=name, split_size=split_size)
        assert table.to_pylist() == read_rows(MARIADB, name).read_all().to_pylist()


def test_an_unknown_option_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ScenarioError, match="did you mean 'table'"):
        read(path=MARIADB, tabel="x")
