"""Rows that are counted one event after the other are those that are counted in bulk."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")

from forge.binlog.row_counts import RowCounts, count_rows
from forge.bulk.reading.counts import count_tables
from forge.errors import ForgeError
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_rows_of_a_recording_are_counted_alike(log: Path) -> None:
    counted: dict[str, RowCounts] = {}
    try:
        count_rows(log.read_bytes(), counted)
    except ForgeError:
        return  # Bulk says it.
    in_bulk = count_tables(log)
    assert list(counted) == list(in_bulk)
    for name, counts in counted.items():
        assert counts.by_operation == in_bulk[name].by_operation
