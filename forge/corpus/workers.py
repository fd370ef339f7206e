"""Who carries out the tasks of a build: this process, or several; ``forge.spark.corpus`` has a cluster."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import Protocol, TypeVar

from forge.errors import ForgeError
from forge.progress import Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


#: Objects more than before at which Python looks for cycles.
_OBJECTS = 100_000


@contextmanager
def few_collections() -> Iterator[None]:
    """Python looks for cycles seldom, and not among what is there already: a case makes many objects and few cycles."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


class Workers(Protocol):
    """Who carries out tasks.  A task may be tried again, or twice at once: only the result that is given counts."""

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[Result]:
        """What ``work`` gives of each task, in any order.  Raises what it raises, or ForgeError."""


@dataclass(frozen=True, slots=True)
class ThisProcess:
    """One task after the other, here."""

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[Result]:
        results = []
        for number, task in enumerate(tasks, start=1):
            results.append(work(task))
            if progress is not None:
                progress(number, len(tasks))
        return results


def _begin() -> None:
    """In a process of a pool: Ctrl-C is for its parent to tell of, and a parent that is killed ends it too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@dataclass(frozen=True, slots=True)
class Processes:
    """As many processes as there are cores, or ``count``; ``work`` must be found by its module.

    ``modules``: what they need, loaded once, by a process that they are forked from and which has no threads of Python.
    """

    count: int | None = None
    modules: tuple[str, ...] = ()

    def begin(self) -> Processes:
        """Have the modules loaded while the caller goes on."""
        multiprocessing.set_forkserver_preload(list(self.modules))
        # It minds no Ctrl-C, which is for this process to tell of.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return self

    def run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
    ) -> list[Result]:
        return list(self._results(work, tasks, progress))

    def _results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None
    ) -> Iterator[Result]:
        if not tasks:
            return
        count = min(self.count or len(os.sched_getaffinity(0)), len(tasks))
        # Not forked from this process: it may have threads, whose locks a fork would copy in any state.
        context = multiprocessing.get_context("forkserver" if self.modules else "spawn")
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin)
        try:
            pending = [pool.submit(work, task) for task in tasks]
            for number, done in enumerate(as_completed(pending), start=1):
                yield done.result()
                if progress is not None:
                    progress(number, len(tasks))
        except BrokenProcessPool:
            raise ForgeError("a worker process was killed; the work has stopped") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def in_chunks(
    work: Callable[[Sequence[Task]], Sequence[Result]],
    tasks: Sequence[Task],
    size: int,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """What ``work`` gives of all tasks, of which it takes ``size`` at once, in any order.

    This process does it for one job, and for one chunk.
    """
    chunks = [tasks[at : at + size] for at in range(0, len(tasks), size)]
    told = None if progress is None else lambda done, _: progress(min(done * size, len(tasks)), len(tasks))
    workers = ThisProcess() if jobs == 1 or len(chunks) < 2 else Processes(jobs)
    return [result for results in workers.run(work, chunks, told) for result in results]
