"""The pytest plugin in a project of somebody else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import forge

SCENARIO = """\
scenario: orders
tables: ["CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60))"]
transactions:
  - - insert: {into: shop.orders, rows: [{id: 1, who: Ann}, {id: 2, who: Bob}]}
"""
pytestmark = pytest.mark.slow


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """pytest in a project, with the plugin as its entry point loads it."""
    command = [sys.executable, "-m", "pytest", "-p", "forge.conform.pytest_plugin", "-p", "no:cacheprovider"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(forge.__file__).parents[1]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    ended = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_a_marker_builds_a_scenario_for_each_server_line(tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text(SCENARIO)
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.binlog('orders.yaml', server=['mysql-8.4', 'mariadb-11.8'])\n"
        "def test_rows(binlog):\n"
        "    assert [row.after['who'] for row in binlog().rows] == ['Ann', 'Bob']\n"
        "def test_without(binlog):\n"
        "    assert len(binlog('orders.yaml', server='mysql-5.7').rows) == 2\n"
        "    assert len(binlog('{scenario: one}').rows) == 0\n"
    )
    code, said = run(tmp_path, "-v", "--strict-markers")
    assert code == 0, said
    assert "test_rows[mysql-8.4] PASSED" in said
    assert "test_rows[mariadb-11.8] PASSED" in said
    assert "3 passed" in said


def test_an_assertion_shows_the_first_difference(tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text(SCENARIO)
    (tmp_path / "test_it.py").write_text(
        "import dataclasses\n"
        "def test_rows(binlog):\n"
        "    rows = binlog('orders.yaml').rows\n"
        "    wrong = [rows[0], dataclasses.replace(rows[1], after={'id': 2, 'who': 'Bab'})]\n"
        "    assert wrong == rows\n"
        "def test_logs(binlog):\n"
        "    assert binlog('orders.yaml') == binlog('orders.yaml', settings={'session.server_id': 7})\n"
        "def test_fewer(binlog):\n"
        "    rows = binlog('orders.yaml').rows\n"
        "    assert rows[:1] == rows\n"
        "def test_nothing(binlog):\n"
        "    binlog()\n"
    )
    code, said = run(tmp_path)
    assert code == 1
    assert "assert rows that differ" in said
    assert "after['who']: 'Bab' against 'Bob'" in said
    assert "assert two logs that differ" in said
    assert "server_id: left 1, right 7" in said
    assert "1 rows against 2; the left one lacks Row(kind='insert'" in said
    assert "binlog() has no scenario; expected an argument, or @pytest.mark.binlog(scenario)" in said


def test_a_wrong_scenario_is_a_sentence_below_the_line_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        f"SCENARIO = {SCENARIO!r}\n"
        "def test_word(binlog):\n"
        "    binlog(SCENARIO.replace('insert', 'inset'))\n"
        "def test_type(binlog):\n"
        "    binlog(SCENARIO.replace('VARCHAR', 'VARCHR'))\n"
        "def test_file(binlog):\n"
        "    binlog('nowhere.yaml')\n"
    )
    code, said = run(tmp_path)
    assert code == 1
    assert "scenario:4: unknown word 'inset' in transactions[0][0]; did you mean 'insert'?" in said
    assert "scenario:2: unknown column type 'VARCHR'; did you mean 'VARCHAR'?" in said
    assert "nowhere.yaml" in said
    assert "forge/" not in said.replace(str(tmp_path), "")


def test_cases_of_a_kit_are_parameters(kit: Path, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nbinlog_kit = {kit}\n")
    (tmp_path / "test_it.py").write_text(
        "from forge.conform.pytest_plugin import binlog_cases\n"
        "@binlog_cases(profile='full')\n"
        "def test_case(binlog_case):\n"
        "    for log in binlog_case.logs:\n"
        "        assert log.data is not None and (log.stops_at is None or binlog_case.verdict != 'accept')\n"
        "        assert all(row['kind'] for row in log.rows) and log.events is not None\n"
    )
    cases = len((kit / "index.jsonl").read_text().splitlines())
    code, said = run(tmp_path, "-v")
    assert code == 0, said
    assert f"{cases} passed" in said
    code, said = run(tmp_path, "--binlog-kit", "nowhere")
    assert code != 0
    assert "binlog_cases: there is no kit in " in said


def test_what_the_page_shows_runs(kit: Path, tmp_path: Path) -> None:
    page = (Path(forge.__file__).parents[1] / "docs" / "pytest.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    assert len([line for line in blocks[0].splitlines() if line]) <= 6
    # A reader of somebody else knows names by a schema of its own.
    reader = (
        "import forge\n"
        "def my_reader(data):\n"
        "    rows = forge.read(data, 'lenient').rows\n"
        "    return [dict(zip(['id', 'who'], (row.after or {}).values())) for row in rows]\n"
    )
    (tmp_path / "orders.yaml").write_text(SCENARIO)
    for number, block in enumerate(blocks):
        (tmp_path / f"test_{number}.py").write_text(reader + block if "my_reader(" in block else block)
    code, said = run(tmp_path, "--binlog-kit", str(kit))
    assert code == 0, said
