"""The folder that a volume is written to: parts get their names when all of them are whole.

A *part* is a file of the log, or of the state of a table.  It is written under a temporary name in a folder of its own,
``.generate``, then renamed there and recorded with its size and checksum.  When all parts are there, they are moved to
their places; the index and the manifest, which says what belongs to the volume, come last.  A run that was stopped
leaves its finished parts, and the same command goes on from them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from forge.binlog.index import index_text
from forge.drafts import drafts
from forge.errors import ScenarioError

MANIFEST: Final = "_volume.json"
_WORK: Final = ".generate"
_REQUEST: Final = "request.json"
_LOCK: Final = "lock"
#: Names of forge.drafts, which a run that was killed has left.
_DRAFTS: Final = ".*.????????"
#: Bytes of a part that the disk is asked to begin with together.
_FLUSH: Final = 1 << 25


class PartRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished part: ``name`` is its place in the folder, ``rows`` are by table and operation (``state``: what is
    left).
    """

    name: str
    size: int
    sha256: str
    events: int = 0
    transactions: int = 0
    rows: dict[str, dict[str, int]] = {}


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a volume is, and its parts: the files of the log, then those of the state."""

    forge: str
    scenario: str
    server: str
    seed: int
    rows: int
    identity: str
    files: list[PartRecord]
    state: list[PartRecord]


class PartOutput:
    """A part that is being written: bytes that follow each other, with their checksum."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self._hash = hashlib.sha256()
        self._size = 0
        #: Bytes that are on their way to the disk.
        self._flushed = 0

    def write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        self._hash.update(view)
        self._size += len(view)
        while view:
            try:
                view = view[os.write(self.descriptor, view) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from None
        if self._size - self._flushed >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        """Have the disk begin, so that the end does not wait for all bytes; Linux takes this advice so.

        The memory of bytes that have reached the disk is given back: the next ones find it again, which takes a fifth
        of the time that memory never used before does, and other programs keep theirs.
        """
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.descriptor, 0, self._size, os.POSIX_FADV_DONTNEED)
        self._flushed = self._size

    @property
    def checksum(self) -> tuple[int, str]:
        return self._size, self._hash.hexdigest()


class VolumeFolder:
    """One volume's folder.  ``identity`` tells the request from others."""

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self.identity = identity
        self.work = path / _WORK

    @contextmanager
    def opened(self) -> Iterator[Manifest | None]:
        """The folder, for this process alone; the manifest if the volume is there already.

        Raises ScenarioError for a folder that something else is in.
        """
        self._check()
        manifest = self._manifest()
        if manifest is not None:
            yield manifest
            return
        self.work.mkdir(parents=True, exist_ok=True)
        with (self.work / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ScenarioError(f"another forge generate is at work in {self.path}") from None
            self._begin()
            yield self._manifest()
            shutil.rmtree(self.work, ignore_errors=True)

    def _check(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ScenarioError(f"{self.path} is a file", expected="a folder for the logs")
        ours = self.path.is_dir() and any((self.path / name).exists() for name in (MANIFEST, f"{_WORK}/{_REQUEST}"))
        others = sorted(path.name for path in self.path.iterdir() if path.name != _WORK) if self.path.is_dir() else []
        if others and not ours:
            raise ScenarioError(
                f"{self.path} holds {others[0]!r}, which forge generate did not make", expected="a new or empty folder"
            )

    def _another(self) -> ScenarioError:
        return ScenarioError(
            f"{self.path} holds another volume, made of another scenario or other arguments",
            expected="the same command that began it, or another folder",
        )

    def _manifest(self) -> Manifest | None:
        try:
            manifest = msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=Manifest)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            raise ScenarioError(f"{self.path / MANIFEST} is damaged", expected="another folder") from None
        if manifest.identity != self.identity:
            raise self._another()
        return manifest

    def _begin(self) -> None:
        request = self.work / _REQUEST
        if request.exists():
            if json.loads(request.read_text())["identity"] != self.identity:
                raise self._another()
        else:
            _put(request, json.dumps({"identity": self.identity}).encode())
        for draft in (*self.work.glob(_DRAFTS), *self.path.glob(_DRAFTS)):
            draft.unlink(missing_ok=True)

    def _place(self, name: str) -> Path:
        return self.work / name.replace("/", "_")

    def _record(self, name: str) -> Path:
        place = self._place(name)
        return place.with_name(place.name + ".json")

    def finished(self, name: str) -> PartRecord | None:
        """The record of a part that is whole, here or at its final place; its bytes are looked at."""
        try:
            record = msgspec.json.decode(self._record(name).read_bytes(), type=PartRecord)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        for path in (self._place(name), self.path / name):
            if path.exists() and _checksum(path) == (record.size, record.sha256):
                return record
        return None

    def write_part(self, name: str, write: Callable[[PartOutput], PartRecord]) -> PartRecord:
        """Have a part written, unless it is there already.  ``write`` makes the record, but for size and checksum."""
        found = self.finished(name)
        if found is not None:
            return found
        with drafts() as made:
            descriptor = made.open(self._place(name))
            try:
                output = PartOutput(self._place(name), descriptor)
                record = write(output)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            size, sha256 = output.checksum
            record = msgspec.structs.replace(record, name=name, size=size, sha256=sha256)
        _put(self._record(name), msgspec.json.encode(record))
        return record

    def commit(self, manifest: Manifest) -> None:
        """Give all parts their names, then write index and manifest."""
        for record in (*manifest.state, *manifest.files):
            place, final = self._place(record.name), self.path / record.name
            final.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                place.replace(final)
        names = [record.name for record in manifest.files]
        _put(self.path / f"{names[0].rpartition('.')[0]}.index", index_text(names))
        _put(self.path / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        _sync(self.path)


def _put(path: Path, data: bytes) -> None:
    """Write a file as a whole."""
    with drafts() as made, os.fdopen(made.open(path), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _checksum(path: Path) -> tuple[int, str]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()


def total_rows(records: Sequence[PartRecord]) -> dict[str, dict[str, int]]:
    """The rows of all these parts, by table and operation."""
    total: dict[str, Counter[str]] = {}
    for record in records:
        for table, operations in record.rows.items():
            total.setdefault(table, Counter()).update(operations)
    return {table: {name: counts[name] for name in _ORDER if name in counts} for table, counts in total.items()}


#: Operations as they are shown.
_ORDER: Final = ("insert", "update", "delete", "state")
