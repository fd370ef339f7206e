"""Faults in the middle of a write: no half-written or doubled log, no lost row, and the same program again finishes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import forge
from tests.spark.processes import Driver, kill, task_workers
from tests.spark.sink_writes import TABLE, logs, rows, temporaries
from tests.spark.standalone import StandaloneCluster

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.nightly]

LOCAL = "local[2,3]"
#: So many that what a task has made before it waits is more than a pipe holds.
ROWS, PARTITIONS = 160_000, 8
#: Each task waits in the middle of its rows until there is a file `go`; the first of partition 1 for good, with `twin`.
PROGRAM = f"""
import signal, sys, time
from pathlib import Path
from forge.spark.session import job_errors, spark_session
from forge.spark.source import register

master, folder, flags, twin = sys.argv[1], sys.argv[2], Path(sys.argv[3]), "twin" in sys.argv
conf = {{"spark.executor.memory": "512m", "spark.cores.max": "2"}}
conf["spark.sql.execution.arrow.maxRecordsPerBatch"] = "500"
if twin:
    conf |= {{"spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.quantile": "0.2",
             "spark.speculation.multiplier": "1.1", "spark.speculation.minTaskRuntime": "100ms"}}

def held(batches):
    import os, time
    import pyarrow as pa
    from pyspark import TaskContext
    task = TaskContext.get()
    for number, batch in enumerate(batches):
        ids = batch["id"].to_pylist()
        yield pa.record_batch([pa.array(ids, pa.int32()), pa.array(["x" * (n % 17) for n in ids])], ["id", "who"])
        while twin and task.partitionId() == 1 and task.attemptNumber() and not (flags / "task-1-0").exists():
            time.sleep(0.02)  # The twin is not done before the first is in the middle.
        if number == 35:
            (flags / f"task-{{task.partitionId()}}-{{task.attemptNumber()}}").touch()
            hangs = twin and task.partitionId() == 1 and not task.attemptNumber()
            while hangs or not (flags / "go").exists():
                time.sleep(0.02)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # What runs in the background of a shell has it ignored.
    with spark_session(master, conf=conf) as session:
        register(session)
        frame = session.range(0, {ROWS}, 1, {PARTITIONS}).mapInArrow(held, "id INT, who STRING")
        options = {{"table": {TABLE!r}, "rows_per_transaction": 33, "max_binlog_size": 1000000}}
        with job_errors():
            frame.write.format("binlog").mode("append").options(**options).save(folder)
        print("written", flush=True)
