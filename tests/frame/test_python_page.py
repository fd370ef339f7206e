"""The Python of the pages that show some is run, block by block, and its answers are compared."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _run(page: Path) -> int:
    """Run a page's blocks; how many there are."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    answers: list[str] = []
    for block in blocks:
        if not block.startswith(">>>"):
            exec(block, names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(example, out=answers.append, clear_globs=False)
    assert "".join(answers) == ""
    return len(blocks)


def test_the_page_about_python_says_what_python_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the page writes a file
    assert _run(DOCS / "python.md") > 8


@pytest.mark.slow
def test_the_page_about_rows_says_what_python_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("numba", "polars", "duckdb"):
        pytest.importorskip(package, reason=f"{package} is not installed: the lock has it")
    monkeypatch.chdir(tmp_path)
    assert _run(DOCS / "rows-as-arrow.md") > 5
