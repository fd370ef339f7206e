"""``forge shrink``: a command or a testee says what has to stay."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from forge.cli.app import run
from forge.decode.expected import expected_of
from forge.resources import corpora_dir
from tests.cli.test_bytes import carry_out

LOG = corpora_dir() / "recordings" / "integers" / "binlog.000001"

#: A testee that reads as we do, but takes negative MEDIUMINT for positive ones.
TESTEE = """
import json, sys
from forge.decode.expected import expected_of
import msgspec

for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        hello = {"name": "odd", "version": "1", "language": "Python", "levels": ["rows"], "forms": {"integer": "text"}}
        print(json.dumps({"id": 0, "hello": hello}), flush=True)
        continue
    expected = expected_of(open(request["file"], "rb").read())
    for row in json.loads(msgspec.json.encode(expected.rows)):
        shown = {name: row[name] for name in ("offset", "kind", "database", "table")}
        for image in ("before", "after"):
            shown[image] = row[image] and [
                {"column": c["column"], "value": c["value"].get("integer", c["value"]).lstrip("-")
                 if c["raw"] and c["type_code"] == 9 else c["raw"] and c["value"].get("integer", c["value"])}
                for c in row[image]
            ]
        print(json.dumps({"row": shown}))
    print(json.dumps({"id": request["id"], "end": "ok"}), flush=True)
"""


def test_the_exit_code_of_a_command_stays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "small.000001"
    assert run(["shrink", str(LOG), "--while", "grep -q numbers {}", "-o", str(out)]) == 0
    assert b"numbers" in out.read_bytes()
    assert out.stat().st_size < 400
    assert "exit code 0" in capfd.readouterr().out
    assert expected_of(out.read_bytes()).problem is None


@pytest.mark.slow
def test_the_difference_of_a_testee_stays_in_a_cell_of_the_same_type(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    (tmp_path / "odd.py").write_text(TESTEE)
    out = tmp_path / "small.000001"
    testee = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'odd.py'))}"
    assert run(["shrink", str(LOG), "--testee", testee, "--keep-outcome", "-o", str(out)]) == 0
    assert "disagree, value of type 9" in capfd.readouterr().out
    (row,) = expected_of(out.read_bytes()).rows
    (cell,) = row["after"]
    assert cell["type_code"] == 9
    assert cell["text"].startswith("-")


@pytest.mark.slow
def test_a_log_that_python_mysql_replication_reads_wrongly_becomes_a_kibibyte_at_most() -> None:
    pytest.importorskip("pymysqlreplication", reason="python-mysql-replication is not installed: extra check")
    from forge.check.compare.compare import check_one
    from forge.check.decoders.table import decoder
    from forge.conform.shrink.shrink import shrink
    from forge.decode.reference import read_reference

    reader = decoder("python-mysql-replication")

    def what(data: bytes) -> tuple[str, str | None]:
        verdict = check_one(read_reference(data), data, reader)
        return verdict.outcome, None if verdict.difference is None else verdict.difference.what

    data = (corpora_dir() / "recordings/metadata/key-many/mariadb-10.11/binlog.000001").read_bytes()
    found = what(data)
    assert found[0] == "disagree", "it reads this recording rightly now: take another"
    result = shrink(data, lambda candidate: what(candidate) == found)
    assert what(result.data) == found
    assert len(result.data) <= 1024


@pytest.mark.parametrize(
    "arguments",
    [[], ["--testee", "x"], ["--while", "true"], ["--while", "x {}", "--testee", "y", "--keep-outcome"]],
    ids=["nothing", "testee alone", "no place for the file", "both"],
)
def test_a_request_that_does_not_say_what_stays_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    assert run(["shrink", str(LOG), "-o", str(tmp_path / "out"), *arguments]) == 2
    assert not (tmp_path / "out").exists()


def test_the_page_about_shrinking_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert carry_out("shrink.md", capfd) > 2
