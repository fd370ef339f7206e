"""Every recorded log read in bulk: cell for cell what the canonical decode has."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

from tests.columnar.reference_rows import LOGS, RECORDINGS, difference

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_a_recording_reads_as_the_canonical_decode_has_it(log: Path) -> None:
    assert difference(log) is None
