"""A testee as a process: asked one file after the other, started again after a crash, stopped at its limits."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from forge.conform.comparison import Reading
from forge.conform.kit.protocol import VERSION, Answer, Hello, Level, Request, parse_answer, request_line
from forge.errors import EnvironmentMissing, ScenarioError
from forge.events.plain import one_line

#: Bytes that are read at once, and kept of each end of what a testee says on standard error.
_PIECE: Final = 1 << 16
_TAIL: Final = 1 << 12
#: Seconds between two looks at the memory.
_LOOK: Final = 0.05
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_PROCESSES: Final = Path("/proc/self").parent
#: From the id of a request to the next one: an answer that comes before it was asked for has none of these.
_STEP: Final = 7
#: Characters of a testee's words that are kept.
_MESSAGE: Final = 400


@dataclass(frozen=True, slots=True)
class Limits:
    """What a testee may take for a file: seconds, bytes of memory, bytes of answers.  Its start may take ``start``
    seconds.
    """

    seconds: float = 20.0
    memory: int = 2 << 30
    output: int = 256 << 20
    start: float = 30.0


class _Stopped(Exception):
    """The process did not answer as it has to.  It never leaves this module."""

    def __init__(self, ended: Literal["crashed", "timeout"], message: str) -> None:
        self.ended: Literal["crashed", "timeout"] = ended
        self.message = message


class _Stray(_Stopped):
    """It answered another request, as it may have gone wrong with the file before.  It never leaves this module."""

    def __init__(self, message: str) -> None:
        super().__init__("crashed", message)


class Testee:
    """One process of a testee.  ``command`` is split as a shell does it.

    Use as a context manager, or call :meth:`close`.
    """

    __test__ = False  # No test class of pytest's.

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        self.command = shlex.split(command)
        if not self.command:
            raise ScenarioError("the command of the testee is empty", expected="a program and its arguments")
        self.limits = limits or Limits()
        self.starts = 0
        self._hello: Hello | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._selector = selectors.DefaultSelector()
        #: Whole lines of its output, and the pieces of a line that is not whole.
        self._lines: deque[bytes] = deque()
        self._rest: list[bytes] = []
        self._errors = b""
        self._number = 0

    def __enter__(self) -> Testee:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hello(self) -> Hello:
        """Who the testee is.  Raises EnvironmentMissing if it cannot be started; ScenarioError if it says something
        else than the protocol has.
        """
        if self._hello is None:
            try:
                said = self._start()
            except _Stopped as stopped:
                self._kill()
                raise ScenarioError(
                    f"the testee {shlex.join(self.command)!r} does not say hello: {said_in_a_line(stopped.message)}"
                ) from None
            self._hello = msgspec.structs.replace(
                said,
                name=said_in_a_line(said.name),
                version=said_in_a_line(said.version),
                language=None if said.language is None else said_in_a_line(said.language),
                limits=[said_in_a_line(limit) for limit in said.limits],
            )
        return self._hello

    def read(
        self,
        path: Path,
        level: Level,
        flavor: Literal["mysql", "mariadb"],
        server: str,
        *,
        most: int | None = None,
        coverage: bool = False,
    ) -> Reading:
        """What it says of a file, in ``most`` bytes (or those of its limits).  Raises nothing for all that it does.

        With ``coverage`` it is asked for that, if it can say it.
        """
        # What it says beyond its answers belongs to a file before: a new process is asked about this one.
        if self._process is not None and not self._has_more():
            with contextlib.suppress(_Stray):
                return self._reading(path, level, flavor, server, most, coverage)
        self._kill()
        try:
            return self._reading(path, level, flavor, server, most, coverage)
        except _Stray as stray:
            self._kill()
            return Reading(ended=stray.ended, message=said_in_a_line(stray.message))

    def _reading(
        self,
        path: Path,
        level: Level,
        flavor: Literal["mysql", "mariadb"],
        server: str,
        most: int | None,
        coverage: bool,
    ) -> Reading:
        """As :meth:`read`.  Raises _Stray for an answer to another request."""
        reading = Reading()
        try:
            if self._process is None:
                self._start()
            self._number += _STEP
            deadline = time.monotonic() + self.limits.seconds
            request = Request(
                id=self._number, file=str(path), level=level, flavor=flavor, server=server,
                coverage=True if coverage and self._hello is not None and self._hello.coverage else msgspec.UNSET,
            )  # fmt: skip
            self._send(request)
            for answer in self._answers(deadline, most):
                if answer.end is not None:
                    if answer.id is None:
                        raise _Stopped("crashed", "its end does not have the id of the request")
                    reading.ended, reading.coverage = answer.end, answer.coverage
                    reading.message = None if answer.message is None else said_in_a_line(answer.message)
                    break
                _take(answer, reading)
        except _Stray:
            raise
        except _Stopped as stopped:
            self._kill()
            reading.ended, reading.message = stopped.ended, said_in_a_line(stopped.message)
        return reading

    def _has_more(self) -> bool:
        """Whether it said more than was asked for, or closed its output behind the last answer."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            said = os.read(self._process.stdout.fileno(), _PIECE)
        except BlockingIOError:
            said = b"\n"
        return not said or any(part.strip() for part in (said, *self._lines, *self._rest))

    def close(self) -> None:
        """End the process."""
        self._kill()
        self._selector.close()

    def _start(self) -> Hello:
        try:
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise EnvironmentMissing(f"the testee {self.command[0]!r} cannot be started: {error.strerror}") from None
        self._process = process
        self.starts += 1
        self._lines.clear()
        self._rest.clear()
        self._errors = b""
        self._number = 0
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector.register(process.stdout, selectors.EVENT_READ)
        self._selector.register(process.stderr, selectors.EVENT_READ)
        self._send(Request(id=0, hello=VERSION))
        answer = next(self._answers(time.monotonic() + self.limits.start))
        if answer.hello is None:
            raise _Stopped("crashed", "its first answer is no hello")
        return answer.hello

    def _send(self, request: Request) -> None:
        """Requests are short: a pipe takes one whole, if the testee is reading at all."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), request_line(request))
        except BlockingIOError:
            raise _Stopped("timeout", "it does not read its requests") from None
        except OSError:
            raise _Stopped("crashed", self._death()) from None

    def _answers(self, deadline: float, most: int | None = None) -> Iterator[Answer]:
        """The answers as they come, up to the deadline."""
        got, most = 0, min(most or self.limits.output, self.limits.output)
        while True:
            while self._lines:
                line = self._lines.popleft()
                if not line.strip():
                    continue
                try:
                    answer = parse_answer(line)
                except ValueError as error:
                    raise _Stopped("crashed", str(error)) from None
                if answer.id not in (None, self._number):
                    raise _Stray(f"it answers request {answer.id}, asked for {self._number}")
                yield answer
            piece = self._piece(deadline)
            got += len(piece)
            if got > most:
                raise _Stopped("crashed", f"it had said {got} bytes without coming to an end")
            self._rest.append(piece)
            if b"\n" in piece:
                *lines, rest = b"".join(self._rest).split(b"\n")
                self._lines.extend(lines)
                self._rest = [rest]

    def _piece(self, deadline: float) -> bytes:
        """The next bytes of its output."""
        assert self._process is not None
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _Stopped("timeout", f"it had not ended after {self.limits.seconds:g} s{self._said()}")
            ready = self._selector.select(min(left, _LOOK))
            self._look_at_memory()
            if not ready and self._process.poll() is not None:  # A process that it started holds its output open.
                raise _Stopped("crashed", self._death())
            for key, _ in ready:
                data = os.read(key.fd, _PIECE)
                if key.fileobj is self._process.stderr:
                    self._errors = _ends(self._errors + data)
                    if not data:
                        self._selector.unregister(key.fileobj)
                elif data:
                    return data
                else:
                    raise _Stopped("crashed", self._death())

    def _look_at_memory(self) -> None:
        assert self._process is not None
        used = resident(self._process.pid)
        if used > self.limits.memory:
            raise _Stopped("crashed", f"it used {used >> 20} MiB of memory; the limit is {self.limits.memory >> 20}")

    def _death(self) -> str:
        """How the process ended, and its last words."""
        assert self._process is not None
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"it closed its output{self._said()}"
        assert self._process.stderr is not None
        with contextlib.suppress(OSError):
            self._errors = _ends(self._errors + (os.read(self._process.stderr.fileno(), _PIECE) or b""))
        ended = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"it ended {ended}{self._said()}"

    def _said(self) -> str:
        words = self._errors.decode("utf-8", "replace").strip().splitlines()
        # A runtime that gives up says so first, and shows its stacks behind that.
        last = next((line for line in words if line.startswith("fatal ")), words[-1] if words else "")
        return f": {last.strip()[:300]}" if words else ""

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(pipe)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()


def said_in_a_line(text: str) -> str:
    """Words of a testee: on one line that drives no terminal, and cut where they are too long."""
    # What is far too long is not looked at as a whole.
    line = one_line(text[: 4 * _MESSAGE])
    return line if len(line) <= _MESSAGE else line[: _MESSAGE - 1] + "…"


def _ends(said: bytes) -> bytes:
    """The first and the last bytes of what is too long to keep."""
    return said if len(said) <= 2 * _TAIL else said[:_TAIL] + said[-_TAIL:]


def _take(answer: Answer, reading: Reading) -> None:
    if answer.frame is not None:
        reading.frames.append(answer.frame)
    elif answer.event is not None:
        reading.events.append(answer.event)
    elif answer.row is not None:
        reading.rows.append(answer.row)
    elif answer.gap is not None:
        reading.gaps[answer.gap.offset, answer.gap.inner] = said_in_a_line(str(answer.gap.what))
    elif answer.warning is not None:
        reading.warnings.append(said_in_a_line(answer.warning))
    else:
        raise _Stopped("crashed", "it says hello where it was asked for a file")


def resident(pid: int) -> int:
    """Bytes of memory that a process and those that it started have."""
    if not _PROCESSES.is_dir():
        shown = subprocess.run(["ps", "-o", "rss=", "-g", str(pid)], capture_output=True, check=False).stdout
        return 1024 * sum(map(int, shown.split()))
    try:
        fields = (_PROCESSES / f"{pid}/statm").read_bytes().split()
        started = (_PROCESSES / f"{pid}/task/{pid}/children").read_bytes().split()
    except OSError:
        return 0
    return (int(fields[1]) * _PAGE if len(fields) > 1 else 0) + sum(resident(int(child)) for child in started)
