"""A folder with a chain of binary logs, and how a write adds to it or replaces it, whole or not at all.

::

    DIR/binlog.000001 ...        the logs
    DIR/binlog.index             their names, as a server keeps them
    DIR/_manifest.json           the logs that are committed
    DIR/_lock                    locked by whoever changes one of these
    DIR/_temporary-JOB/          what a write has made so far, until it is committed

A write is committed by renaming the manifest.  Before files are renamed, the folder of the job lists them, so that the
next writer after a crash can undo them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from forge import __version__
from forge.binlog.index import index_text
from forge.bulk.writing.log_end import LogEnd
from forge.bulk.writing.output import numbered_name
from forge.errors import ForgeError, ScenarioError
from forge.spark.job import TEMPORARY, Intent, Job, put

FORMAT: Final = 1
MANIFEST: Final = "_manifest.json"
_LOCK: Final = "_lock"


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


class Chain:
    """The folder of a chain.  Every change of it is made while it is locked."""

    def __init__(self, folder: Path, *, sync: bool = True) -> None:
        self.folder = folder
        self.sync = sync

    def jobs(self, prefix: str = "") -> list[Job]:
        """The jobs that have begun and whose names begin so."""
        found = sorted(self.folder.glob(f"{TEMPORARY}{prefix}*"))
        return [Job(self.folder, folder.name.removeprefix(TEMPORARY)) for folder in found]

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
        """Undo the jobs that ended without a commit."""
        for job in self.jobs():
            # Names are given under this lock: where that was begun, nobody goes on with it.
            if job.intent() is not None or job.is_over():
                self.take_back(job)

    def take_back(self, job: Job) -> None:
        """Restore the folder as it was before the job, unless the job is committed."""
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
                self._write_index(job, manifest)
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
        intent = Intent(commit=manifest.commit, files=list(names), replaced=list(replaced), index=index)
        job.intend(intent, sync=self.sync)
        try:
            job.old.mkdir(exist_ok=True)
            for name in replaced:
                (self.folder / name).replace(job.old / name)
            for name in names:
                (job.new / name).rename(self.folder / name)
            if before is not None and _index_name(before) != index:
                (self.folder / _index_name(before)).unlink(missing_ok=True)
            self._write_index(job, manifest)
            self._flush()
            job.require_owner()
            self._place(job, MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
            self._flush()
        except BaseException:
            self.take_back(job)
            raise

    def _write_index(self, job: Job, manifest: Manifest) -> None:
        self._place(job, _index_name(manifest), index_text(file.name for file in manifest.files))

    def _place(self, job: Job, name: str, data: bytes) -> None:
        """A file of the folder, made in that of the job, where nothing is left of it."""
        draft = job.folder / name
        with draft.open("wb") as file:
            put(file, data, sync=self.sync)
        draft.replace(self.folder / name)

    def _flush(self) -> None:
        """New names are on the disk."""
        if self.sync:
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _index_name(manifest: Manifest) -> str:
    return f"{manifest.end.numbering['log_name']}.index"
