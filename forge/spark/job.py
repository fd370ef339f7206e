"""The folder of one uncommitted write: what its tasks and its commit make until files get their names.

Tasks load this module, so it needs little.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from forge.drafts import drafts
from forge.errors import ForgeError
from forge.spark.owner import Owner

TEMPORARY: Final = "_temporary-"
_OWNER: Final = "owner.json"
_INTENT: Final = "intent.json"
#: Files that are to get their names, and those that they replace.
_NEW, _OLD = "new", "old"
#: Seconds without a change after which a job of another machine counts as ended.
_STALE: Final = 24 * 3600.0


class Intent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files that get their names in a commit, and those among and beside them that were there before."""

    commit: str
    files: list[str]
    replaced: list[str]
    index: str


class Job:
    """A write to the chain in ``chain``, by the name that it has there; it need not have begun."""

    def __init__(self, chain: Path, name: str) -> None:
        self.name = name
        self.folder = chain / f"{TEMPORARY}{name}"
        self.new = self.folder / _NEW
        self.old = self.folder / _OLD

    def begin(self, owner: Owner) -> None:
        """Make the folder, if no other task has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / _OWNER).exists():
            _write(self.folder / _OWNER, msgspec.json.encode(owner), sync=False)

    def owner(self) -> Owner | None:
        with contextlib.suppress(FileNotFoundError, msgspec.MsgspecError):
            return msgspec.json.decode((self.folder / _OWNER).read_bytes(), type=Owner)
        return None

    def is_over(self) -> bool:
        """Whether the driver has ended; on another machine that is believed after a day without a change."""
        owner = self.owner()
        lives = None if owner is None else owner.lives()
        if lives is not None:
            return not lives
        return time.time() - self._last_change() > _STALE

    def _last_change(self) -> float:
        times = []
        for path in (self.folder, *self.folder.rglob("*")):
            with contextlib.suppress(FileNotFoundError):
                times.append(path.stat().st_mtime)
        return max(times, default=time.time())

    def require_owner(self) -> None:
        """Raises ForgeError if the driver has ended: it never learns of a success, and writes the rows again."""
        owner = self.owner()
        if owner is not None and owner.lives() is False:
            raise ForgeError("the driver has ended before the write did")

    def intend(self, intent: Intent, *, sync: bool) -> None:
        _write(self.folder / _INTENT, msgspec.json.encode(intent), sync=sync)

    def intent(self) -> Intent | None:
        with contextlib.suppress(FileNotFoundError):
            return msgspec.json.decode((self.folder / _INTENT).read_bytes(), type=Intent)
        return None

    def remove(self) -> None:
        """Take the folder away, what it intends first.  A task that goes on without knowing has an error."""
        (self.folder / _INTENT).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _write(path: Path, data: bytes, *, sync: bool) -> None:
    """The file, whole or not at all, whoever else writes it."""
    with drafts() as made, os.fdopen(made.open(path), "wb") as file:
        put(file, data, sync=sync)


def put(file: BinaryIO, data: bytes, *, sync: bool) -> None:
    """Write a whole file; with ``sync`` it is on the disk."""
    file.write(data)
    file.flush()
    if sync:
        os.fsync(file.fileno())
