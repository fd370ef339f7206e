"""The files of one log, in their order: those of a folder, or those that an index file names."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC
from forge.errors import ScenarioError

#: What a server puts behind the base name: six digits, seven after 999,999 (sql/binlog.cc, find_uniq_filename).
_NUMBERED = re.compile(r"(.+)\.(\d{6,})", re.DOTALL)

#: Seconds that an index file may be missing, while its server replaces it.
_INDEX_LIMIT = 1.0


class LogName(NamedTuple):
    """The name of a file: the base that all files of a log share, and its number.  ``digits`` are those written."""

    base: str
    number: int
    digits: int = 6

    def __str__(self) -> str:
        return f"{self.base}.{self.number:0{self.digits}d}"

    @property
    def following(self) -> LogName:
        """The name that a server gives to the next file."""
        return self._replace(number=self.number + 1)


def log_name(name: str) -> LogName | None:
    """The parts of a name such as ``binlog.000001``; None for another name."""
    match = _NUMBERED.fullmatch(name)
    return None if match is None else LogName(match[1], int(match[2]), len(match[2]))


def log_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files of the log at ``path``, the oldest first: an index file (``*.index``), a folder, or one file.

    In a folder those count whose names end with a number, such as ``binlog.000001``; it may have none yet.
    An index may name files where they are on the server; those that are not there are looked for beside the index.
    Raises ScenarioError if nothing is there, and for a folder that holds several logs.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _of_folder(path)
        if path.suffix == ".index":
            return _of_index(path, _index_lines(path))
    except FileNotFoundError:
        pass
    if not path.exists():
        raise ScenarioError(f"there is no log at {path}", expected="a folder of binary logs, an index file, or a file")
    return [path]


def _of_folder(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        found = [(name, entry.name) for entry in entries if (name := log_name(entry.name)) is not None]
    logs = _by_base(found)
    if len(logs) > 1:
        # Other files have numbers too, such as aria_log.00000001.
        logs = {base: files for base, files in logs.items() if any(_is_log(folder / file) for _, file in files)}
    if len(logs) > 1:
        raise ScenarioError(
            f"{folder} holds several logs: {', '.join(sorted(logs))}", expected="the index file of one of them"
        )
    return [folder / file for files in logs.values() for _, file in files]


def _index_lines(index: Path) -> list[str]:
    """The lines of an index file.

    MySQL deletes the old one before it renames the new one (MYSQL_BIN_LOG::move_crash_safe_index_file_to_index_file of
    sql/binlog.cc), so that for a moment there is none.  Raises FileNotFoundError if there is none for longer.
    """
    end = time.monotonic() + _INDEX_LIMIT
    while True:
        try:
            return index.read_text(errors="surrogateescape").splitlines()
        except FileNotFoundError:
            if not index.parent.exists() or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _of_index(index: Path, lines: Iterable[str]) -> list[Path]:
    names = dict.fromkeys(line for line in lines if line)
    found = [(name, line) for line in names if (name := log_name(Path(line).name)) is not None]
    return [_named(index.parent, line) for files in _by_base(found).values() for _, line in files]


def _named(folder: Path, line: str) -> Path:
    path = folder / line
    return path if path.exists() else folder / path.name


def _by_base(found: Iterable[tuple[LogName, str]]) -> dict[str, list[tuple[LogName, str]]]:
    logs: dict[str, list[tuple[LogName, str]]] = {}
    for name, file in sorted(found):
        logs.setdefault(name.base, []).append((name, file))
    return logs


def _is_log(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in (MAGIC, ENCRYPTED_MAGIC)
