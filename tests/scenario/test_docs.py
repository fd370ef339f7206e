"""The examples of docs/scenario.md do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forge.engine.requests.statements import Delete, Insert, Replace, Update
from forge.engine.rows.where import OPERATORS
from forge.plan.facts import Facts
from forge.plan.session import Session
from forge.scenario import Scenario, expand, plan
from forge.scenario.generators import _GENERATORS

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text()
BLOCKS = [(match[1], match[2]) for match in re.finditer(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize("text", [text for language, text in BLOCKS if language in ("yaml", "jinja")])
def test_every_scenario_on_the_page_plans(text: str) -> None:
    cases = list(expand(text, file="scenario.md"))
    assert cases
    assert all(plan(case.scenario).tables for case in cases)


def test_the_python_on_the_page_runs() -> None:
    (text,) = [text for language, text in BLOCKS if language == "python"]
    names: dict[str, Any] = {}
    exec(text, names)
    assert len(names["rows"]) == 51


def test_the_page_names_every_word_of_the_language() -> None:
    structures = (Scenario, Session, Insert, Replace, Update, Delete)
    words = {name for struct in structures for name in struct.__struct_encode_fields__}
    words |= {*_GENERATORS, *OPERATORS}
    assert sorted(word for word in words if not re.search(rf"\b{word}\b", PAGE)) == []
    assert "server_version" in Facts.__struct_encode_fields__
