"""A standalone Spark cluster on this machine, from the pip package: one master, workers on addresses of their own.

Workers on different addresses are different hosts for Spark, which local-cluster's are not: a speculative twin starts
only on another host.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.spark.java import find_java
from tests.spark.processes import HOME, below

#: Seconds that a daemon has until it says that it is there.
_START_LIMIT = 120.0


@dataclass(frozen=True, slots=True)
class StandaloneCluster:
    """``master`` is what a session connects to; ``folder`` has the logs of the daemons and of the executors.

    ``workers`` are the process ids of the workers' JVMs.
    """

    master: str
    folder: Path
    workers: tuple[int, ...]

    def executors(self) -> list[int]:
        """The process ids of the executors' JVMs."""
        running = (process for worker in self.workers for process in below(worker))
        return [process.pid for process in running if "CoarseGrainedExecutorBackend" in process.command]


@contextlib.contextmanager
def standalone_cluster(folder: Path, workers: int = 2, cores: int = 1) -> Iterator[StandaloneCluster]:
    """A cluster whose files are in ``folder``; each worker has so many cores and a gigabyte.

    A session on it needs a process of its own (tests.spark.processes.Driver): the tests' process has its JVM.
    """
    folder.mkdir(parents=True, exist_ok=True)
    import pyspark

    environment = {
        **os.environ,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "JAVA_HOME": str(find_java().prepare_home(folder)),
        "PYTHONPATH": str(HOME),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    port = _free_port()
    with contextlib.ExitStack() as closing:

        def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
            command = ["bash", str(Path(environment["SPARK_HOME"]) / "bin" / "spark-class"), *arguments]
            log = closing.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
            closing.callback(_end, process)
            return process

        master = start(
            "master", "org.apache.spark.deploy.master.Master",
            "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0",
        )  # fmt: skip
        _await(folder / "master.log", "New state: ALIVE", master)
        address = f"spark://127.0.0.1:{port}"
        started = {
            f"worker-{number}": start(
                f"worker-{number}", "org.apache.spark.deploy.worker.Worker",
                "--host", f"127.0.0.{number + 1}", "--webui-port", "0", "--cores", str(cores), "--memory", "1g",
                "--work-dir", str(folder / f"worker-{number}"), address,
            )
            for number in range(1, workers + 1)
        }  # fmt: skip
        for name, worker in started.items():
            _await(folder / f"{name}.log", "Successfully registered with master", worker)
        yield StandaloneCluster(address, folder, tuple(worker.pid for worker in started.values()))


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def _await(log: Path, words: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_LIMIT
    while words not in (text := log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"no {words!r} in {log.name}:\n{text[-2000:]}")
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """A worker that is told to end ends its executors."""
    process.terminate()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
