"""Pages of the documentation that are carried out in a copy of the project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+\.\w+)`[^`]*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page: its language, its text, and the file that the sentence before it names."""

    language: str
    text: str
    file: str | None


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page of ``docs/``, in order."""
    text = (ROOT / "docs" / page).read_text()
    blocks = []
    for match in _BLOCK.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n\n")[2]
        named = _FILE.search(before.partition(":")[0]) or re.search(r"`([\w./-]+\.\w+)`", before)
        blocks.append(Block(match[1], match[2], named[1] if named else None))
    return blocks


class Tree:
    """A copy of the package in a folder of its own, to be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("forge", "templates"):
            shutil.copytree(ROOT / name, folder / name)
        (folder / "pyproject.toml").touch()

    def write(self, name: str, text: str) -> None:
        assert not (self.folder / name).exists(), f"{name} exists already"
        (self.folder / name).write_text(text)

    def add_line(self, name: str, line: str, *, before: str) -> None:
        """Put ``line`` before the first line of the file that starts with ``before``."""
        assert line.count("\n") == 1
        path = self.folder / name
        lines = path.read_text().splitlines(keepends=True)
        place = next(number for number, other in enumerate(lines) if other.startswith(before))
        path.write_text("".join([*lines[:place], line, *lines[place:]]))

    def run(self, command: str) -> str:
        """What a command prints, which must end well; ``forge`` and ``python`` are those of the copy."""
        words = shlex.split(command)
        programs = {"forge": [sys.executable, "-m", "forge"], "python": [sys.executable]}
        words[:1] = programs.get(words[0], words[:1])
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        process = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert process.returncode == 0, f"$ {command}\n{process.stdout}{process.stderr}"
        return process.stdout

    def carry_out(self, console: str) -> None:
        """Run the commands of a console block; what each prints must be what the block shows."""
        for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            assert self.run(command) == shown
