"""What the README shows is run: its files are written, its commands typed, their output compared."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/getting-started.md",
    "docs/recipes.md",
    "docs/scenario/index.md",
    "docs/scenario/families.md",
    "docs/scenario/sql.md",
    "docs/fixtures.md",
    "docs/sql.md",
    "docs/info.md",
    "docs/replay.md",
)
#: What a real server must have done first.
ON_SERVERS = ("forge record", "forge verify")

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+\.(?:ya?ml|j2|py|listing|sql))`[^`]*\Z")


@dataclass(frozen=True, slots=True)
class Step:
    """A command with the output that the page shows for it (``...`` stands for any text in a line, or any lines)."""

    command: str
    shown: list[str] = field(default_factory=list)

    @property
    def needs_servers(self) -> bool:
        return self.command.startswith(ON_SERVERS)


def steps_and_files(page: str) -> Iterator[Step | tuple[str, str]]:
    """The commands of the console blocks, and (name, content) of the files that the text names before a block."""
    text = (ROOT / page).read_text()
    for block in _BLOCK.finditer(text):
        language, content = block.groups()
        if language == "console":
            yield from _steps(content)
            continue
        named = _FILE.search(text[: block.start()].rpartition("\n\n")[0].rpartition("\n\n")[2])
        if named is not None:
            yield named.group(1), content


def _steps(content: str) -> Iterator[Step]:
    step: Step | None = None
    for line in content.splitlines():
        if line.startswith("$ "):
            if step is not None:
                yield step
            step = Step(line.removeprefix("$ "))
        elif step is not None:
            step.shown.append(line)
    if step is not None:
        yield step


def run(step: Step, folder: Path) -> str:
    """Standard output and error of the step's command, as they come on a terminal."""
    words = shlex.split(step.command)
    if words[0] == "forge":
        words[:1] = [sys.executable, "-m", "forge"]
    completed = subprocess.run(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert completed.returncode == 0 or "forge: " in completed.stdout, (
        f"{step.command}: exit code {completed.returncode}: {completed.stdout}"
    )
    return completed.stdout


def _on_servers(part: Step | tuple[str, str]) -> bool:
    return isinstance(part, Step) and part.needs_servers


def pattern_of(shown: list[str]) -> str:
    """A regular expression for the output that a page shows."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + "\n" for line in shown
    ]
    return "".join(lines)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder in which the commands of a page were carried out that need no server."""

    @cache
    def made(page: str) -> Path:
        folder = tmp_path_factory.mktemp("page")
        assert carry_out(page, folder, on_servers=False)
        return folder

    return made


def carry_out(page: str, folder: Path, *, on_servers: bool) -> int:
    """Write the files of a page and run its commands, either those that need servers or the others; how many."""
    ran = 0
    for part in steps_and_files(page):
        if isinstance(part, tuple):
            (folder / part[0]).write_text(part[1])
        elif part.needs_servers == on_servers:
            output = run(part, folder)
            assert re.fullmatch(pattern_of(part.shown), output), f"$ {part.command}\n{output}"
            ran += 1
    return ran


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_happens(page: str, folder_of: Callable[[str], Path]) -> None:
    folder_of(page)


@pytest.mark.servers
@pytest.mark.parametrize("page", [page for page in PAGES if any(map(_on_servers, steps_and_files(page)))])
def test_what_a_page_shows_with_real_servers_is_what_happens(page: str, folder_of: Callable[[str], Path]) -> None:
    carry_out(page, folder_of(page), on_servers=True)


@pytest.mark.parametrize("page", PAGES)
def test_relative_links_of_a_page_lead_somewhere(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []
