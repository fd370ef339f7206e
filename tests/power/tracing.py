"""Which functions and lines of a subject each log reaches."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.power.logs import Log
from tests.power.subjects import Subject

#: A function: file, name inside it, first line.
Place = tuple[str, str, int]
#: Logs that a function is followed line by line in at least, and without a new line at most.
_FOLLOWED, _WITHOUT_NEWS = 40, 150


@dataclass(slots=True)
class Reached:
    """What some logs reach: lines and steps between lines by file, and the numbers of the logs by function."""

    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    steps: dict[str, set[tuple[int, int]]] = field(default_factory=lambda: defaultdict(set))
    logs: dict[Place, list[int]] = field(default_factory=lambda: defaultdict(list))


def traced(subject: Subject, logs: Sequence[Log]) -> Reached:
    """Read all logs, and note what is reached."""
    reached = Reached()
    files = {str(path) for path in subject.files}
    open_lines: dict[CodeType, set[int]] = {}
    followed: dict[CodeType, int] = defaultdict(int)
    news: dict[CodeType, int] = defaultdict(int)
    entered: set[CodeType] = set()

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        if code not in entered:
            entered.add(code)
            followed[code] += 1
        left = open_lines.get(code)
        if left is None:
            left = open_lines[code] = {line for *_, line in code.co_lines() if line}
        if followed[code] > (news[code] + _WITHOUT_NEWS if left else _FOLLOWED):
            return None
        lines, steps, last = reached.lines[code.co_filename], reached.steps[code.co_filename], 0

        def follow(inner: FrameType, what: str, _: Any) -> Any:
            nonlocal last
            line = inner.f_lineno
            if what == "line":
                if line in left:
                    left.discard(line)
                    lines.add(line)
                    news[code] = followed[code]
                steps.add((last, line))
                last = line
            elif what == "return":
                steps.add((last, -1))
            return follow

        lines.add(code.co_firstlineno)
        left.discard(code.co_firstlineno)
        return follow

    for number, log in enumerate(logs):
        entered.clear()
        sys.settrace(enter)
        try:
            subject.read(log)
        finally:
            sys.settrace(None)
        for code in entered:
            reached.logs[(code.co_filename, code.co_qualname, code.co_firstlineno)].append(number)
    return reached


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a file, with the lines that can run in it (not those of functions inside it)."""

    place: Place
    lines: frozenset[int]


def functions_of(path: Path) -> Iterator[Function]:
    """All functions of a file."""

    def inside(code: CodeType) -> Iterator[Function]:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                is_class = "__module__" in constant.co_names and "__qualname__" in constant.co_names
                if not is_class and not constant.co_name.startswith("<"):
                    own = frozenset(line for *_, line in constant.co_lines() if line)
                    yield Function((str(path), constant.co_qualname, constant.co_firstlineno), own)
                yield from inside(constant)

    yield from inside(compile(path.read_text("utf-8"), str(path), "exec"))


def branches_of(path: Path) -> Iterator[tuple[int, int, int]]:
    """Each `if`, `while` and `for`: first and last line of what it asks, and the first line of its body."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.If, ast.While)):
            yield node.test.lineno, node.test.end_lineno or node.test.lineno, node.body[0].lineno
        elif isinstance(node, ast.For):
            yield node.lineno, node.iter.end_lineno or node.lineno, node.body[0].lineno
