"""Our own readers and changed logs: those of failures that were mended, some new ones, and a million in the night."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.counted_runs import counted
from tests.fuzz.mutants import excerpts, mutant, seeds
from tests.fuzz.readers import READERS, columnar
from tests.fuzz.runs import REGRESSIONS, RUNS, read, run

#: Mutants of the night; they are shared by as many processes as there are cores.
NIGHTLY = int(os.environ.get("FORGE_FUZZ_LOGS", "1000000"))
#: What those processes begin at: another part of the numbers than the counted runs.
_FIRST = 1_000_000_000


@pytest.mark.parametrize("log", sorted(REGRESSIONS.iterdir()), ids=lambda log: log.name)
@pytest.mark.parametrize("reader", [name for name in READERS if name != "columnar"])
def test_a_log_that_was_a_failure_is_read_or_refused(log: Path, reader: str, tmp_path: Path) -> None:
    assert read(log.read_bytes(), READERS[reader], tmp_path / "mutant") in ("read", "refused")


@pytest.mark.slow
@pytest.mark.parametrize("log", sorted(REGRESSIONS.iterdir()), ids=lambda log: log.name)
def test_a_log_that_was_a_failure_is_read_or_refused_in_bulk(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    assert read(log.read_bytes(), columnar, tmp_path / "mutant") in ("read", "refused")


@pytest.mark.slow
def test_a_mutant_is_a_function_of_seed_and_number() -> None:
    assert len(seeds()) > 100
    assert len(excerpts()) > 100
    assert mutant(0, 7) == mutant(0, 7)
    assert len({mutant(0, number) for number in range(40)} | {mutant(1, number) for number in range(40)}) > 70


@pytest.mark.slow
def test_our_readers_refuse_or_read_changed_logs(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    found = run(2, 0, 300, tmp_path / "mutant")
    assert found.failures == []
    assert sum(found.outcomes.values()) == 300 * len(READERS)


@pytest.mark.slow
@pytest.mark.nightly
def test_our_readers_refuse_or_read_a_million_changed_logs(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    cores = len(os.sched_getaffinity(0))
    share = -(-NIGHTLY // cores)
    command = [sys.executable, "-m", "tests.fuzz", "--uncounted", "--count", str(share), "--out", str(tmp_path)]
    running = [
        subprocess.Popen([*command, "--first", str(_FIRST + number * share)], stdout=subprocess.PIPE, text=True)
        for number in range(cores)
    ]
    for process in running:
        said, _ = process.communicate()
        assert process.returncode == 0, said


def test_no_reader_of_the_counted_runs_took_a_second_or_256_mib() -> None:
    for one in counted(RUNS):
        assert one["slowest_ms"] < 1000
        assert one["memory_mib"] < 256
