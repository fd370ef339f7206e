"""The vendor's client as a process whose connection stays open, so that several take turns."""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from forge.errors import ForgeError

#: Seconds that the statements of one turn may take.
TURN_LIMIT = 60.0
#: Printed by the client once all statements before it have run.
_MARK = "forge: done"


class RecordingError(ForgeError):
    """A real server could not be started, or refused what it was asked to do; the message quotes it."""


class Client:
    """One connection.  Raises RecordingError where the server refuses a statement, or lets it wait."""

    def __init__(self, command: Sequence[str], folder: Path, server: str) -> None:
        self._command, self._folder, self._server = list(command), folder, server
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self._folder, bufsize=0
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None:
            return
        try:
            if kind is not None:
                process.kill()
            process.communicate(timeout=TURN_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def run(self, sql: str) -> None:
        """Send the statements and wait until the last is over."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{sql}\nSELECT '{_MARK}';\n".encode("utf-8", "surrogateescape"))
        except BrokenPipeError:
            raise self._refused() from None
        printed, limit = b"", time.monotonic() + TURN_LIMIT
        while _MARK.encode() + b"\n" not in printed:
            if not select.select([process.stdout], [], [], max(limit - time.monotonic(), 0))[0]:
                raise RecordingError(f"{self._server} let a statement wait for {TURN_LIMIT:.0f} s: perhaps for a lock")
            more = process.stdout.read(65536)
            if not more:
                raise self._refused()
            printed += more

    def _refused(self) -> RecordingError:
        process = self._process
        assert process is not None
        assert process.stderr is not None
        message = process.stderr.read().decode("utf-8", "replace").strip()
        return RecordingError(f"{self._server} refused the script: {message}")
