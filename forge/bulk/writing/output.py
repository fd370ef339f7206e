"""The files that rows are written to: each has a temporary name until it is whole."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from forge.bulk.plan import Bytes
from forge.bulk.writing.packing import room
from forge.drafts import Drafts, drafts
from forge.errors import ScenarioError

_NUMBERED = re.compile(r"(?s)(.+)\.([0-9]{6,})")
#: Threads that make cells and events, and how much work waits for them.
_WORKERS: Final = 2
_AHEAD: Final = 4
_NO_BYTES: Bytes = np.zeros(0, np.uint8)
#: Bytes that the system is asked to keep room for at once, and of how many written ones on: it takes bytes a quarter
#: faster where it need not find room for each page of them.
_ALLOCATED: Final = 1 << 24
_LARGE: Final = 1 << 18


def _allocation() -> Callable[[int, int, int, int], int] | None:
    """fallocate(2) of Linux (descriptor, mode, place, bytes): 0 if there is room now.

    That of :mod:`os` writes to files of which the system cannot do it, and other threads write to ours.
    """
    if not sys.platform.startswith("linux") or (found := getattr(ctypes.CDLL(None), "fallocate64", None)) is None:
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    call: Callable[[int, int, int, int], int] = found
    return call


_allocate: Final = _allocation()


class OutputFiles:
    """Files that follow each other; ``position`` is where the next byte of the open one (``descriptor``) goes.

    Bytes may be put to their places in any order, and by several threads.
    """

    def __init__(self, path: Path, drafts: Drafts, *, sync: bool) -> None:
        self.path = path
        self._drafts = drafts
        self._sync = sync
        self.paths: list[Path] = []
        self.position = 0
        #: Where the room ends that the open file has.
        self._allocated = 0
        self.written = 0
        self.descriptor = -1
        self.workers = ThreadPoolExecutor(max_workers=_WORKERS)
        self._waiting: deque[Future[None]] = deque()
        self._scratch = threading.local()

    def open(self, name: str) -> None:
        """Begin a file of that name beside the first one."""
        path = self.path.with_name(name)
        self.descriptor = self._drafts.open(path)
        self.paths.append(path)
        self.position = self._allocated = 0

    def write(self, data: bytes | memoryview) -> None:
        """Bytes at the end of the open file."""
        self.put(memoryview(data), self.reserve(len(data)))

    def reserve(self, size: int) -> int:
        """The place of the next ``size`` bytes, which are put there later."""
        position = self.position
        self.position += size
        self.written += size
        if size >= _LARGE and _allocate is not None and self.position > self._allocated:
            begin = max(self._allocated, position)
            self._allocated = self.position + _ALLOCATED
            _allocate(self.descriptor, 0, begin, self._allocated - begin)  # Whether it can or not.
        return position

    def put(self, view: memoryview, position: int) -> None:
        """Write bytes to a place that was reserved."""
        while view:
            size = os.pwrite(self.descriptor, view, position)
            view = view[size:]
            position += size

    def later(self, work: Callable[[], None]) -> None:
        """Have ``work`` done, which puts bytes to their places, while the caller goes on.

        What goes wrong is raised by a later call, or by :meth:`close`.
        """
        while len(self._waiting) >= _AHEAD:
            self._waiting.popleft().result()
        self._waiting.append(self.workers.submit(work))

    def scratch(self, size: int) -> Bytes:
        """Room for ``size`` bytes, and the slack that kernels need, until the thread asks again."""
        out: Bytes = room(getattr(self._scratch, "bytes", _NO_BYTES), 0, size)
        self._scratch.bytes = out
        return out

    def close(self) -> None:
        """The file is whole."""
        while self._waiting:
            self._waiting.popleft().result()
        if self._allocated > self.position:
            os.ftruncate(self.descriptor, self.position)
        if self._sync:
            os.fsync(self.descriptor)
        os.close(self.descriptor)
        self.descriptor = -1

    def end(self) -> None:
        """Nothing is written any more, be the open file whole or not."""
        self.workers.shutdown(cancel_futures=True)
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


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
