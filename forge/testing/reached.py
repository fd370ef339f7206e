"""Which lines of a decoder run for the first time: what a testee in Python tells ``forge fuzz`` (docs/fuzz.md).

It needs the standard library alone, from Python 3.9 on, so that a testee may have a copy of this file beside it.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_Trace = Callable[[FrameType, str, Any], Any]
#: The numbers that sys.monitoring leaves to tools of no kind that it names.
_TOOLS = (3, 4)


class Reached:
    """The lines of some packages, or modules, that have run: a context manager around what is to be watched.

    By ``sys.monitoring``, which tells each line once, from Python 3.12 on; before it by ``sys.settrace``.
    """

    def __init__(self, *packages: str) -> None:
        """Raises ModuleNotFoundError for a package that is not there, ValueError if two others watch already."""
        self._homes = tuple(home for package in packages for home in _homes(package))
        self._seen: set[tuple[str, int]] = set()
        self._fresh: list[int] = []
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._before: Any = None
        if self._monitoring is not None:
            tool = next((tool for tool in _TOOLS if self._monitoring.get_tool(tool) is None), _TOOLS[0])
            self._monitoring.use_tool_id(tool, "binlog-forge")
            self._monitoring.register_callback(tool, self._monitoring.events.LINE, self._line)
            # Switched on once: each switch makes the interpreter look at all code again.
            self._monitoring.set_events(tool, self._monitoring.events.LINE)

    def __enter__(self) -> Reached:
        if self._monitoring is None:
            self._before = sys.gettrace()
            sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        if self._monitoring is None:
            sys.settrace(self._before)

    def fresh(self) -> list[int]:
        """A number for each line that has run for the first time since this was asked last.

        A line has the same number in every process.
        """
        fresh, self._fresh = self._fresh, []
        return fresh

    def _line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(self._homes):
            self._add(code.co_filename, line)
        return self._monitoring.DISABLE  # At this place of the code: nothing is told twice.

    def _called(self, frame: FrameType, event: str, argument: Any) -> _Trace | None:
        if not frame.f_code.co_filename.startswith(self._homes):
            return None
        self._add(frame.f_code.co_filename, frame.f_lineno)
        return self._traced

    def _traced(self, frame: FrameType, event: str, argument: Any) -> _Trace:
        if event == "line":
            self._add(frame.f_code.co_filename, frame.f_lineno)
        return self._traced

    def _add(self, file: str, line: int) -> None:
        if (file, line) not in self._seen:
            self._seen.add((file, line))
            home = next(home for home in self._homes if file.startswith(home))
            self._fresh.append(zlib.crc32(f"{Path(home).name}{file[len(home) :]}:{line}".encode()))


def _homes(package: str) -> list[str]:
    """The folder of the package, or the file of the module."""
    found = importlib.util.find_spec(package)
    if found is None:
        raise ModuleNotFoundError(f"No module named {package!r}")
    return list(found.submodule_search_locations or ([found.origin] if found.origin else []))
