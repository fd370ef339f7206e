"""The cluster that tests of faults use: two hosts that find forge, and whose executors come back."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")

from tests.spark.processes import Driver, kill
from tests.spark.standalone import StandaloneCluster

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.nightly]

PROGRAM = """
import sys, time
from pathlib import Path
from forge.spark.session import spark_session

def task(number):
    import time
    from pyspark import TaskContext
    time.sleep(0.5)
    return number, TaskContext.get().attemptNumber()

if __name__ == "__main__":
    conf = {"spark.executor.memory": "512m", "spark.cores.max": "2"}
    with spark_session(sys.argv[1], conf=conf) as session:
        for turn in range(2):
            print("turn", turn, flush=True)
            done = session.sparkContext.parallelize(range(8), 8).map(task).collect()
            print(sorted(number for number, _ in done), flush=True)
            while not turn and not Path(sys.argv[2]).exists():
                time.sleep(0.1)
"""


def test_jobs_go_on_when_their_executors_are_killed(cluster: StandaloneCluster, tmp_path: Path) -> None:
    program = tmp_path / "driver.py"
    program.write_text(PROGRAM)
    killed = tmp_path / "killed"
    with Driver(program, cluster.master, str(killed), log=tmp_path / "driver.log") as driver:
        driver.await_output("7]")
        executors = cluster.executors()
        assert len(executors) == 2, driver.output
        kill(executors)
        killed.touch()
        assert driver.wait() == 0, driver.output
        assert driver.output.count("[0, 1, 2, 3, 4, 5, 6, 7]") == 2
