"""Where compiled kernels are kept, so that they are compiled once on a machine.

The folder is named by a hash of the kernels' sources: numba does not see a change in a function that a kernel calls.
A process whose sources were replaced since it started keeps none (:mod:`forge.bulk.kernel_sources`).
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
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from forge.bulk.kernel_sources import are_as_imported, is_as_imported, sources_hash

CHECKED: Final = os.environ.get("FORGE_CHECKED_KERNELS") == "1"

_LOG = logging.getLogger("forge.bulk")


@cache
def _hash() -> str:
    return sources_hash(f"{numba.__version__} {np.__version__} {sys.version_info[:2]} {CHECKED}")


def kernels_folder() -> Path:
    """Where compiled kernels are kept."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    home = Path(base) if base else Path.home() / ".cache"
    return home / "binlog-forge" / f"kernels-{_hash()}"


def kernels_are_kept() -> bool:
    """Whether rows have been read on this machine before: the kernel that walks over them is compiled."""
    return any(kernels_folder().glob("forge.bulk.reading.row_walk.*.nbc"))


def _made_folder() -> Path | None:
    folder = kernels_folder()
    known = folder.is_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None  # A read-only home: each process compiles.
    if not are_as_imported():
        return None
    if not known:
        # As a progress bar, for people only.
        level = logging.WARNING if sys.stderr is not None and sys.stderr.isatty() else logging.INFO
        _LOG.log(level, "compiling kernels for this machine, once; `forge warm-up` does it ahead")
    return folder


_FOLDER: Final = _made_folder()


def kept_kernel(function: Any) -> KeptKernel | None:
    """Where the machine code of a function of this package is kept; None for others, and where there is no place.

    None too for one whose file was replaced before it was imported: what is kept is of the files before.
    """
    if _FOLDER is None or not function.__module__.startswith("forge.") or not is_as_imported(_file_of(function)):
        return None
    return KeptKernel(function)


def _file_of(function: Any) -> str:
    return str(function.__code__.co_filename)


class KeptKernel:
    """The machine code of a kernel in the folder of compiled kernels, a file for each signature.

    numba's own files are numbered, by an index: of processes that compile two signatures at the same time, the last one
    wins the index and any one the file, whose code is then that of another signature.  And numba registers all that it
    can compile before it loads what is compiled: a third of the time until the first rows.  Loading needs its runtime
    alone; where nothing is kept, the compiler registers the rest itself.
    """

    def __init__(self, function: Any) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        """As numba asks for it: None if it is not kept."""
        rtsys.initialize(context)
        # A file that a power cut left empty is as good as none.
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            kept = pickle.loads(self.path(signature, context.codegen()).read_bytes())
            return CompileResult._rebuild(context, *kept)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """As numba has it kept; not where a file was replaced since: the kernel may call functions of both."""
        if not are_as_imported():
            return
        path = self.path(signature, compiled.codegen)
        unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
        # Where the folder may be read alone, or the disk is full, this process has its kernel all the same.
        with suppress(OSError):
            unfinished.write_bytes(dumps(compiled._reduce()))
            unfinished.replace(path)

    def path(self, signature: Any, codegen: Any) -> Path:
        digest = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()
        return kernels_folder() / f"{self._name}.{digest[:20]}.nbc"
