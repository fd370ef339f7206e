"""`asm(disasm(log))` is the log, of changed logs; ``make round-trips`` runs as many as one likes and counts them."""

from __future__ import annotations

import pytest

from tests.long.round_trips import comes_back, mutant


@pytest.mark.slow
def test_changed_logs_come_back_as_they_were() -> None:
    assert [number for number in range(300) if not comes_back(mutant(1, number))] == []
