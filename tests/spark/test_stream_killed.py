"""A stream has every row once: its driver is killed again and again, or what works for it.

``make kills`` kills the driver 50 times.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

from forge.spark.stream import HAS_ADMISSION
from tests.bulk.growing import Ending, GrowingFolder, LogFile, server_runs
from tests.spark.processes import Driver, kill, task_workers
from tests.spark.stream_to_parquet import ids_of

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.nightly]

KILLS = int(os.environ.get("FORGE_STREAM_KILLS", "3"))
SEED = int(os.environ.get("FORGE_STREAM_SEED", "1"))
PROGRAM = Path(__file__).with_name("stream_to_parquet.py")


@contextmanager
def growth(growing: GrowingFolder, pause: float) -> Iterator[None]:
    """The folder grows step by step while the block runs."""
    ended = threading.Event()

    def grow() -> None:
        while growing.grow(1) and not ended.wait(pause):
            pass

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def offsets(out: Path) -> int:
    """How many batches were planned."""
    return len([path for path in (out / "checkpoint" / "offsets").glob("*") if path.name.isdecimal()])


def await_offsets(driver: Driver, out: Path, planned: int) -> bool:
    """Wait until so many batches were planned; False if the driver found no time for it."""
    while offsets(out) < planned:
        if driver.starved():
            return False
        assert not driver.ended(), driver.output
        time.sleep(0.05)
    return True


def finish(log: Path, out: Path, logs: Path) -> None:
    """The query once more, to the end of what is there."""
    for life in range(5):
        name = logs / f"last-{life}.log"
        with Driver(PROGRAM, "local[2,3]", str(log), str(out), "now=yes", log=name) as driver:
            if driver.wait() == 0:
                return
            assert driver.starved(), driver.output
    raise AssertionError("the machine is too busy")


def assert_every_row_once(out: Path, files: list[LogFile]) -> None:
    batches = {path: ids_of(path) for path in out.glob("batch=*")}
    assert len(batches) > 1
    assert sorted(id for ids in batches.values() for id in ids) == [id for file in files for id in file.ids]
    assert not (out / "CHANGED").exists()


def test_a_stream_that_is_killed_at_random_has_every_row_once(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    log, out = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    out.mkdir()
    endings: list[Ending] = [chance.choice(("stop", "crash", "rotate")) for _ in range(2 + KILLS)]
    files = server_runs(tmp_path / "made", endings, rows=2500, file_size=1 << 16, seed=SEED)
    growing = GrowingFolder(log, files, seed=SEED)
    growing.grow(5)
    options = ["split_size=6k", *(["maxBytesPerTrigger=20k"] if HAS_ADMISSION else [])]
    with growth(growing, 0.2):
        killed = lives = 0
        while killed < KILLS:
            lives += 1
            name = tmp_path / f"life-{lives}.log"
            with Driver(PROGRAM, "local[2,3]", str(log), str(out), *options, log=name) as driver:
                planned = offsets(out) + chance.randint(0, 2)
                driver.await_output("started")
                if not await_offsets(driver, out, planned):
                    assert lives < 2 * KILLS + 10, driver.output
                    continue
                time.sleep(chance.uniform(0, 2))
                driver.kill(first=chance.choice([None, driver.pid, driver.jvm()]))
                killed += 1
    growing.grow()
    finish(log, out, tmp_path)
    assert_every_row_once(out, files)


@pytest.mark.parametrize("hosts", ["local", "cluster"])
def test_workers_that_are_killed_and_tasks_that_fail_cost_no_row(
    hosts: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cluster = request.getfixturevalue("cluster") if hosts == "cluster" else None
    log, out = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    out.mkdir()
    files = server_runs(tmp_path / "made", ["crash", "stop"], rows=900, file_size=1 << 14)
    growing = GrowingFolder(log, files)
    growing.grow(5)
    master = "local[2,3]" if cluster is None else cluster.master
    options = ["fail=yes", "split_size=6k", *(["maxBytesPerTrigger=20k"] if HAS_ADMISSION else [])]
    with (
        growth(growing, 0.1),
        Driver(PROGRAM, master, str(log), str(out), *options, log=tmp_path / "log.txt") as driver,
    ):
        driver.await_output("started")
        for number in range(3):
            await_offsets(driver, out, offsets(out) + 1)
            if cluster is not None and number == 1:
                kill(cluster.executors()[:1])
            jvms = [driver.jvm()] if cluster is None else cluster.executors()
            kill([worker for jvm in jvms if jvm for worker in task_workers(jvm)])
        growing.grow()
        (out / "end").touch()
        assert driver.wait() == 0, driver.output
    assert_every_row_once(out, files)
