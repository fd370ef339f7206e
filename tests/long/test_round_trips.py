"""`asm(disasm(log))` is the log, of changed logs; ``make round-trips`` runs as many as one likes and counts them."""

from __future__ import annotations

from itertools import pairwise

from tests.long.round_trips import comes_back, counted, mutant


def test_changed_logs_come_back_as_they_were() -> None:
    assert [number for number in range(300) if not comes_back(mutant(1, number))] == []


def test_the_counted_runs_found_nothing_and_do_not_overlap() -> None:
    runs = sorted(counted(), key=lambda run: (run.seed, run.first))
    assert [run for run in runs if run.failures] == []
    pairs = pairwise(runs)
    assert all(one.seed != other.seed or one.first + one.count <= other.first for one, other in pairs)
