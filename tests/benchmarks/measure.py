"""What is timed: a subject does one piece of work several times in a row and says what each pass cost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

#: A pass that takes longer (seconds) is not repeated within its round.
LONG_PASS = 10.0
#: Passes of a new process that do not count: what a just-in-time compiler needs, and memory that is not yet there.
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """One pass: seconds by the clock and of the processors, and what was done."""

    wall: float
    cpu: float
    #: Rows; bytes where the work has no rows.
    rows: int = 0
    #: Bytes of memory that the process held at most (VmHWM), 0 where it is not known.
    peak: int = 0


class NotHere(Exception):
    """A subject cannot run on this machine; the message says what is missing."""


class Subject(Protocol):
    """Something to time.  ``prepare`` comes before the first pass: what is done once is not what is timed."""

    def prepare(self) -> None: ...

    def passes(self, count: int) -> list[Cost]: ...


def repeated(count: int, one: Callable[[], Cost]) -> list[Cost]:
    """Up to ``count`` passes; a long one is the last."""
    costs: list[Cost] = []
    while len(costs) < count and not (costs and costs[-1].wall > LONG_PASS):
        costs.append(one())
    return costs


@dataclass(frozen=True, slots=True)
class InProcess:
    """Work of this process: ``run`` gives the number of rows, or bytes."""

    run: Callable[[], int]

    def prepare(self) -> None:
        self.run()  # compiled kernels, warm files

    def passes(self, count: int) -> list[Cost]:
        return repeated(count, self._once)

    def _once(self) -> Cost:
        wall, cpu = time.perf_counter(), time.process_time()
        rows = self.run()
        return Cost(time.perf_counter() - wall, time.process_time() - cpu, rows)


@dataclass(frozen=True, slots=True)
class WholeProgram:
    """A program that is started for every pass; its start is part of what it costs.  What it prints is thrown away."""

    command: Sequence[str]
    rows: int

    def prepare(self) -> None:
        return

    def passes(self, count: int) -> list[Cost]:
        return repeated(count, self._once)

    def _once(self) -> Cost:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = time.perf_counter()
        ended = subprocess.run(self.command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wall = time.perf_counter() - wall
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ended.returncode:
            raise RuntimeError(f"{self.command[0]} ended with {ended.returncode}: {_last_line(ended.stderr)}")
        return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, self.rows)


@dataclass(frozen=True, slots=True)
class OwnClock:
    """A program that is told how many passes to make and prints what each cost as a JSON object a line.

    ``warm_up`` passes come before those that count: what a just-in-time compiler needs.
    """

    command: Callable[[int], Sequence[str]]
    warm_up: int = 0
    environment: Mapping[str, str] | None = None

    def prepare(self) -> None:
        return

    def passes(self, count: int) -> list[Cost]:
        ended = subprocess.run(
            self.command(count + self.warm_up), check=False, capture_output=True, text=True,
            env={**os.environ, **(self.environment or {})},
        )  # fmt: skip
        if ended.returncode:
            raise RuntimeError(
                f"{self.command(0)[0]} ended with {ended.returncode}: {_last_line(ended.stderr.encode())}"
            )
        return [Cost(**json.loads(line)) for line in ended.stdout.splitlines()][self.warm_up :]


@dataclass(frozen=True, slots=True)
class FreshStarts:
    """Each pass is the first of a process of its own: what a start costs.  ``program`` is asked for each."""

    program: Callable[[], OwnClock]

    def prepare(self) -> None:
        return

    def passes(self, count: int) -> list[Cost]:
        return repeated(count, lambda: self.program().passes(1)[0])


@dataclass(frozen=True, slots=True)
class Together:
    """The same work in several processes at once, each on a processor of its own; the cost is that of one share."""

    processes: int
    command: Callable[[int], Sequence[str]]
    environment: Mapping[str, str]

    def prepare(self) -> None:
        return

    def passes(self, count: int) -> list[Cost]:
        started = [
            subprocess.Popen(
                self.command(count), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={**os.environ, **self.environment},
                preexec_fn=partial(_stay_on, number),
            )
            for number in range(self.processes)
        ]  # fmt: skip
        for process in started:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError(f"{self.command(0)[0]} did not become ready")
        for process in started:
            if process.stdin is not None:
                process.stdin.write("\n")
                process.stdin.flush()
        costs = [
            [Cost(**json.loads(line)) for line in process.communicate()[0].splitlines()] for process in started
        ]  # fmt: skip
        wall = max(sum(cost.wall for cost in own) for own in costs)
        cpu = sum(cost.cpu for own in costs for cost in own)
        shares = count * self.processes
        return [Cost(wall / shares, cpu / shares, costs[0][0].rows)]


def _stay_on(number: int) -> None:
    """Leave this process one of its processors: by itself it takes two."""
    if hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[number % len(processors)]})


def child(checkout: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> OwnClock:
    """Work of ``child.py`` in a fresh Python whose ``forge`` is the one in ``checkout``."""
    script = str(Path(__file__).with_name("child.py"))
    return OwnClock(
        lambda count: [sys.executable, "-P", script, str(count), *arguments],
        environment={"PYTHONPATH": str(checkout), **(environment or {})},
    )


def _last_line(text: bytes) -> str:
    return (text.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
