"""Scenario files: read, rendered, expanded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forge.scenario.file_texts import read_text
from forge.scenario.matrix import Case, Settings, base_scenario, expand
from forge.scenario.model import Scenario


def load_scenario(path: str | Path, settings: Settings | None = None) -> Scenario:
    """The scenario of a file, without its matrix.

    ``settings`` are parameters of the template and fields to replace (``{"session.row_image": "minimal"}``).
    Raises ScenarioError (file, line).
    """
    return base_scenario(read_text(path), file=str(path), settings=settings)


def load_cases(path: str | Path, settings: Settings | None = None) -> list[Scenario]:
    """The cases that a file's matrix expands to, named ``scenario[key=value,...]``.  Raises ScenarioError."""
    return [case.scenario for case in iterate_cases(path, settings)]


def iterate_cases(path: str | Path, settings: Settings | None = None) -> Iterator[Case]:
    """As :func:`load_cases`, one after the other, with the values chosen of the matrix."""
    return expand(read_text(path), file=str(path), settings=settings)
