"""Tests that need real servers are never silently left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TEST = """\
import pytest

@pytest.mark.servers
def test_marked():
    pass

def test_with_the_fixture(servers):
    assert servers.run("mysql97").name == "mysql97.run"

def test_without():
    pass

@pytest.mark.nightly
def test_of_the_night():
    pass
"""


def run_pytest(
    folder: Path, servers: Path, ci: str, *arguments: str, test: str = TEST
) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  unit:\n  slow:\n  spark:\n  servers:\n  nightly:\n")
    (folder / "test_it.py").write_text(test)
    environment = {
        **os.environ,
        "FORGE_SERVERS": str(servers),
        "CI": ci,
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "",
        "FORGE_NIGHTLY": "",
    }
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider", f"--rootdir={folder}", *arguments, str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_without_servers_the_end_says_what_was_not_checked(tmp_path: Path, workers: str) -> None:
    completed = run_pytest(tmp_path, tmp_path / "none", "", "-n", workers)
    assert completed.returncode == 0
    assert (
        "NOT CHECKED: 2 tests that compare with real servers; there is no mysql97, maria1011, maria118"
        in completed.stdout
    )
    assert "1 passed, 2 skipped" in completed.stdout
    assert "1 tests of the night were left out" in completed.stdout


def test_in_ci_missing_servers_are_a_failure(tmp_path: Path) -> None:
    completed = run_pytest(tmp_path, tmp_path / "none", ci="true")
    assert completed.returncode == 1
    assert "CI has no mysql97, maria1011, maria118" in completed.stdout


@pytest.mark.parametrize("ci", ["", "true"])
def test_with_servers_everything_runs(tmp_path: Path, ci: str) -> None:
    for name in ("mysql97", "maria1011", "maria118"):
        (tmp_path / f"{name}.run").touch()
    completed = run_pytest(tmp_path, tmp_path, ci)
    assert "3 passed" in completed.stdout
    assert "NOT CHECKED" not in completed.stdout


def test_unit_tests_run_first_and_can_be_chosen(tmp_path: Path) -> None:
    for name in ("mysql97", "maria1011", "maria118"):
        (tmp_path / f"{name}.run").touch()
    completed = run_pytest(tmp_path, tmp_path, "", "-v")
    shown = [line.split("::")[1].split()[0] for line in completed.stdout.splitlines() if "::" in line]
    assert shown == ["test_without", "test_marked", "test_with_the_fixture"]
    assert "1 passed, 3 deselected" in run_pytest(tmp_path, tmp_path, "", "-m", "unit").stdout


UNRUN = """\
import pytest

@pytest.mark.parametrize("name", ["canal", "dolt"])
def test_a_testee(name):
    pytest.skip(f"THE TESTEE {name} IS NOT BUILT: make testees builds it where its toolchain is")

def test_without_meaning_here():
    pytest.skip("no such release")

def test_anything():
    pass
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_left_unrun_is_counted_and_fails_in_ci(tmp_path: Path, workers: str) -> None:
    for ci, code in (("", 0), ("true", 1)):
        completed = run_pytest(tmp_path, tmp_path / "none", ci, "-n", workers, test=UNRUN)
        assert completed.returncode == code
        assert "2 testees were left unrun: -rs says why." in completed.stdout
        assert ("2 testees were left unrun in CI, which may leave 0" in completed.stdout) == bool(code)
        assert "1 passed, 3 skipped" in completed.stdout
