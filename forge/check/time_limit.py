"""A time limit for pure Python code of others, in any thread."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimitPassed(BaseException):
    """Raised inside the limited code; not an Exception, so that the code's own handlers do not stop it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitPassed in this thread if the block runs longer.

    It takes effect between two bytecodes: code that stays inside one C call is not interrupted.
    """
    thread = threading.get_ident()
    lock = threading.Lock()
    over = False
    fired = False

    def interrupt() -> None:
        nonlocal fired
        with lock:
            if not over:
                fired = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitPassed))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
        timer.cancel()
        if fired:
            # It may not have been delivered yet; nothing outside the block is to see it.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
