"""The files that kernels come from, as they were before the first of them was imported.

Compiled kernels are kept by what these files say.  An upgrade may replace them under a running process, which has
modules of before and imports others of after: what it compiles then belongs to neither.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

#: Of a file: when it was written, its bytes, its inode.
_State = tuple[int, int, int]


def _state(path: str) -> _State | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _files() -> Iterator[str]:
    for folder, _, names in os.walk(Path(__file__).parent):
        yield from (f"{folder}{os.sep}{name}" for name in names if name.endswith(".py"))


_BEFORE: Final = {path: _state(path) for path in _files()}


def is_as_imported(path: str) -> bool:
    """Whether the file is the one that was there before the first kernel was imported."""
    return _state(path) == _BEFORE.get(path)


def are_as_imported() -> bool:
    """Whether all of them are, and there is no other one."""
    return set(_files()) == set(_BEFORE) and all(map(is_as_imported, _BEFORE))


def sources_hash(beside: str) -> str:
    """A hash of all files that say something of kernels, and of what is ``beside`` them.  Raises OSError."""
    digest = hashlib.sha256(beside.encode())
    for path in sorted(map(Path, _BEFORE)):
        text = path.read_bytes()
        if path.name == "machine.py" or b"forge.bulk.machine" in text:
            digest.update(text)
    return digest.hexdigest()[:16]
