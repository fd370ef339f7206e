"""What a command reads: a file, or standard input (``-``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from forge.errors import FormatError, ScenarioError
from forge.resources import missing_for_rows

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.window import LogWindow

STDIN = "-"
#: Bytes of logs for which the reference path takes longer than what is done in bulk takes to start.
MANY = 1 << 20
#: Bytes of an event that is large, and events that are asked whether they are.
_LARGE = 1 << 22
_LOOKED_AT = 1 << 14


def read_bytes(source: str) -> bytes:
    """The whole of the file ``source``.  Raises OSError; ScenarioError for a device, and for a pipe of any length."""
    from forge.binlog.window import whole

    if source == STDIN:
        return whole(sys.stdin.buffer, shown(source))
    with Path(source).open("rb") as file:
        return whole(file, shown(source))


@contextmanager
def open_log(source: str, *, as_it_is: bool = False, keyring: Keyring | None = None) -> Iterator[LogWindow]:
    """The file ``source``, to be read a window at a time; unless ``as_it_is``, the log in a gzip or zstd file.

    With a ``keyring`` the plain log of one that is encrypted, in pieces.  Raises OSError; FormatError and ScenarioError
    for an encrypted log that the keyring does not open; ScenarioError for a device.
    """
    from forge.binlog.opened import opened
    from forge.binlog.window import LogWindow, refuse_device

    def window(file: BinaryIO) -> LogWindow:
        refuse_device(file, shown(source))
        return LogWindow(file if as_it_is else opened(file, keyring))

    if source == STDIN:
        yield window(sys.stdin.buffer)
        return
    with Path(source).open("rb") as file:
        yield window(file)


def read_text(source: str) -> str:
    """The whole of the UTF-8 file ``source``.  Raises OSError; ScenarioError (with the line) if it is not UTF-8."""
    return listing_text(read_bytes(source), source)


def listing_text(data: bytes, source: str) -> str:
    """The listing that the file ``source`` holds.  Raises ScenarioError, with the line if it is not UTF-8."""
    from forge.binlog.reader import has_magic

    if has_magic(data):
        raise ScenarioError("this is a binary log", file=shown(source), expected="a listing; `forge disasm` makes one")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError("this is not UTF-8 text", file=shown(source), line=line) from None


def read_scenario(source: str) -> str:
    """The text of a scenario.  Raises ScenarioError if it cannot be read or is not text."""
    from forge.scenario.file_texts import decode_text
    from forge.scenario.file_texts import read_text as read_file

    return decode_text(read_bytes(source), shown(source)) if source == STDIN else read_file(source)


def file_paths(sources: Iterable[str]) -> list[Path]:
    """The files that a command reads more than once, or from which it wants the size.

    Raises ScenarioError for standard input, devices and pipes.
    """
    paths = [Path(source) for source in sources]
    for path in paths:
        if str(path) == STDIN or not (path.is_file() or path.is_dir() or not path.exists()):
            name = shown(str(path))
            raise ScenarioError(f"rows in bulk are read from files, not from {name}", expected="the path of a file")
    return paths


def pays_in_bulk(*sources: str) -> bool:
    """Whether rows in bulk are quicker, their start included, and can be had; pipes are not read so."""
    paths = [Path(source) for source in sources]
    if not all(path.is_file() for path in paths) or sum(path.stat().st_size for path in paths) < MANY:
        return False
    return not missing_for_rows() and not any(map(_begins_with_large, paths))


def _begins_with_large(path: Path) -> bool:
    """Whether one of the first events is large: the reference path shows such values in pieces."""
    from forge.binlog.reader import MAGIC
    from forge.events.format import HEADER_SIZE

    with path.open("rb") as file:
        place = len(MAGIC)
        for _ in range(_LOOKED_AT):
            file.seek(place)
            header = file.read(HEADER_SIZE)
            if len(header) < HEADER_SIZE:
                return False
            size = int.from_bytes(header[9:13], "little")
            if not HEADER_SIZE <= size < _LARGE:
                return True
            place += size
    return False


def shown(source: str) -> str:
    """The name of an input in messages and records; bytes of it that are not UTF-8 are escaped."""
    return "standard input" if source == STDIN else os.fsencode(source).decode(errors="backslashreplace")


@contextmanager
def errors_in(source: str) -> Iterator[None]:
    """Format errors of the block name the input ``source``."""
    try:
        yield
    except FormatError as error:
        raise error.in_file(shown(source)) from None
