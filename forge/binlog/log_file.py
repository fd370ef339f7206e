"""``forge.read_events``: the events of a file on disk."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.window import LogWindow
from forge.binlog.wrapped import unwrapped
from forge.errors import FormatError


def read_events(path: str | PathLike[str]) -> Iterator[LoggedEvent]:
    """The events of the file at ``path`` one by one, those of compressed transactions among them; of a gzip or zstd
    file those of the log inside.

    Memory holds a window of the file and one event, however long the file is.  What precedes a place that breaks a
    rule of the format comes first; then a FormatError is raised, with file, event and offset.  Raises OSError.
    """
    with Path(path).open("rb") as file:
        try:
            yield from logged_events(LogWindow(unwrapped(file)))
        except FormatError as error:
            raise error.in_file(fspath(path)) from None
