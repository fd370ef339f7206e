"""The files that rows are written to: each has a temporary name until it is whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from forge.drafts import Drafts, drafts
from forge.errors import ScenarioError

_NUMBERED = re.compile(r"(?s)(.+)\.([0-9]{6,})")


class OutputFiles:
    """Files that follow each other; ``position`` is where the next byte of the open one goes."""

    def __init__(self, path: Path, drafts: Drafts, *, sync: bool) -> None:
        self.path = path
        self._drafts = drafts
        self._sync = sync
        self.paths: list[Path] = []
        self.position = 0
        self.written = 0
        self._descriptor = -1
        self._writer = ThreadPoolExecutor(max_workers=1)
        self._writing: Future[None] | None = None

    def open(self, name: str) -> None:
        """Begin a file of that name beside the first one."""
        path = self.path.with_name(name)
        self._descriptor = self._drafts.open(path)
        self.paths.append(path)
        self.position = 0

    def write(self, data: bytes) -> None:
        self._wait()
        self._advance(len(data))
        self._write(memoryview(data))

    def write_later(self, pieces: Iterator[memoryview], size: int) -> None:
        """Have ``size`` bytes made and written, piece by piece, while the caller goes on.

        Those of the call before are written when this returns.  What goes wrong is raised by a later call.
        """
        self._wait()
        self._advance(size)

        def write() -> None:
            for piece in pieces:
                self._write(piece)

        self._writing = self._writer.submit(write)

    def _advance(self, size: int) -> None:
        self.position += size
        self.written += size

    def _write(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._descriptor, view) :]

    def _wait(self) -> None:
        """Until everything is written."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def rewrite(self, data: bytes, position: int) -> None:
        """Replace bytes that were written before."""
        os.pwrite(self._descriptor, data, position)

    def close(self) -> None:
        """The file is whole."""
        self._wait()
        if self._sync:
            os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1

    def end(self) -> None:
        """Nothing is written any more, be the open file whole or not."""
        self._writer.shutdown()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextmanager
def output_files(path: Path, *, sync: bool) -> Iterator[OutputFiles]:
    """Files that have their names when the block is left without an error, and are not there otherwise."""
    with drafts() as made:
        files = OutputFiles(path, made, sync=sync)
        try:
            yield files
        finally:
            files.end()


def numbered_name(path: Path) -> tuple[str, int] | None:
    """(log name, number) of a name such as binlog.000001; None for another name."""
    match = _NUMBERED.fullmatch(path.name)
    return None if match is None else (match[1], int(match[2]))


def log_name_of(path: Path, *, several: bool) -> tuple[str, int] | None:
    """As :func:`numbered_name`.  Raises ScenarioError for another name where ``several`` files may be written."""
    numbered = numbered_name(path)
    if numbered is None and several:
        raise ScenarioError(
            f"{path.name!r} cannot be followed by further files",
            expected="a name with a number, such as binlog.000001, where session.max_binlog_size makes several files",
        )
    return numbered
