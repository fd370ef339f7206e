"""What is timed: a subject does one piece of work as often as it is told and says what each pass cost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol

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


#: Makes one pass.
Pass = Callable[[], Cost]


class NotHere(Exception):
    """A subject cannot run on this machine; the message says what is missing."""


class Subject(Protocol):
    """Something to time.  ``prepare`` comes before the first round: what is done once is not what is timed.

    ``started`` gives what makes a pass, for the passes of one round: a process that makes them starts with it and ends
    with it.
    """

    def prepare(self) -> None: ...

    def started(self) -> AbstractContextManager[Pass]: ...


@dataclass(frozen=True, slots=True)
class InProcess:
    """Work of this process: ``run`` gives the number of rows, or bytes."""

    run: Callable[[], int]

    def prepare(self) -> None:
        self.run()  # compiled kernels, warm files

    def started(self) -> AbstractContextManager[Pass]:
        return nullcontext(self._once)

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

    def started(self) -> AbstractContextManager[Pass]:
        return nullcontext(self._once)

    def _once(self) -> Cost:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = time.perf_counter()
        ended = subprocess.run(self.command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wall = time.perf_counter() - wall
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ended.returncode:
            raise RuntimeError(f"{self.command[0]} ended with {ended.returncode}: {_last_line(ended.stderr.decode())}")
        return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, self.rows)


@dataclass(frozen=True, slots=True)
class OwnClock:
    """A program that makes a pass for every line that it reads, and prints what it cost as a JSON object in a line.

    ``warm_up`` passes come before those that count.  ``processor`` is the number of the one that it has to stay on.
    """

    command: Sequence[str]
    warm_up: int = 0
    environment: Mapping[str, str] | None = None
    processor: int | None = None

    def prepare(self) -> None:
        return

    @contextmanager
    def started(self) -> Iterator[Pass]:
        with TemporaryFile("w+") as errors, subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            env={**os.environ, **(self.environment or {})},
            preexec_fn=None if self.processor is None else partial(_stay_on, self.processor),
        ) as process:  # fmt: skip
            once = partial(self._once, process, errors)
            try:
                for _ in range(self.warm_up):
                    once()
                yield once
            except BaseException:
                process.kill()
                raise

    def _once(self, process: subprocess.Popen[str], errors: IO[str]) -> Cost:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write("\n")
            process.stdin.flush()
        cost = process.stdout.readline()
        if not cost:
            with suppress(BrokenPipeError):
                process.stdin.close()
            errors.seek(0)
            raise RuntimeError(f"{self.command[0]} ended with {process.wait()}: {_last_line(errors.read())}")
        return Cost(**json.loads(cost))


@dataclass(frozen=True, slots=True)
class FreshStarts:
    """Each pass is the first of a process of its own: what a start costs.  ``program`` is asked for each."""

    program: Callable[[], OwnClock]

    def prepare(self) -> None:
        return

    def started(self) -> AbstractContextManager[Pass]:
        return nullcontext(self._once)

    def _once(self) -> Cost:
        with self.program().started() as once:
            return once()


@dataclass(frozen=True, slots=True)
class Together:
    """The same work in several processes at once, each on a processor of its own; the cost is that of one share."""

    shares: Sequence[OwnClock]

    def prepare(self) -> None:
        return

    @contextmanager
    def started(self) -> Iterator[Pass]:
        with ExitStack() as processes, ThreadPoolExecutor(len(self.shares)) as waiting:
            passes = [processes.enter_context(share.started()) for share in self.shares]
            yield lambda: self._once(list(waiting.map(lambda once: once(), passes)))

    def _once(self, costs: Sequence[Cost]) -> Cost:
        wall, cpu = max(cost.wall for cost in costs), sum(cost.cpu for cost in costs)
        return Cost(wall / len(costs), cpu / len(costs), costs[0].rows)


def _stay_on(number: int) -> None:
    """Leave this process one of its processors: by itself it takes two."""
    if hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[number % len(processors)]})


def child(checkout: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> OwnClock:
    """Work of ``child.py`` in a fresh Python whose ``forge`` is the one in ``checkout``."""
    script = str(Path(__file__).with_name("child.py"))
    return OwnClock(
        [sys.executable, "-P", script, *arguments], environment={"PYTHONPATH": str(checkout), **(environment or {})}
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
