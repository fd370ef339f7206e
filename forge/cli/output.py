"""Where a command's result goes: a file that appears whole or not at all, or standard output (``-``)."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from forge.binlog.index import index_text
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


def write_binlogs(output: str, files: Sequence[tuple[str, bytes]], index: bytes | None = None) -> None:
    """Write the files of a session, (name, bytes) each: to ``output`` if there is one, else under their names to the
    folder ``output`` (made if it ends with a slash), or beside ``output``, which is the first; with the index file.

    Raises ScenarioError for a name that several files cannot have: each ROTATE event names the next one.  OSError.
    """
    names = [name for name, _ in files]
    if output.endswith(os.sep):
        Path(output).mkdir(exist_ok=True)
    for target, (_, data) in zip(_targets(output, names), files, strict=True):
        write_output(target, data)
    if len(files) > 1:
        folder = Path(output) if Path(output).is_dir() else Path(output).parent
        write_output(str((folder / names[0]).with_suffix(".index")), index_text(names) if index is None else index)


def _targets(output: str, names: Sequence[str]) -> list[str]:
    if Path(output).is_dir():
        return [str(Path(output) / name) for name in names]
    if len(names) > 1 and Path(output).name != names[0]:
        raise ScenarioError(
            f"the scenario makes {len(names)} files, which name each other",
            expected=f"{names[0]}, or a folder with a slash at its end, as output (session.log_name and"
            " session.first_file are their names)",
        )
    return [output, *(str(Path(output).parent / name) for name in names[1:])]


def _copy(parts: Iterable[bytes | str], descriptor: int) -> None:
    with open(descriptor, "wb", closefd=False) as file:  # a descriptor, not a path
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)
