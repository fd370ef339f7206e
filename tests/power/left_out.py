"""What the figures leave out: statements that no file reaches, and mutants that no input tells, each with a reason."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.power.mutants import Mutant

_LIST = Path(__file__).with_name("left-out.toml")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry of the list.  ``file`` is the end of the file's path, ``text`` the first line of the statement.

    ``what`` are the changes that no input tells, as mutants name them, with ``#2`` for the second such of a statement;
    empty for a statement that no file reaches, with all that is inside it.
    """

    decoder: str
    file: str
    function: str
    text: str
    reason: str
    what: tuple[str, ...] = ()


def left_out(decoder: str) -> list[LeftOut]:
    """The entries of a decoder."""
    return [entry for entry in entries() if entry.decoder == decoder]


def entries() -> Iterator[LeftOut]:
    """All entries: tables by decoder, file, function and text; the value is the reason, or reasons by change."""
    listed: dict[str, Any] = tomllib.loads(_LIST.read_text("utf-8"))
    for decoder, files in listed.items():
        for file, functions in files.items():
            for function, texts in functions.items():
                for text, reason in texts.items():
                    if isinstance(reason, str):
                        yield LeftOut(decoder, file, function, text, reason)
                        continue
                    for changes, why in reason.items():
                        yield LeftOut(decoder, file, function, text, why, tuple(changes.split("; ")))


def numbered(mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """The mutants of a file, each with its name among the alike ones of its statement: ``0 is 1 #2``."""
    counts = Counter[tuple[int, str]]()
    for mutant in mutants:
        counts[mutant.statement, mutant.what] += 1
        yield mutant, f"{mutant.what} #{counts[mutant.statement, mutant.what]}"


def spans(path: Path, entry: LeftOut) -> list[range]:
    """The lines of the statements that an entry means; none if the file has no such statement."""
    source = path.read_text("utf-8")
    lines = source.splitlines()
    found = []
    for names, node in _statements(ast.parse(source), ""):
        if names == entry.function and lines[node.lineno - 1].strip() == entry.text:
            found.append(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _statements(node: ast.AST, names: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield names, child
        is_named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
        inner = f"{names}.{child.name}".lstrip(".") if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else names
        yield from _statements(child, inner if is_named else names)
