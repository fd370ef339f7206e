"""The examples of docs/values.md are true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge import values

PAGE = Path(__file__).parents[2] / "docs" / "values.md"
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
