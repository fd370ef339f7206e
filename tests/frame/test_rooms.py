"""The order of the rooms (import-linter's contracts in ``pyproject.toml``), and no circles between files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed")

if TYPE_CHECKING:
    from grimp import ImportGraph

ROOT = Path(__file__).resolve().parents[2]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``make lint`` runs, over the package in ``folder``."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo", "--config", str(ROOT / "pyproject.toml")],
        cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_contracts_between_rooms_are_kept() -> None:
    linted = lint_imports(ROOT)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def circles(graph: ImportGraph) -> list[set[str]]:
    """Groups of modules of which each imports all others, directly or not (Tarjan's components of two and more)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    components = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        path.append(module)
        for imported in graph.find_modules_directly_imported_by(module):
            if imported not in numbers:
                visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in path:
                lowest[module] = min(lowest[module], numbers[imported])
        if lowest[module] == numbers[module]:
            start = path.index(module)
            components.append(set(path[start:]))
            del path[start:]

    for module in sorted(graph.modules):
        if module not in numbers:
            visit(module)
    return [component for component in components if len(component) > 1]


def test_no_file_imports_itself_by_way_of_others() -> None:
    import grimp

    graph = grimp.build_graph("forge", cache_dir=None)
    assert [sorted(circle) for circle in circles(graph)] == []


def test_a_circle_is_found_wherever_its_imports_are_written() -> None:
    import grimp

    graph = grimp.ImportGraph()
    for importer, imported in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("f", "a")]:
        for module in (importer, imported):
            graph.add_module(module)
        graph.add_import(importer=importer, imported=imported)
    assert circles(graph) == [{"a", "b", "c"}]
