"""The examples that every kit has: each compares its small reader with the kit, as its README says, without Python."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from forge.resources import templates_dir

pytestmark = pytest.mark.slow

HOME = templates_dir() / "kit" / "examples"
EXAMPLES = {"go": ["go", "test", "./..."], "rust": ["cargo", "test"], "java": ["mvn", "-q", "-B", "test"]}
#: The reader of each: what a stranger replaces.
READERS = {"go": "reader.go", "rust": "src/lib.rs", "java": "src/main/java/kit/Reader.java"}


def ran(language: str, kit: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The example in a folder of its own, as its README says."""
    command = EXAMPLES[language]
    for needed in (command[0], *(["javac"] if language == "java" else [])):
        if shutil.which(needed) is None:
            pytest.skip(f"THE EXAMPLE IN {language.upper()} WAS NOT RUN: {needed} is not here")
    shutil.copytree(kit, folder / "kit")
    return subprocess.run(
        command, cwd=folder / "kit" / "examples" / language, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.parametrize("language", ["go", "java", pytest.param("rust", marks=pytest.mark.nightly)])
def test_an_example_agrees_with_the_kit_that_it_is_in(language: str, kit: Path, tmp_path: Path) -> None:
    done = ran(language, kit, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.nightly
@pytest.mark.parametrize("language", EXAMPLES)
def test_an_example_tells_a_cell_that_differs(language: str, kit: Path, tmp_path: Path) -> None:
    rows = next(path for path in sorted(kit.glob("cases/first-day*/*.rows.jsonl")) if path.stat().st_size)
    other = tmp_path / "changed"
    shutil.copytree(kit, other)
    changed = other / rows.relative_to(kit)
    changed.write_text(re.sub(r'"raw":"[0-9a-f]{2}', '"raw":"ee', rows.read_text(), count=1))
    done = ran(language, other, tmp_path)
    assert done.returncode != 0
    assert rows.parent.name in done.stdout + done.stderr


@pytest.mark.parametrize("language", READERS)
def test_the_reader_of_an_example_is_short(language: str) -> None:
    lines = (HOME / language / READERS[language]).read_text().splitlines()
    assert len([line for line in lines if line.strip()]) <= 200
