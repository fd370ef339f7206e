"""Budgets of size: what a reader has to hold in the head.  Who needs more says why in the commit that raises one."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORGE = ROOT / "forge"

#: Code lines (no blanks, comments, docstrings) of each room; "." has the modules beside the rooms.
ROOMS = {
    "binlog": 3090, "bulk": 14100, "changed": 2200, "charsets": 570, "check": 2150, "cli": 3400, "compile": 2900,
    "conform": 4700, "corpus": 1400, "decode": 2110, "engine": 10000, "events": 4080, "plan": 1980,
    "record": 3360, "render": 730, "replay": 4000, "scenario": 2900, "servers": 660, "spark": 2290, "sql": 6000,
    "testing": 1700, "values": 5890, "vendors": 4800, ".": 1110,
}  # fmt: skip
CODE_LINES = 83_000
MODULES = 870
#: Lines of a module with all that stands in it, of a function, and parameters of a function.
MODULE_LINES, FUNCTION_LINES, PARAMETERS = 400, 80, 10
#: Names that several folders have.  The list only gets shorter: a new module has a name of its own.
SHARED_NAMES = {
    "base", "binary", "bits", "build", "cells", "changes", "clipping",
    "codec", "collations", "columns", "comparison", "compressed", "corpus", "decimals", "defaults",
    "definitions", "diff", "documents", "edits", "errors", "events", "export", "expressions", "facts",
    "features", "fields", "fixture", "floats", "forms", "generate", "geometries",
    "groups", "gtids", "inserts", "integers", "layout", "layouts", "literals", "log", "matrix",
    "model", "odd", "outcomes", "output", "payloads", "plan", "progress",
    "query", "reader", "records", "registry", "replica", "report", "row_images", "rows", "scenarios",
    "schema", "schema_of", "search", "session", "settings", "shrink", "source", "sql", "statements",
    "statuses", "stream", "strings", "table", "table_map", "table_text", "tables", "templates", "text",
    "texts", "transactions", "types", "values", "window", "words", "write",
}  # fmt: skip

_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def docstring_lines(path: Path) -> Iterator[int]:
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                assert first.end_lineno is not None
                yield from range(first.lineno, first.end_lineno + 1)


def code_lines(path: Path) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(docstring_lines(path)))


@cache
def lines_by_room() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in modules("forge"):
        parts = path.relative_to(FORGE).parts
        found[parts[0] if len(parts) > 1 else "."] += code_lines(path)
    return found


def functions(folder: str) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in modules(folder):
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path, node


@pytest.mark.slow
def test_no_room_has_more_code_than_its_budget() -> None:
    assert {room: lines for room, lines in lines_by_room().items() if lines > ROOMS.get(room, 0)} == {}


@pytest.mark.slow
def test_the_package_has_no_more_code_and_modules_than_its_budget() -> None:
    assert sum(lines_by_room().values()) <= CODE_LINES
    assert len(modules("forge")) <= MODULES


@pytest.mark.parametrize("folder", ["forge", "tests"])
def test_no_module_is_longer_than_its_budget(folder: str) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules(folder)}
    assert {name: lines for name, lines in lengths.items() if lines > MODULE_LINES} == {}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["forge", "tests"])
def test_a_function_fits_a_screen_and_takes_ten_parameters_at_most(folder: str) -> None:
    large = []
    for path, function in functions(folder):
        taken = function.args
        parameters = len(taken.posonlyargs) + len(taken.args) + len(taken.kwonlyargs)
        assert function.end_lineno is not None
        lines = function.end_lineno - function.lineno + 1
        if parameters > PARAMETERS or lines > FUNCTION_LINES:
            large.append(f"{path.relative_to(ROOT)}: {function.name}, {parameters} parameters, {lines} lines")
    assert large == []


def test_a_module_s_name_says_which_it_is() -> None:
    names = Counter(path.stem for path in modules("forge") if path.stem not in ("__init__", "__main__"))
    assert {name for name, count in names.items() if count > 1} == SHARED_NAMES
