"""The names that ``forge.scenario`` gives to those who write scenarios in Python."""

from __future__ import annotations

import pytest

import forge.scenario

pytestmark = pytest.mark.unit


def test_everything_that_the_package_lists_can_be_imported_with_a_star() -> None:
    names: dict[str, object] = {}
    exec("from forge.scenario import *", names)
    assert set(forge.scenario.__all__) <= names.keys()


def test_the_cases_of_a_file_can_be_loaded_with_the_name_that_the_documentation_uses() -> None:
    names: dict[str, object] = {}
    exec("from forge.scenario import load_cases, load_scenario, plan", names)
    assert callable(names["load_cases"])
