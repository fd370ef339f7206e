"""The list of cases that add something to what the corpus reaches and tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import astuple

pytest.importorskip("pyarrow")

from forge.conform.kit.power import HEADER, Adding, read_power
from forge.conform.kit.registry import read_registry
from forge.conform.kit.tsv import tsv_text
from forge.conform.kit.withheld import withheld_cases
from forge.errors import ScenarioError

ROWS = read_power()


def test_each_case_of_the_list_has_an_id_and_adds_something() -> None:
    ids = read_registry()
    assert [row.case for row in ROWS if ids.row_of(row.case) is None] == [], "make power writes the list anew"
    assert all(row.places + row.mutants for row in ROWS)
    assert len({row.case for row in ROWS}) == len(ROWS)
    assert withheld_cases().isdisjoint(row.case for row in ROWS)


def test_the_list_is_read_as_it_is_written(tmp_path: Path) -> None:
    rows = [Adding(case="first-day[server=mysql-9.7]", places=7, mutants=0), Adding(case="b", places=0, mutants=2)]
    (tmp_path / "power.tsv").write_text(tsv_text(HEADER, map(astuple, rows)))
    assert read_power(tmp_path / "power.tsv") == rows


@pytest.mark.parametrize(
    ("text", "sentence"), [("id\tplaces\n", "the columns are"), ("case\tplaces\tmutants\na\tb\t1\n", "not a line")]
)
def test_a_list_that_is_none_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "power.tsv").write_text(text)
    with pytest.raises(ScenarioError, match=sentence):
        read_power(tmp_path / "power.tsv")
