"""Damaged logs in bulk: the same rows, the same refusal at the same place as the canonical decode.

A thousand logs here; ``make fuzz`` reads a hundred thousand, with kernels that check every access.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

from forge.columnar.reading import window_size
from tests.columnar.damage import damaged
from tests.columnar.reference_rows import LOGS, difference

pytestmark = pytest.mark.slow

#: Logs for each seed.
_LOGS = int(os.environ.get("FORGE_DAMAGED_LOGS", "100"))
_SMALL = [log for log in LOGS if log.stat().st_size < 8_000]


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_log_is_read_or_refused_as_by_the_canonical_decode(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    if seed % 2:
        monkeypatch.setattr(window_size, "WINDOW", 1000)
    for number in range(_LOGS):
        log = random.choice(_SMALL)
        data = damaged(log.read_bytes(), random)
        if data is None:
            continue
        path = tmp_path / "damaged"
        path.write_bytes(data)
        assert difference(path) is None, f"{log}, seed {seed}, number {number}"
