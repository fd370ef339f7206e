"""forge diff: where two logs differ, and exit code 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import forge
from forge.cli import app

TEXT = """
scenario: two
tables: ["CREATE TABLE s.t (id INT PRIMARY KEY, a VARCHAR(20))"]
transactions:
  - - insert: {into: s.t, rows: [{id: 1, a: x}, {id: 2, a: y}]}
  - - delete: {from: s.t, where: {id: 1}}
"""


def test_the_first_difference_or_all_of_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    left, right = str(tmp_path / "left"), str(tmp_path / "right")
    forge.build(TEXT).write(left)
    forge.build(TEXT.replace("a: x", "a: longer").replace("a: y", "a: z")).write(right)
    assert app.run(["diff", left, left]) == 0
    assert capfd.readouterr() == ("", "")
    assert app.run(["diff", left, right]) == 1
    shown = capfd.readouterr()
    assert shown.out == "event 9 (WRITE_ROWS), offset 750: rows[0].@2: left 'x', right 'longer'\n"
    assert shown.err == f"forge: {left} and {right} differ\n"
    assert app.run(["diff", left, right, "--all", "--json"]) == 1
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(one["event_type"], one["left"], one["right"]) for one in found] == [
        ("WRITE_ROWS", "'x'", "'longer'"),
        ("WRITE_ROWS", "'y'", "'z'"),
        ("DELETE_ROWS", "'x'", "'longer'"),
    ]


def test_broken_files_are_compared_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [whole] = forge.build(TEXT).write(tmp_path / "whole")
    (tmp_path / "torn").write_bytes(whole.read_bytes()[:-5])
    assert app.run(["diff", str(whole), str(tmp_path / "torn")]) == 1
    assert "differ" in capfd.readouterr().err
