"""The examples of docs/values.md and docs/values-json.md are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge import values

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "values.md"
EXAMPLE = re.compile(r"\| `([A-Z][^`]*)` \| `([^`]*)` \| `([0-9a-f ]+)` \|")
TEXT = PAGE.read_text(encoding="utf-8")
OURS, MARIADBS = TEXT.split("## MariaDB's own")
EXAMPLES = [(*match, "mysql-9.7") for match in EXAMPLE.findall(OURS)]
EXAMPLES += [(*match, "mariadb-11.8") for match in EXAMPLE.findall(MARIADBS)]


def test_the_page_has_examples_of_every_section() -> None:
    assert len(EXAMPLES) > 25
    assert {server for *_, server in EXAMPLES} == {"mysql-9.7", "mariadb-11.8"}


@pytest.mark.parametrize(("type_text", "shown", "cell", "server"), EXAMPLES)
def test_an_example_has_the_cell_that_the_page_shows(type_text: str, shown: str, cell: str, server: str) -> None:
    declared: Any = yaml.safe_load(shown) if shown.startswith(("{", "[")) else shown
    if isinstance(declared, dict):
        declared = {"hex": str(declared["hex"])}
    assert values.encode(type_text, declared, server=server).hex(" ") == cell


@pytest.mark.parametrize("page", ["values.md", "values-json.md"])
def test_the_python_of_a_page_gives_what_its_comments_say(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.M)
    assert blocks
    for block in blocks:
        names: dict[str, Any] = {"my_decode": None}
        exec(block, names)
        for expression, shown in re.findall(r"^(\S.*?)  # (.*)$", block, re.M):
            pattern = ".*".join(map(re.escape, shown.split("...")))
            assert re.fullmatch(pattern, repr(eval(expression, names))), expression
