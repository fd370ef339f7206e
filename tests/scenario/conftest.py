"""Scenarios that are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.errors import ScenarioError
from forge.scenario import expand, plan


@pytest.fixture
def refused() -> Callable[[str], ScenarioError]:
    """The error of a scenario file with this text, whose name is ``f.yaml``."""

    def error(text: str) -> ScenarioError:
        with pytest.raises(ScenarioError) as caught:
            _plan_all(text)
        return caught.value

    return error


def _plan_all(text: str) -> None:
    for case in expand(text, file="f.yaml"):
        plan(case.scenario)
