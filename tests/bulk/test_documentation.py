"""The page about Arrow types states those that the plans have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.values.declaration.typetext import parse_type
from forge.values.registry import column_for
from tests.bulk.cells import plan_of

PAGE = Path(__file__).parents[2] / "docs" / "rows-as-arrow.md"
ROWS = re.findall(r"^\| `([A-Z][^`]*)` \| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)


def test_the_page_has_its_tables() -> None:
    assert len(ROWS) >= 39


@pytest.mark.parametrize(("type_text", "arrow_type"), ROWS)
def test_the_arrow_type_of_a_column_is_the_one_that_the_page_states(type_text: str, arrow_type: str) -> None:
    assert str(plan_of(column_for(parse_type(type_text))).arrow_type) == arrow_type
