"""The Python of a page of the documentation: run block by block, its answers compared.

``python -m tests.python_pages PAGE`` runs one in the current folder.
"""

from __future__ import annotations

import doctest
import sys
from typing import Any

from tests.pages import blocks_of


def run_page(page: str) -> int:
    """Run the blocks of a page of ``docs/``, which share their names: how many there are.

    Raises AssertionError for a wrong answer.
    """
    blocks = [block.text for block in blocks_of(page) if block.language == "python"]
    names: dict[str, Any] = {}
    answers: list[str] = []
    for block in blocks:
        if not block.startswith(">>>"):
            exec(block, names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(example, out=answers.append, clear_globs=False)
    assert "".join(answers) == ""
    return len(blocks)


if __name__ == "__main__":
    run_page(sys.argv[1])
