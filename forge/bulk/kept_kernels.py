"""Where compiled kernels are kept, so that they are compiled once on a machine.

The folder is named by a hash of the kernels' sources: numba does not see a change in a function that a kernel calls.
``NUMBA_CACHE_DIR`` names another place.  Where the package itself lies plays no part: two environments with the same
sources share their kernels, and so do environments that are unpacked for one job.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

CHECKED: Final = os.environ.get("FORGE_CHECKED_KERNELS") == "1"

_LOG = logging.getLogger("forge.bulk")
_PACKAGE = Path(__file__).parents[1]


@cache
def _sources_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version_info[:2]} {CHECKED}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if path.name == "machine.py" or b"forge.bulk.machine" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def kernels_folder() -> Path:
    """Where compiled kernels are kept."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path(base) if base else Path.home() / ".cache"
    return home / "binlog-forge" / f"kernels-{_sources_hash()}"


def kernels_are_kept() -> bool:
    """Whether rows have been read on this machine before: the kernel that walks over them is compiled."""
    return any(kernels_folder().glob("*/row_walk.*.nbc"))


def _made_folder() -> Path | None:
    folder = kernels_folder()
    known = folder.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # A read-only home: numba looks for a place of its own; without one each process compiles.
    if not known:
        # As a progress bar, for people only.
        level = logging.WARNING if sys.stderr is not None and sys.stderr.isatty() else logging.INFO
        _LOG.log(level, "compiling kernels for this machine, once; `forge warm-up` does it ahead")
    return folder


_FOLDER: Final = _made_folder()


@cache
def _hash_of_file(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@cache
def _subfolder(file: str) -> str:
    room = Path(file).resolve().parent
    if room.is_relative_to(_PACKAGE):
        return "_".join(room.relative_to(_PACKAGE.parent).parts)
    return f"{room.name}_{hashlib.sha256(str(room).encode()).hexdigest()[:16]}"


class _Locator:
    """Tells numba where the kernels of one module are kept."""

    def __init__(self, folder: Path, line: int, file: str) -> None:
        self._folder, self._line, self._py_file = folder, line, file

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator | None:
        # Code of a notebook or of an interpreter is in no file: numba has places for it.
        if _FOLDER is None or not Path(file).is_file():
            return None
        return cls(_FOLDER / _subfolder(file), function.__code__.co_firstlineno, file)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        return _hash_of_file(self._py_file)

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CompiledKernel(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator, *CompileResultCacheImpl._locator_classes)


class _KernelFiles:
    """A file for each signature of a kernel.

    numba's own are numbered, by an index: of processes that compile two signatures at the same time, the last one wins
    the index and any one the file, whose code is then that of another signature.
    """

    def __init__(self, folder: Path, name: str, stamp: object) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def _path(self, key: object) -> Path:
        digest = hashlib.sha256(repr((numba.__version__, self._stamp, key)).encode()).hexdigest()
        return self._folder / f"{self._name}.{digest[:20]}.nbc"

    def load(self, key: object) -> Any:
        # A file that a power cut left empty is as good as none.
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            return pickle.loads(self._path(key).read_bytes())
        return None

    def save(self, key: object, code: object) -> None:
        path = self._path(key)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
        unfinished.write_bytes(dumps(code))
        unfinished.replace(path)

    def flush(self) -> None:
        for path in self._folder.glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)


class KeptKernel(FunctionCache):  # type: ignore[misc]
    """The machine code of a kernel in the folder of compiled kernels.

    numba registers all that it can compile before it loads what is compiled: a third of the time until the first rows.
    Loading needs its runtime alone; where nothing is kept, the compiler registers the rest itself.

    Raises RuntimeError where there is no place to keep it.
    """

    _impl_class = _CompiledKernel

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _KernelFiles(Path(self.cache_path), self._impl.filename_base, locator.get_source_stamp())

    def load_overload(self, signature: Any, context: Any) -> Any:
        rtsys.initialize(context)
        return self._load_overload(signature, context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        # Where the folder may be read alone, or the disk is full, this process has its kernel all the same.
        with suppress(OSError):
            super().save_overload(signature, compiled)
