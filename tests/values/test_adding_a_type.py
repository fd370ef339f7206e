"""docs/add-a-type.md is true: in a copy of the tree, its file and its line make the commands print what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-type.md").read_text(encoding="utf-8")
MODULE, LINE, SCENARIO, CONSOLE = (block for _, block in re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.M))
COMMANDS = [line.removeprefix("$ forge ").split() for line in CONSOLE.splitlines() if line.startswith("$ forge ")]

#: What is asked of the type beside the page's commands, in the same process: Python starts once.
SCRIPT = """
import sys
from hypothesis import given, settings
from forge.cli.app import run
from forge import values
from forge.testing.values import declared_examples, values_for
from forge.values.registry import codec_for

for command in {commands!r} + [["schema-of", "paint.000001"]]:
    sys.stdout.flush()
    assert run(command) == 0, command

column = values.column("COLOR")
drawn, declared = set(), set()

@given(values_for(column), declared_examples())
def test(value, example):
    drawn.add(value)
    declared.add(codec_for(example).type_name(example))

settings(max_examples=200)(test)()
assert drawn == {{"#000000", "#0000ff", "#ffffff"}}, drawn
assert "COLOUR" in declared
assert codec_for(column).clip(column, "mauve").value == "#000000"
assert values.decode("COLOUR", values.encode("COLOUR", "#C0FFEE")) == "#c0ffee"
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the page was followed, and what the commands printed."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("forge", "templates"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "forge" / "values" / "colour.py").write_text(MODULE, encoding="utf-8")
    registry_module = folder / "forge" / "values" / "registry.py"
    before, opening, behind = registry_module.read_text(encoding="utf-8").partition("_MODULES = (\n")
    registry_module.write_text(before + opening + LINE + behind, encoding="utf-8")
    (folder / "paint.yaml").write_text(SCENARIO, encoding="utf-8")
    completed = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(commands=COMMANDS)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return folder, completed.stdout


def test_the_page_says_one_file_and_one_line() -> None:
    assert LINE.count("\n") == 1
    assert [command[0] for command in COMMANDS] == ["build", "dump", "disasm", "asm"]


def test_a_type_of_one_file_and_one_line_is_declared_built_and_dumped_as_the_page_shows(
    printed: tuple[Path, str],
) -> None:
    shown = CONSOLE.split("--rows\n")[1].split("$ forge")[0]
    pattern = ".*?".join(map(re.escape, shown.strip().split("...")))
    assert re.search(pattern, printed[1], re.DOTALL), printed[1]


def test_its_cells_survive_disassembly(printed: tuple[Path, str]) -> None:
    folder, _ = printed
    assert "'#ff8000'" in (folder / "paint.listing").read_text(encoding="utf-8")
    assert (folder / "paint.000001").read_bytes() == (folder / "again.000001").read_bytes()


def test_the_table_is_declared_again_from_the_bytes(printed: tuple[Path, str]) -> None:
    assert "`shade` COLOUR NOT NULL" in printed[1]
