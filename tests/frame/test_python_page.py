"""The Python of the pages that show some is run, block by block, and its answers are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python_pages import run_page


def test_the_page_about_python_says_what_python_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the page writes a file
    assert run_page("python.md") > 8


def test_the_page_about_fuzzing_says_how_a_testee_tells_its_coverage() -> None:
    assert run_page("fuzz.md") == 1


@pytest.mark.slow
def test_the_page_about_hypothesis_runs() -> None:
    assert run_page("hypothesis.md") > 1


@pytest.mark.slow
def test_the_page_about_rows_says_what_python_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("numba", "polars", "duckdb"):
        pytest.importorskip(package, reason=f"{package} is not installed: the lock has it")
    monkeypatch.chdir(tmp_path)
    assert run_page("rows-as-arrow.md") > 5
