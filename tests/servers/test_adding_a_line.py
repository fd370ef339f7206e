"""Adding a server line is one file: what the contributor's page shows is done in a copy of the package."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "add-a-server-line.md").read_text()
_NAMED_BLOCK = re.compile(r"`([\w./-]+\.(?:toml|yaml))`:\n\n```(?:toml|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the files that the page shows."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("forge", "templates", "tests/schema"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text("")
    for name, content in _NAMED_BLOCK.findall(PAGE):
        (folder / name).write_text(content)
    return folder


def run(tree: Path, command: str) -> str:
    """What a command of the page prints."""
    command, _, output = command.partition(" > ")
    words = shlex.split(command)
    words[:1] = [sys.executable, "-m", "forge"] if words[0] == "forge" else [sys.executable]
    environment = {"PYTHONPATH": str(tree), "PATH": ""}
    ran = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{command}: {ran.stderr}"
    if output:
        (tree / output).write_text(ran.stdout)
        return ""
    return ran.stdout


def pattern_of(shown: list[str]) -> str:
    """A regular expression for what the page shows: ``...`` stands for any text in a line, or for any lines."""
    return "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in shown
    )


def test_the_page_s_commands_print_what_it_shows(tree: Path) -> None:
    commands = 0
    for block in _CONSOLE.findall(PAGE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            printed = run(tree, command)
            assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\n{printed}"
            commands += 1
    assert commands == 4


def test_the_schema_of_scenarios_knows_the_line(tree: Path) -> None:
    schema = json.loads(run(tree, "python -m tests.schema"))
    assert "mysql-9.8" in schema["properties"]["server"]["enum"]


def test_the_line_is_judged_as_a_consumer_too(tree: Path) -> None:
    report = json.loads(run(tree, "forge compat orders.yaml --from mysql-8.4 --to mysql-9.8 --json"))
    assert "mysql-9.8" in json.dumps(report)
