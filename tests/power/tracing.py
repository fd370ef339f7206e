"""Which statements of a subject each log reaches: its functions run with a mark before every statement."""

from __future__ import annotations

import ast
import functools
import gc
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from tests.power.logs import Log
from tests.power.subjects import Subject

#: A function: file, name inside it, first line.
Place = tuple[str, str, int]
#: A statement: file and first line.
At = tuple[str, int]
#: What the marks are set in, as the functions of a subject see it.
_MARKS = "__marks__"
_NONE = compile("", "", "exec")


@dataclass(slots=True)
class Reached:
    """The numbers of the logs that reach a statement, and of those that pass a branch by without entering it."""

    logs: dict[At, array[int]] = field(default_factory=dict)
    passed: dict[At, array[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a file: the lines of its statements (not of those of functions inside it), and its branches:
    the line of each `if`, `while` and `for`, with the first line of its body and of its `else`, if it has one."""

    place: Place
    lines: frozenset[int]
    branches: tuple[tuple[int, int, int | None], ...]


def functions_of(path: Path) -> list[Function]:
    """All functions of a file."""
    finder = _Marker(path)
    finder.visit(ast.parse(path.read_text("utf-8")))
    return [Function(place, frozenset(lines), tuple(branches)) for place, lines, branches in finder.functions]


def traced(subject: Subject, logs: Sequence[Log]) -> Reached:
    """Read all logs, and note what is reached.  For a process of its own: the subject's functions stay marked.

    Nothing is in a cache when a log is read: what an earlier one left there would hide what this one reaches.
    """
    codes: dict[Place, CodeType | None] = {}
    keys: list[tuple[bool, At]] = []
    for path in subject.files:
        marker = _Marker(path, len(keys))
        tree = marker.visit(ast.parse(path.read_text("utf-8")))
        keys += marker.keys
        codes |= codes_of(compile(ast.fix_missing_locations(tree), str(path), "exec"))
    marks = bytearray(len(keys))
    living = Living(subject)
    for function in living.give(codes):
        function.__globals__[_MARKS] = marks
    found: dict[int, array[int]] = defaultdict(lambda: array("I"))
    for number, log in enumerate(logs):
        marks[:] = bytes(len(keys))
        living.forget()
        subject.read(log)
        at = marks.find(1)
        while at >= 0:
            found[at].append(number)
            at = marks.find(1, at + 1)
    reached = Reached()
    for at, numbers in found.items():
        is_passed, key = keys[at]
        places = reached.passed if is_passed else reached.logs
        places[key] = array("I", sorted({*places.get(key, ()), *numbers}))
    return reached


class Living:
    """The functions of a subject that are alive, and the caches before them."""

    def __init__(self, subject: Subject) -> None:
        files = {str(path) for path in subject.files}
        objects = gc.get_objects()
        self.functions = [one for one in objects if isinstance(one, FunctionType) and one.__code__.co_filename in files]
        caches = [one for one in objects if isinstance(one, functools._lru_cache_wrapper)]
        self.caches = [one for one in caches if getattr(one.__wrapped__, "__code__", _NONE).co_filename in files]

    def give(self, codes: Mapping[Place, CodeType | None]) -> Iterator[FunctionType]:
        """Give the functions these codes in the place of theirs; those that got one.  Nothing stays in a cache."""
        for function in self.functions:
            other = codes.get(place_of(function.__code__))
            if other is not None and len(other.co_freevars) == len(function.__code__.co_freevars):
                function.__code__ = other
                yield function
        self.forget()

    def forget(self) -> None:
        """Empty the caches."""
        for cache in self.caches:
            cache.cache_clear()


def place_of(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def codes_of(code: CodeType) -> dict[Place, CodeType | None]:
    """The code of each function inside; None for places that have several, such as two lambdas on one line."""
    codes: dict[Place, CodeType | None] = {}
    waiting = [code]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                place = place_of(constant)
                codes[place] = None if place in codes else constant
                waiting.append(constant)
    return codes


class _Marker(ast.NodeTransformer):
    """Sets a mark before each statement of each function, and where a branch is passed by."""

    def __init__(self, path: Path, first: int = 0) -> None:
        self.path = str(path)
        self.first = first
        self.names: list[str] = []
        self.keys: list[tuple[bool, At]] = []
        self.functions: list[tuple[Place, set[int], list[tuple[int, int, int | None]]]] = []
        self.inside: list[tuple[Place, set[int], list[tuple[int, int, int | None]]]] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.names.append(node.name)
        inside, self.inside = self.inside, []
        self.generic_visit(node)
        self.inside = inside
        self.names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        function: Any = ((self.path, ".".join([*self.names, node.name]), first), set(), [])
        self.functions.append(function)
        self.inside.append(function)
        self.names += [node.name, "<locals>"]
        says = [one for one in node.body[:1] if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
        node.body = [*says, *self._marked(node.body[len(says) :])]
        del self.names[-2:]
        self.inside.pop()
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.inside:
            return super().generic_visit(node)
        branch = isinstance(node, (ast.If, ast.While, ast.For))
        if isinstance(node, (ast.If, ast.While, ast.For)):
            other = node.orelse[0].lineno if node.orelse else None
            self.inside[-1][2].append((node.lineno, node.body[0].lineno, other))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, self._marked(block))
        for handler in getattr(node, "handlers", ()):
            handler.body = self._marked(handler.body)
        for case in getattr(node, "cases", ()):
            case.body = self._marked(case.body)
        if isinstance(node, (ast.If, ast.While, ast.For)) and branch and not node.orelse:
            node.orelse = [self._mark(True, node.lineno)]
        return node

    def _marked(self, block: list[ast.stmt]) -> list[ast.stmt]:
        marked: list[ast.stmt] = []
        for statement in block:
            self.inside[-1][1].add(statement.lineno)
            marked += [self._mark(False, statement.lineno), self.visit(statement)]
        return marked

    def _mark(self, is_passed: bool, line: int) -> ast.stmt:
        number = self.first + len(self.keys)
        self.keys.append((is_passed, (self.path, line)))
        place = ast.Subscript(ast.Name(_MARKS, ast.Load()), ast.Constant(number), ast.Store())
        return ast.Assign([place], ast.Constant(1), lineno=line, col_offset=0)
