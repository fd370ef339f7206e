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

from forge.bulk.reading import window_size
from forge.events.rows import WriteRows
from tests.bulk.damage import damaged, events_of, with_checksum
from tests.bulk.reference_rows import difference
from tests.recorded import LOGS

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


def test_a_number_of_columns_in_more_bytes_than_it_needs_is_read(tmp_path: Path) -> None:
    log = next(log for log in _SMALL if log.parent.name == "binaries")
    changed = bytearray(log.read_bytes())
    for begin, size in reversed(events_of(bytes(changed))):
        if changed[begin + 4] == WriteRows.type_code:
            event = changed[begin : begin + size]
            event[29:30] = b"\xfc" + bytes([event[29], 0])
            event[9:13] = len(event).to_bytes(4, "little")
            changed[begin : begin + size] = with_checksum(bytes(event))
    path = tmp_path / "binlog.000001"
    path.write_bytes(changed)
    assert len(changed) > log.stat().st_size
    assert difference(path) is None
