"""`forge corpus` as a person types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.cli.app import run

pytestmark = pytest.mark.spark

SCENARIO = """\
scenario: small
tags: [tiny]
matrix: {server: [mysql-8.0, mysql-9.7]}
tables: [CREATE TABLE t.a (id INT PRIMARY KEY)]
transactions: [[{insert: {into: t.a, rows: [{id: 1}]}}]]
"""
CASE = "small[server=mysql-9.7]"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "small.yaml").write_text(SCENARIO)
    (folder / "scenarios" / "wrong.yaml").write_text("scenario: wrong\nserver: mysql-9.9\n")
    assert spark is not None
    assert run(["corpus", "build", "--scenarios", str(folder / "scenarios"), "--out", str(folder / "out")]) == 0
    return folder / "out"


def test_a_build_ends_with_a_summary_that_is_the_same_for_any_division(
    corpus: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [
        "corpus",
        "build",
        "--scenarios",
        str(corpus.parent / "scenarios"),
        "--out",
        str(corpus.parent / "again"),
    ]
    assert run([*command, "--partitions", "1"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("3 cases: 2 compiled, 1 invalid\n")
    for partitions in ("3", "16"):
        assert run([*command, "--json", "--partitions", partitions]) == 0
        summary = json.loads(capfd.readouterr().out)
        assert summary["decoders"]["forge"]["agree"] == 2
        assert f"sha256 of the manifest {summary['sha256']}\n" in out


def test_cases_are_listed_and_chosen(corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "show", str(corpus), "--tag", "tiny", "--json"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [row["case"] for row in rows] == ["small[server=mysql-8.0]", CASE]
    assert run(["corpus", "show", str(corpus), "--failing"]) == 0
    assert "wrong" in capfd.readouterr().out
    assert run(["corpus", "show", str(corpus), "--case", CASE]) == 0
    assert "insert t.a, 1 row" in capfd.readouterr().out


def test_coverage_is_shown_as_a_table_and_as_json(corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "show", str(corpus), "--coverage"]) == 0
    lines = capfd.readouterr().out.splitlines()
    header = next(line for line in lines if line.startswith("Event types"))
    row = next(line for line in lines if line.startswith("WRITE_ROWS "))
    ends = {name: header.index(name) + len(name) for name in header.split()[2:]}
    shown = {name: row[:end].split()[-1] for name, end in ends.items()}
    assert shown == {"mysql-8.0": "1", "mysql-9.7": "1"}  # The lines that have cases.
    assert lines[-1].startswith("rules without a case: ")
    assert run(["corpus", "show", str(corpus), "--coverage", "--json", "--tag", "tiny"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["features"]["event:WRITE_ROWS"]["mysql-9.7"] == {"cases": 1, "recorded": 0, "state": "cases"}


def test_a_case_is_taken_out_as_the_scenario_builds_it(corpus: Path, tmp_path: Path) -> None:
    taken, built = tmp_path / "taken", tmp_path / "built"
    assert run(["corpus", "extract", CASE, "--from", str(corpus), "-o", str(taken)]) == 0
    assert run(["build", str(corpus.parent / "scenarios" / "small.yaml"), "--case", CASE, "-o", str(built)]) == 0
    assert taken.read_bytes() == built.read_bytes()


def test_the_files_of_a_case_are_taken_out_with_their_decodes(corpus: Path, tmp_path: Path) -> None:
    assert run(["corpus", "extract", CASE, "--from", str(corpus), "--out", str(tmp_path / "case")]) == 0
    names = sorted(path.name for path in (tmp_path / "case").iterdir())
    assert names == ["binlog.000001", "binlog.000001.jsonl"]
    first = json.loads((tmp_path / "case" / "binlog.000001.jsonl").read_text().splitlines()[0])
    assert first["type"] == "FORMAT_DESCRIPTION"


def test_a_case_without_bytes_is_not_taken_out(corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "extract", "wrong", "--from", str(corpus), "-o", str(tmp_path / "x")]) == 2
    assert "it was invalid" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_no_corpus_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["corpus", "show", str(tmp_path)]) == 2
    assert "there is no corpus in" in capfd.readouterr().err


def test_a_build_fails_where_our_reader_goes_against_a_verdict(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], spark: object
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "fine.yaml").write_text("scenario: fine\nverdict: reject\nphase: framing\n")
    command = ["corpus", "build", "--scenarios", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert run(command) == 1
    said = capfd.readouterr()
    assert said.out.startswith("1 case: 1 compiled\na reader must accept 0, must reject 1")
    assert "contradicts the verdict of fine: it must be rejected (framing), but our reader accepts it" in said.err


#: ``forge``, also where a shell without job control starts what runs in its background deaf to the interrupt.
_HEARING = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    " runpy.run_module('forge', run_name='__main__', alter_sys=True)"
)


@pytest.mark.slow
def test_an_interrupted_build_says_so_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HEARING, "corpus", "build", "--out", str(tmp_path / "out"), "--master", "local[1]"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        try:
            # Under way once the folder of the parts is there and Spark has started its log.
            deadline = time.monotonic() + 200
            while not list(tmp_path.glob(".out.*")) or not list(tmp_path.glob("forge-spark-*/jvm.log")):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, shown = process.communicate(timeout=100)
        finally:
            process.kill()
    assert (process.returncode, out, shown) == (130, "", "forge: interrupted\n")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".out", "out", "forge-spark"))] == []
