"""Checksums of whole files."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")

from forge.bulk.file_sums import crc32_of

MIB = 1 << 20


@pytest.mark.parametrize("size", [0, 1, 3, MIB - 1, MIB, MIB + 1, 2 * MIB + 5, 5 * MIB])
def test_the_sum_of_a_file_is_that_of_its_bytes(size: int, tmp_path: Path) -> None:
    data = (bytes(range(251)) * (size // 251 + 1))[:size]
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    assert crc32_of(path) == zlib.crc32(data)
