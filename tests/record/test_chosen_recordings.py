"""Small recordings that fast tests compile and compare byte for byte: each notices changes that nothing else would.

What a recording notices that no other fast test does stands behind its name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.record.recording import verify
from forge.resources import corpora_dir

CHOSEN = (
    "joined-twice-mysql-9.7",  # TABLE_MAPs of tables that are joined several times
    "joined-twice-mariadb-11.8",
    "images-partial-json-tables",  # the order of partial bits
    "partitions-noblob",  # the order of a row's partitions, NOBLOB images of tables with partitions
    "partition-functions-mysql-9.7",  # functions that choose partitions, NULL among them
    "read-orders-mysql-9.7",  # the order of rows with partitions, LIMIT, CREATE TABLE ... SELECT
    "read-orders-mariadb-10.11",
    "self-references-mysql-9.7",  # foreign keys that lead to their own table
)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_chosen_recording_is_compiled_byte_for_byte(name: str) -> None:
    folder: Path = corpora_dir() / "recordings" / name
    result = verify(folder)
    assert result.difference is None
    assert result.contents is None
