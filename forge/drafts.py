"""Files and folders that appear whole or not at all: each has another name in its folder until all of its group are
whole.

That name tells whose it is: the drafts of a process that was killed go when the same file is written again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.errors import ScenarioError

#: Names have at most 255 bytes on usual file systems: characters of the file's own that its draft keeps.
_KEPT = 50


class Drafts:
    """Files that are being written, in the order in which they get their names."""

    def __init__(self) -> None:
        self._renames: list[tuple[Path, Path]] = []

    def open(self, path: Path) -> int:
        """The descriptor of a new file, to be closed by the caller, that will replace ``path`` and has its rights.

        A symbolic link stays one: the file behind it is replaced.  Raises OSError, IsADirectoryError for a folder.
        """
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        target = Path(os.path.realpath(path))
        _sweep(target)
        draft = draft_name(target)
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileNotFoundError as error:
            raise FileNotFoundError(error.errno, "No such folder", str(target.parent)) from error
        self._renames.append((draft, target))
        return descriptor

    def publish(self) -> None:
        """Give all files their names."""
        while self._renames:
            draft, target = self._renames[0]
            draft.replace(target)
            del self._renames[0]

    def discard(self) -> None:
        """Remove the files that have not been renamed."""
        for draft, _ in self._renames:
            draft.unlink(missing_ok=True)
        self._renames.clear()


def draft_name(target: Path) -> Path:
    """Another name for ``target`` in its folder; leftovers with such a name go once this process has ended."""
    return target.with_name(f"{_beginning(target)}{os.getpid()}-{secrets.token_hex(4)}")


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """A new folder beside the folder ``target``, to be moved to its place; it is not there any more behind the block.

    Raises OSError.
    """
    _sweep(target)
    folder = draft_name(target)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_replaceable(folder: Path, what: str, is_own: Callable[[Path], bool]) -> None:
    """Raises ScenarioError unless nothing is there, an empty folder, or one ``is_own``: ``what`` may go there."""
    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"{folder} is a file", expected=f"a folder for the {what}")
    if folder.is_dir() and any(folder.iterdir()) and not is_own(folder):
        raise ScenarioError(
            f"{folder} holds something else than a {what}", expected=f"a new or empty folder, or a {what}"
        )


def replace_folder(made: Path, folder: Path) -> None:
    """Put a finished folder in the place of the old one, if there is one."""
    if not folder.exists():
        made.rename(folder)
        return
    old = draft_name(folder)
    folder.rename(old)
    try:
        made.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _beginning(target: Path) -> str:
    """How the names of all drafts begin that this host makes of a file."""
    host = zlib.crc32(socket.gethostname().encode())
    return f".{target.name[:_KEPT]}.{host:08x}-"


def _sweep(target: Path) -> None:
    """Remove the drafts of processes of this host that have ended."""
    beginning = _beginning(target)
    try:
        names = [path.name for path in target.parent.iterdir() if path.name.startswith(beginning)]
    except OSError:
        return  # What is wrong with the folder is told by whoever writes there.
    for name in names:
        owner = re.fullmatch(r"([0-9]{1,9})-[0-9a-f]{8}", name[len(beginning) :])
        if owner is not None and not _is_running(int(owner[1])):
            left = target.with_name(name)
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # Somebody else's.
    return True


@contextmanager
def drafts() -> Iterator[Drafts]:
    """Drafts that get their names when the block is left without an error, and are not there otherwise."""
    made = Drafts()
    try:
        yield made
        made.publish()
    finally:
        made.discard()
