"""A folder with a chain of binary logs, and how a write adds to it or replaces it, whole or not at all.

::

    DIR/binlog.000001 ...        the logs
    DIR/binlog.index             their names, as a server keeps them
    DIR/_manifest.json           the truth: what is not named here does not count
    DIR/_lock                    locked by whoever changes one of these
    DIR/_temporary-JOB/          what a write has made so far, until it counts

A write counts from the moment when the manifest gets its name.  Before files get theirs, the folder of the job says
which; so whoever comes after a crash takes them back.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from forge import __version__
from forge.binlog.index import index_text
from forge.errors import ForgeError, ScenarioError
from forge.rows.log_end import LogEnd
from forge.rows.output import numbered_name
from forge.spark.owner import Owner

FORMAT: Final = 1
MANIFEST: Final = "_manifest.json"
_LOCK: Final = "_lock"
_TEMPORARY: Final = "_temporary-"
_OWNER: Final = "owner.json"
_INTENT: Final = "intent.json"
#: In the folder of a job: files that are to get their names, and those that they replace.
_NEW, _OLD = "new", "old"
#: Seconds without a change after which a job of another machine counts as ended.
_STALE: Final = 24 * 3600.0


class WrittenFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A log of the chain.  ``crc32``: of all its bytes."""

    name: str
    size: int
    crc32: int


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a folder holds."""

    format: Literal[1] = 1
    forge: str = __version__
    #: The write that came last, by a number that no other has.
    commit: str
    #: Rows of all writes since the last overwrite.
    rows: int
    files: list[WrittenFile]
    #: Where the next write goes on.
    end: LogEnd
    #: The last batch of each streaming query, by the query's id.
    batches: dict[str, int] = {}
    #: What batch writes said as ``commit_id``.
    commits: list[str] = []


class _Intent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files that get their names in a commit, and those among and beside them that were there before."""

    commit: str
    files: list[str]
    replaced: list[str]
    index: str


class Chain:
    """The folder of a chain.  Every change of it is made while it is locked."""

    def __init__(self, folder: Path, *, sync: bool = True) -> None:
        self.folder = folder
        self.sync = sync

    def job(self, name: str) -> Job:
        """The job of that name, which need not have begun."""
        return Job(self.folder / f"{_TEMPORARY}{name}")

    def jobs(self, prefix: str = "") -> list[Job]:
        """The jobs that have begun and whose names begin so."""
        return [Job(folder) for folder in sorted(self.folder.glob(f"{_TEMPORARY}{prefix}*"))]

    def manifest(self) -> Manifest | None:
        """What the folder holds; None if nothing was written.  Raises ForgeError if the manifest is damaged."""
        path = self.folder / MANIFEST
        try:
            return msgspec.json.decode(path.read_bytes(), type=Manifest)
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            raise ForgeError(f"{path} is not the manifest of a chain of logs: {error}") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """No other process changes the folder, in which nothing half-done is left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Take back what jobs have left that ended before they counted."""
        for job in self.jobs():
            # Names are given under this lock: where that was begun, nobody goes on with it.
            if job.intent() is not None or job.is_over():
                self.take_back(job)

    def take_back(self, job: Job) -> None:
        """The folder as it was before the job, unless the job counts."""
        intent = job.intent()
        manifest = self.manifest()
        if intent is not None and (manifest is None or manifest.commit != intent.commit):
            for name in intent.files:
                # What has left the job's folder has its name.  Replaced files go over it, others leave no gap.
                if name not in intent.replaced and not (job.new / name).exists():
                    (self.folder / name).unlink(missing_ok=True)
            for name in intent.replaced:
                if (job.old / name).exists():
                    (job.old / name).replace(self.folder / name)
            if manifest is None:
                (self.folder / intent.index).unlink(missing_ok=True)
            else:
                self._write_index(manifest)
            self._flush()
        job.remove()

    def check(self, manifest: Manifest | None, log_name: str) -> list[WrittenFile]:
        """The files of the manifest that are still there: old ones may have been purged.

        Raises ScenarioError for logs that the manifest does not name, and for those that are not as it says.
        """
        named = {file.name: file for file in manifest.files} if manifest is not None else {}
        found = {path.name for path in self.folder.iterdir() if (numbered_name(path) or ("",))[0] == log_name}
        if strangers := sorted(found - named.keys()):
            raise ScenarioError(
                f"{self.folder} holds {strangers[0]!r}, which no write of this sink has made",
                expected="an empty folder, or one that it has written alone",
            )
        left = list(named.values())
        while left and left[0].name not in found:
            left.pop(0)
        for file in left:
            path = self.folder / file.name
            if not path.exists() or path.stat().st_size != file.size:
                raise ScenarioError(f"{path} is not the file of {file.size} bytes that was written")
        if manifest is not None and not left:
            raise ScenarioError(f"the logs that {self.folder / MANIFEST} names are gone", expected="the last at least")
        return left

    def publish(self, job: Job, manifest: Manifest, names: Sequence[str], replaced: Sequence[str]) -> None:
        """Give the job's new files ``names`` their names, and then the manifest its own.

        ``replaced``: files of the chain that it no longer has.  Raises ForgeError if the driver has ended.
        """
        before = self.manifest()
        index = _index_name(manifest)
        intent = _Intent(commit=manifest.commit, files=list(names), replaced=list(replaced), index=index)
        job.intend(intent, sync=self.sync)
        try:
            job.old.mkdir(exist_ok=True)
            for name in replaced:
                (self.folder / name).replace(job.old / name)
            for name in names:
                (job.new / name).rename(self.folder / name)
            if before is not None and _index_name(before) != index:
                (self.folder / _index_name(before)).unlink(missing_ok=True)
            self._write_index(manifest)
            self._flush()
            job.require_owner()
            _write(self.folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)), sync=self.sync)
            self._flush()
        except BaseException:
            self.take_back(job)
            raise

    def _write_index(self, manifest: Manifest) -> None:
        path = self.folder / _index_name(manifest)
        _write(path, index_text(file.name for file in manifest.files), sync=self.sync)

    def _flush(self) -> None:
        """New names are on the disk."""
        if self.sync:
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class Job:
    """The folder of one write, in which nothing counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name.removeprefix(_TEMPORARY)
        self.new = folder / _NEW
        self.old = folder / _OLD

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
        """Raises ForgeError if the driver has ended: it is told of no success, and will write the rows again."""
        owner = self.owner()
        if owner is not None and owner.lives() is False:
            raise ForgeError("the driver has ended before the write did")

    def intend(self, intent: _Intent, *, sync: bool) -> None:
        _write(self.folder / _INTENT, msgspec.json.encode(intent), sync=sync)

    def intent(self) -> _Intent | None:
        with contextlib.suppress(FileNotFoundError):
            return msgspec.json.decode((self.folder / _INTENT).read_bytes(), type=_Intent)
        return None

    def remove(self) -> None:
        """Take the folder away, what it intends first.  A task that goes on without knowing has an error."""
        (self.folder / _INTENT).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _index_name(manifest: Manifest) -> str:
    return f"{manifest.end.numbering['log_name']}.index"


def _write(path: Path, data: bytes, *, sync: bool) -> None:
    """The file, whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
