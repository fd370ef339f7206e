"""Every recorded log read in bulk: cell for cell what the canonical decode has."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

from forge.bulk.reading import window_size
from tests.bulk.reference_rows import difference
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_a_recording_reads_as_the_canonical_decode_has_it(log: Path) -> None:
    assert difference(log) is None


@pytest.mark.parametrize("size", [300, 4096])
def test_the_size_of_the_window_does_not_matter(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_size, "WINDOW", size)
    assert [str(log) for log in LOGS[size % 7 :: 7] if difference(log) is not None] == []
