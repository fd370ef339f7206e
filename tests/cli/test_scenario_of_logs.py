"""``forge scenario`` and ``forge fixture`` of logs, and ``--schema`` where logs are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import forge
from forge.cli import app

OLD = """
scenario: old
server: mariadb-11.8
session: {mysql56_temporal_format: false}
tables:
  - CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, at DATETIME(3), kind ENUM('x', 'y'), flags SET('p', 'q'))
transactions:
  - - insert: {into: d.t, rows: [{id: 4000000000, at: 2024-02-29 10:00:00.123, kind: y, flags: [p, q]}]}
"""
SCHEMA = "CREATE TABLE t (id INT UNSIGNED PRIMARY KEY, at DATETIME(3), kind ENUM('x', 'y'), flags SET('p', 'q'));"
ROW = "id=4000000000 at=2024-02-29 10:00:00.123 kind='y' flags='p,q'"


Run = Callable[..., str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str, code: int = 0) -> str:
        assert app.run(list(words)) == code
        output = capfd.readouterr()
        return output.err if code else output.out

    return run


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "old.000001").write_bytes(forge.build(OLD).files[0].data)
    (tmp_path / "schema.sql").write_text(SCHEMA)
    return tmp_path / "old.000001"


def test_a_log_becomes_a_scenario_and_a_log_again(old: Path, run: Run) -> None:
    again = old.with_name("again")
    run("scenario", str(old), "-o", str(again.with_suffix(".yaml")))
    run("build", str(again.with_suffix(".yaml")), "-o", str(again))
    assert again.read_bytes() == old.read_bytes()


def test_a_log_becomes_a_fixture(tmp_path: Path, run: Run) -> None:
    log = tmp_path / "small.000001"
    log.write_bytes(forge.build(OLD, settings={"session.mysql56_temporal_format": True}).files[0].data)
    run("fixture", str(log), "--lang", "python", "--only-transactions", "3", "-o", str(tmp_path / "made"))
    assert "4000000000" in (tmp_path / "made" / "test_small.py").read_text()


def test_a_schema_names_what_the_log_does_not_tell(old: Path, run: Run) -> None:
    schema = ("--schema", str(old.with_name("schema.sql")))
    assert ROW in run("dump", "--rows", str(old), *schema)
    assert '"at": "2024-02-29 10:00:00.123", "kind": "y"' in run("rows", str(old), *schema)
    assert "not decoded" in run("dump", "--rows", str(old))
    assert run("diff", str(old), str(old), *schema) == ""


def test_options_of_logs_are_refused_for_a_script(tmp_path: Path, run: Run) -> None:
    script = tmp_path / "one.sql"
    script.write_text("CREATE TABLE d.t (id INT);")
    assert "the file is no binary log" in run("scenario", str(script), "--rows-at-most", "3", code=2)


def test_what_begins_as_a_log_and_is_none_has_one_sentence(tmp_path: Path, run: Run) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\xfebin" + b"\1" * 7)
    assert "the log has no whole event" in run("scenario", str(broken), code=3)


def test_a_file_that_is_nothing_of_all_that_is_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "words.txt").write_text("hello")
    assert "the file is none of these" in run("scenario", str(tmp_path / "words.txt"), code=2)
