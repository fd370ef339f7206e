"""A stream whose driver is killed again and again has every row once.

``make kills`` does it 50 times.
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
from tests.columnar.growing import Ending, GrowingFolder, server_runs
from tests.spark.processes import Driver
from tests.spark.stream_to_parquet import ids_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

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
        for number in range(KILLS):
            name = tmp_path / f"life-{number}.log"
            with Driver(PROGRAM, "local[2,3]", str(log), str(out), *options, log=name) as driver:
                planned = offsets(out) + chance.randint(0, 2)
                driver.await_output("started")
                while offsets(out) < planned and not driver.ended():
                    time.sleep(0.05)
                time.sleep(chance.uniform(0, 2))
                assert not driver.ended(), driver.output
                driver.kill(first=chance.choice([None, driver.pid, driver.jvm()]))
    growing.grow()
    with Driver(PROGRAM, "local[2,3]", str(log), str(out), "now=yes", log=tmp_path / "last.log") as driver:
        assert driver.wait() == 0, driver.output
    batches = {path: ids_of(path) for path in out.glob("batch=*")}
    assert len(batches) > 1
    assert sorted(id for ids in batches.values() for id in ids) == [id for file in files for id in file.ids]
    assert not (out / "CHANGED").exists()
