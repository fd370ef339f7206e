"""The Python of docs/python.md is run, block by block, and its answers are compared."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_page_says_what_python_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the page writes a file
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    answers: list[str] = []
    for block in blocks:
        if not block.startswith(">>>"):
            exec(block, names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, "python.md", str(PAGE), 0)
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(example, out=answers.append, clear_globs=False)
    assert len(blocks) > 8
    assert "".join(answers) == ""
