"""Where a command's result goes: a file that appears whole or not at all, or standard output (``-``)."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from forge.errors import ScenarioError

STDOUT = "-"


def write_output(target: str, chunks: bytes | str | Iterable[bytes] | Iterable[str]) -> None:
    """Write ``chunks`` (text as UTF-8) to the file ``target``, or to standard output if it is ``-``.

    The file is written under another name in the same folder and renamed when it is complete; nothing is left if
    making the chunks fails.  A target that is no regular file (a device, a pipe) is written directly.
    Raises OSError.
    """
    parts: Iterable[bytes | str] = [chunks] if isinstance(chunks, (bytes, str)) else chunks
    if target == STDOUT:
        _copy(parts, sys.stdout.fileno())
        return
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", target)
        with path.open("wb") as device:
            _copy(parts, device.fileno())
        return
    partial = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}")
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "No such folder", str(path.parent)) from error
    try:
        try:
            _copy(parts, descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        raise


def write_binlogs(output: str, files: Sequence[bytes]) -> None:
    """Write the files of a session: to ``output``, and to the numbers after its own, with an index file beside them.

    Raises ScenarioError if there are several files and ``output`` does not end with a number; OSError.
    """
    names = _file_names(output, len(files))
    for name, data in zip(names, files, strict=True):
        write_output(name, data)
    if len(files) > 1:
        index = "".join(f"./{Path(name).name}\n" for name in names)
        write_output(str(Path(output).with_suffix(".index")), index)


def _file_names(output: str, count: int) -> list[str]:
    """Names of a session's files: OUTPUT, and the numbers after its own.  Raises ScenarioError if it has none."""
    if count == 1:
        return [output]
    stem, _, number = output.rpartition(".")
    if not stem or not number.isdigit():
        raise ScenarioError(
            f"the scenario makes {count} files", expected="an output name that ends with a number, e.g. binlog.000001"
        )
    return [f"{stem}.{int(number) + place:0{len(number)}}" for place in range(count)]


def _copy(parts: Iterable[bytes | str], descriptor: int) -> None:
    with open(descriptor, "wb", closefd=False) as file:  # a descriptor, not a path
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)
