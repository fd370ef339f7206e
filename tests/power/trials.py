"""Mutants tried: each in a process of its own, whose functions get the changed code in the place of theirs."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import resource
import signal
from collections.abc import Callable, Sequence
from typing import Any

from tests.power.logs import Log
from tests.power.mutants import Mutant, mutated
from tests.power.subjects import Subject
from tests.power.tracing import Living, codes_of, place_of

#: Seconds for a log, and bytes of memory, that a mutant may take more than the decoder ever does.
_SECONDS = 2.0
_MEMORY = 3 << 30
_LOCALS = re.compile(r"\.<locals>")


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


def tried(
    subject: Subject,
    living: Living,
    mutant: Mutant,
    logs: Sequence[Log],
    chosen: Sequence[int],
    right: Sequence[bytes],
) -> int | None:
    """The number of the first chosen log that tells the mutant from the decoder; -1 if none does.

    None if the mutant cannot be made.
    """

    def work() -> int | None:
        # The function that is meant, or the living one that makes it.
        place = mutant.function
        makers = {place[1]} | {place[1][: at.start()] for at in _LOCALS.finditer(place[1])}
        given = [place_of(one.__code__)[1] for one in living.give(codes_of(mutated(mutant)))]
        if makers.isdisjoint(given):
            return None
        limits()
        return next((number for number in chosen if digest(subject, logs[number]) != right[number]), -1)

    answer = in_child(lambda: (work(),))
    # A process that died is told by the log that it died of.
    return chosen[0] if answer is None else answer[0]
