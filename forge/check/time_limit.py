"""A time limit for pure Python code of others, in any thread."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class TimeLimitPassed(BaseException):
    """Raised inside the limited code; not an Exception, so that the code's own handlers do not stop it."""


@dataclass(slots=True, eq=False)
class _Limit:
    thread: int
    ends: float
    fired: bool = False


@dataclass(slots=True)
class _Watch:
    """One thread that watches all limits of the process: starting one for each would take as long as most blocks."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    limits: list[_Limit] = field(default_factory=list)
    runs: bool = False
    #: When the thread looks again.
    wakes: float = 0.0

    def add(self, limit: _Limit) -> None:
        with self.changed:
            self.limits.append(limit)
            if not self.runs:
                self.runs = True
                threading.Thread(target=self.watch, name="time limits", daemon=True).start()
            elif limit.ends < self.wakes:
                self.changed.notify()

    def remove(self, limit: _Limit) -> None:
        with self.changed:
            self.limits.remove(limit)

    def watch(self) -> None:
        with self.changed:
            while True:
                now = time.monotonic()
                for limit in self.limits:
                    if limit.ends <= now and not limit.fired:
                        limit.fired = True
                        _raise_in(limit.thread, TimeLimitPassed)
                self.wakes = min((limit.ends for limit in self.limits if not limit.fired), default=float("inf"))
                self.changed.wait(None if self.wakes == float("inf") else self.wakes - now)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


_watch = _Watch()


def _after_fork() -> None:
    """A forked process has none of the threads."""
    global _watch
    _watch = _Watch()


os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitPassed in this thread if the block runs longer.

    It takes effect between two bytecodes: code that stays inside one C call is not interrupted.
    """
    watch = _watch
    limit = _Limit(threading.get_ident(), time.monotonic() + seconds)
    watch.add(limit)
    try:
        yield
    finally:
        watch.remove(limit)
        if limit.fired:
            # It may not have been delivered yet; nothing outside the block is to see it.
            _raise_in(limit.thread, None)
