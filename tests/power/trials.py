"""Mutants tried: each in a process of its own, whose functions get the changed code in the place of theirs."""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import pickle
import resource
import signal
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from tests.power.logs import Log
from tests.power.mutants import Mutant, mutated
from tests.power.subjects import Subject
from tests.power.tracing import Place

#: Seconds for a log, and bytes of memory, that a mutant may take more than the decoder ever does.
_SECONDS = 2.0
_MEMORY = 3 << 30


class _TooLongError(BaseException):
    """No error that a decoder would catch."""


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` gives in a process that is forked off; None if that dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            with os.fdopen(writing, "wb") as out:
                pickle.dump(work(), out)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        data = answers.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 else None  # Our own child's.


def digest(subject: Subject, log: Log) -> bytes:
    """What the decoder shows of a log, in 12 bytes."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        shown = subject.read(log)
    except _TooLongError:
        return b"too long"
    except (MemoryError, RecursionError) as error:
        return type(error).__name__.encode()
    except Exception as error:  # noqa: BLE001  # A mutant may raise anything.
        return f"raised {type(error).__name__}".encode()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).digest()[:12]


def baselines(subject: Subject, logs: Sequence[Log]) -> list[bytes]:
    """The digests of all logs."""
    limits()
    return [digest(subject, log) for log in logs]


def limits() -> None:
    def stop(_: int, __: object) -> None:
        raise _TooLongError

    signal.signal(signal.SIGVTALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


class Functions:
    """The functions of a subject that are alive, and the caches before them."""

    def __init__(self, subject: Subject) -> None:
        files = {str(path) for path in subject.files}
        objects = gc.get_objects()
        self.by_file: dict[str, list[FunctionType]] = {}
        for one in objects:
            if isinstance(one, FunctionType) and one.__code__.co_filename in files:
                self.by_file.setdefault(one.__code__.co_filename, []).append(one)
        self.caches = [one for one in objects if isinstance(one, functools._lru_cache_wrapper)]

    def change(self, mutant: Mutant) -> bool:
        """Give the functions of the file the changed code; False if none is the one that is meant."""
        codes: dict[Place, CodeType] = {}
        _collect(mutated(mutant), codes)
        changed = False
        for function in self.by_file.get(str(mutant.path), ()):
            code = function.__code__
            place = (code.co_filename, code.co_qualname, code.co_firstlineno)
            other = codes.get(place)
            if other is not None and len(other.co_freevars) == len(code.co_freevars):
                function.__code__ = other
                changed |= place == mutant.function or mutant.function[1].startswith(f"{place[1]}.<locals>")
        for cache in self.caches:
            cache.cache_clear()
        return changed


def _collect(code: CodeType, codes: dict[Place, CodeType]) -> None:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            codes.setdefault((constant.co_filename, constant.co_qualname, constant.co_firstlineno), constant)
            _collect(constant, codes)


def tried(
    subject: Subject,
    functions: Functions,
    mutant: Mutant,
    logs: Sequence[Log],
    chosen: Sequence[int],
    right: Sequence[bytes],
) -> int | None:
    """The number of the first chosen log that tells the mutant from the decoder; -1 if none does.

    None if the mutant cannot be made.
    """

    def work() -> int | None:
        if not functions.change(mutant):
            return None
        limits()
        return next((number for number in chosen if digest(subject, logs[number]) != right[number]), -1)

    answer = in_child(lambda: (work(),))
    # A process that died is told by the log that it died of.
    return chosen[0] if answer is None else answer[0]
