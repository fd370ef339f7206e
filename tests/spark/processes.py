"""The processes that Spark starts, found by their parents: tests end some of them, and only those."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
#: Seconds until a process that was killed is gone.
_END_LIMIT = 30.0
#: What Spark says where a Python process has not started within ten seconds, a limit that has no setting.
_NOT_STARTED = "Python worker failed to connect back"


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    command: str


def _all() -> Iterator[Process]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):  # It has ended meanwhile.
                parent = re.search(r"^PPid:\s*(\d+)$", (entry / "status").read_text(), re.MULTILINE)
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if parent and command:
                    yield Process(int(entry.name), int(parent.group(1)), command)


def below(pid: int) -> list[Process]:
    """The processes that ``pid`` started, those that these started, and so on."""
    children: dict[int, list[Process]] = {}
    for process in _all():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    open_ones = [pid]
    while open_ones:
        more = children.get(open_ones.pop(), [])
        found += more
        open_ones += [process.pid for process in more]
    return found


def task_workers(jvm: int) -> list[int]:
    """The Python processes that run tasks for that JVM, without the daemons that fork them."""
    known = below(jvm)
    daemons = {
        process.pid for process in known if process.parent == jvm and "pyspark.daemon pyspark.worker" in process.command
    }
    return [process.pid for process in known if process.parent in daemons]


def kill(pids: Sequence[int]) -> None:
    """SIGKILL to processes that a test has started.  Returns when none of them runs."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + _END_LIMIT
    while left := [pid for pid in pids if _runs(pid)]:
        if time.monotonic() > end:
            raise RuntimeError(f"processes that do not end: {left}")
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Driver:
    """A Python program that drives Spark, as a process of its own with this checkout's ``forge``.

    Its output is in ``log``.  Nothing of it is left when the block ends.
    """

    def __init__(self, program: Path, *arguments: str, log: Path) -> None:
        self.log = log
        path = os.pathsep.join([str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])])
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [sys.executable, str(program), *arguments],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """What it has printed, to which drivers with the same ``log`` before it have added."""
        return self.log.read_text(errors="replace")

    def ended(self) -> bool:
        return self._process.poll() is not None

    def starved(self) -> bool:
        """Whether it has ended because the machine was too busy to start a Python process: one more fault."""
        return self.ended() and _NOT_STARTED in self.output

    def wait(self, seconds: float = 900) -> int:
        """The exit code.  Raises subprocess.TimeoutExpired."""
        return self._process.wait(timeout=seconds)

    def await_output(self, words: str, seconds: float = 900) -> None:
        """Wait until it has printed these words.  Raises RuntimeError if it ends before, or after so many seconds."""
        end = time.monotonic() + seconds
        while words not in self.output:
            if self.ended() or time.monotonic() > end:
                raise RuntimeError(f"no {words!r} in its output:\n{self.output[-4000:]}")
            time.sleep(0.1)

    def jvm(self) -> int | None:
        """The JVM of the driver, if it runs by now."""
        found = (process.pid for process in below(self.pid) if "org.apache.spark.deploy.SparkSubmit" in process.command)
        return next(found, None)

    def kill(self, *, first: int | None = None) -> None:
        """SIGKILL to all its processes at once; or to ``first``, and half a second later to what is left.

        Returns when none is left that could still write.
        """
        running = [self.pid, *(process.pid for process in below(self.pid))]
        if first is not None:
            kill([first])
            time.sleep(0.5)
        kill(running)
        self._process.wait()