"""


class Scene:
    """A program that writes, the folder that it writes to, and the files by which its tasks are held."""

    def __init__(self, folder: Path, target: Path | None = None) -> None:
        self.folder = folder
        self.target = target or folder / "logs"
        self.flags = folder / "flags"
        self.flags.mkdir()
        self.program = folder / "driver.py"
        self.program.write_text(PROGRAM)

    def start(self, master: str, *words: str) -> Driver:
        log = self.folder / "driver.log"
        return Driver(self.program, master, str(self.target), str(self.flags), *words, log=log)

    def held(self, driver: Driver, tasks: int = 2) -> None:
        """Wait until so many tasks are in the middle of their rows, some of which are written."""
        end = time.monotonic() + 900
        while len(list(self.flags.glob("task-*"))) < tasks or not list(self.target.glob("_temporary-*/part-*")):
            assert not driver.ended(), driver.output
            assert time.monotonic() < end, driver.output
            time.sleep(0.05)

    def let_go(self) -> None:
        (self.flags / "go").touch()

    def finishes(self, driver: Driver) -> None:
        """The program ends well, and the folder holds what one process writes of the rows."""
        assert driver.wait() == 0, driver.output
        assert "written" in driver.output
        self.is_whole()

    def is_whole(self) -> None:
        session = forge.Session(max_binlog_size=1_000_000)
        first = self.folder / "expected" / "binlog.000001"
        first.parent.mkdir()
        written = forge.write_rows(rows(0, ROWS), TABLE, first, rows_per_transaction=33, session=session)
        expected = {path.name: path.read_bytes() for path in written.files}
        assert len(expected) > 2
        made = logs(self.target)
        assert made.pop("binlog.index").decode().split() == [f"./{name}" for name in expected]
        assert made == expected
        assert temporaries(self.target) == []

    def has_nothing(self) -> None:
        """No log has a name."""
        assert not self.target.exists() or logs(self.target) == {}

    def finishes_again(self, master: str) -> None:
        """The same program again."""
        self.let_go()
        with self.start(master) as driver:
            self.finishes(driver)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_driver_that_is_killed_leaves_no_log_and_its_program_again_finishes(scene: Scene) -> None:
    with scene.start(LOCAL) as driver:
        scene.held(driver)
        assert temporaries(scene.target)
        driver.kill()
    scene.has_nothing()
    scene.finishes_again(LOCAL)


def test_a_python_worker_that_is_killed_is_tried_again(scene: Scene) -> None:
    with scene.start(LOCAL) as driver:
        scene.held(driver)
        jvm = driver.jvm()
        assert jvm is not None
        kill(task_workers(jvm))
        scene.let_go()
        scene.finishes(driver)


def test_ctrl_c_leaves_no_log_and_the_program_again_finishes(scene: Scene) -> None:
    with scene.start(LOCAL) as driver:
        scene.held(driver)
        os.kill(driver.pid, signal.SIGINT)
        assert driver.wait() != 0
        scene.let_go()
    scene.has_nothing()
    scene.finishes_again(LOCAL)


def test_the_jvm_of_a_driver_may_be_killed_while_the_commit_works(scene: Scene) -> None:
    scene.let_go()
    with scene.start(LOCAL) as driver:
        end = time.monotonic() + 900
        while not list(scene.target.glob("_temporary-*/new")):
            assert time.monotonic() < end, driver.output
            assert not driver.ended(), driver.output
            time.sleep(0.001)
        driver.kill(first=driver.jvm())
    if "written" in driver.output or (scene.target / "_manifest.json").exists():
        scene.is_whole()
        return
    scene.finishes_again(LOCAL)


@pytest.mark.parametrize("size", [400, 3200])
def test_a_full_disk_ends_the_write_with_a_sentence_and_room_lets_it_finish(tmp_path: Path, size: int) -> None:
    """With room for no part, and for the parts but not for the logs."""
    with _small_disk(tmp_path / "disk", size) as enlarge:
        scene = Scene(tmp_path, tmp_path / "disk" / "logs")
        scene.let_go()
        with scene.start(LOCAL) as driver:
            assert driver.wait() != 0
            assert "No space left on device" in driver.output.splitlines()[-1]
        scene.has_nothing()
        assert temporaries(scene.target) == []
        enlarge()
        scene.finishes_again(LOCAL)


@contextmanager
def _small_disk(folder: Path, kilobytes: int) -> Iterator[Callable[[], None]]:
    """A disk of that size; what is given makes it larger.  Only root may have one."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "forge", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")

    def enlarge() -> None:
        subprocess.run(["mount", "-o", "remount,size=50m", str(folder)], check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_executors_that_are_killed_come_back_and_the_write_finishes(scene: Scene, cluster: StandaloneCluster) -> None:
    with scene.start(cluster.master) as driver:
        scene.held(driver)
        kill(cluster.executors())
        scene.let_go()
        scene.finishes(driver)


def test_one_of_two_twins_counts(scene: Scene, cluster: StandaloneCluster) -> None:
    scene.let_go()
    with scene.start(cluster.master, "twin") as driver:
        scene.finishes(driver)
    assert (scene.flags / "task-1-0").exists()
    assert (scene.flags / "task-1-1").exists()


def test_a_driver_of_a_cluster_that_is_killed_leaves_no_log(scene: Scene, cluster: StandaloneCluster) -> None:
    with scene.start(cluster.master) as driver:
        scene.held(driver)
        driver.kill()
    scene.has_nothing()
    scene.finishes_again(cluster.master)
