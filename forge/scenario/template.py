"""Scenario files that are Jinja2 templates: rendering, with the lines of the source kept."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from forge.errors import ScenarioError, nearest

#: Stands in rendered text before each line of the template: NUL, the line's number, NUL.  YAML has no NUL.
_MARK = re.compile("\0([0-9]+)\0")
#: The program that renders.
_PROGRAM: Final = str(Path(__file__).with_name("template_process.py"))


class Rendered(Struct, frozen=True):
    """Text that came out of a template; ``lines`` gives each of its lines the number it has in the template."""

    text: str
    lines: list[int]


def is_template(file: str | None, text: str) -> bool:
    """Whether a file is a template: by its name (``.j2``), or because it has template marks in it."""
    return (file is not None and file.endswith(".j2")) or "{{" in text or "{%" in text


def render(text: str, parameters: Mapping[str, Any], *, file: str | None = None, first_line: int = 1) -> Rendered:
    """Render a template, or a part of one that begins at ``first_line``.

    Raises ScenarioError (file, line) for wrong syntax, for parameters that are used but not given, and for what is
    beyond the limits of :mod:`forge.scenario.template_process`.
    """
    if "\0" in text:
        raise ScenarioError("the template has a NUL character in it", file=file)
    said = _RENDERER.ask(text, dict(parameters))
    if "text" not in said:
        raise _failed(said, parameters, file, first_line)
    return _unmarked(said["text"], first_line)


def check_parameters(text: str, parameters: Collection[str], *, file: str | None = None) -> None:
    """Raise ScenarioError for the name of a parameter that the template does not use."""
    if not parameters:
        return
    said = _RENDERER.ask(text, None)
    if "names" not in said:
        raise _failed(said, {}, file, 1)
    used: list[str] = said["names"]
    for name in parameters:
        if name not in used:
            expected = f"one of {', '.join(used)}" if used else "no parameters"
            raise ScenarioError(
                f"the template has no parameter {name!r}", file=file, expected=expected, suggestion=nearest(name, used)
            )


class _Renderer:
    """The process that renders: started when it is first asked, and again when it ended at a limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, text: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """What it answers (forge.scenario.template_process.answer)."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(pickle.dumps((text, parameters)))
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = b""
            if line:
                said: dict[str, Any] = json.loads(line)
                return said
            self._process = None
            code = process.wait()
            if code == -signal.SIGPROF:
                return {"problem": "it takes more than half a second"}
            return {"problem": f"the process that renders it ended with {code}"}

    def _started(self) -> subprocess.Popen[bytes]:
        # A forked process shares the pipes of the one that it came from, and must not use them.
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            # All that it imports is found where this process finds it; hashes, and so sets, are the same each time.
            found = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "0"}
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-P", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | found,
            )
            self._owner = os.getpid()
            atexit.register(_end, self._process, self._owner)
        return self._process


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if owner == os.getpid():
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
        process.wait()


_RENDERER = _Renderer()


def _unmarked(marked: str, first_line: int) -> Rendered:
    texts: list[str] = []
    lines: list[int] = []
    current = 1
    for line in marked.split("\n"):
        marks = [int(number) for number in _MARK.findall(line)]
        # A line belongs to the first piece of template text in it that is not empty, or else to the line before.
        lines.append((marks[0] if marks else current) + first_line - 1)
        current = marks[-1] if marks else current
        texts.append(_MARK.sub("", line))
    return Rendered("\n".join(texts), lines)


def _failed(said: Mapping[str, Any], parameters: Mapping[str, Any], file: str | None, first_line: int) -> ScenarioError:
    line = None if said.get("line") is None else said["line"] + first_line - 1
    if "syntax" in said:
        return ScenarioError(f"bad template: {said['syntax']}", file=file, line=line)
    if "missing" in said:
        name = said["missing"]
        return ScenarioError(
            f"the template needs the parameter {name!r}",
            file=file,
            line=line,
            expected=f"--set {name}=VALUE (given: {', '.join(parameters) or 'none'})",
            suggestion=nearest(name, parameters),
        )
    return ScenarioError(f"the template failed: {said['problem']}", file=file, line=line)
