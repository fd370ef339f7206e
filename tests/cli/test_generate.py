"""``forge generate``: the summary, the plan, errors, and a run that is killed and run again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.cli.app import run
from forge.resources import corpora_dir

pytestmark = pytest.mark.slow

SHOP = str(corpora_dir() / "volumes" / "shop.yaml")


def test_the_summary_counts_rows_by_table_and_operation(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert run(["generate", SHOP, "--rows", "900", "--files", "2", "-o", out]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split() == ["table", "inserts", "updates", "deletes", "left"]
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["shop.customers", "90"],
        ["shop.items", "540"],
        ["shop.orders", "270"],
    ]
    assert lines[4].startswith("binlog.000001 to binlog.000002: ")
    assert run(["generate", SHOP, "--rows", "900", "--files", "2", "-o", out]) == 0
    assert "parts were there already" in capfd.readouterr().out
    assert run(["generate", SHOP, "--rows", "901", "--files", "2", "-o", out]) == 2
    assert "holds another volume" in capfd.readouterr().err


def test_several_processes_write_the_bytes_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", SHOP, "--rows", "900", "--files", "3", "-o"]
    assert run([*arguments, str(tmp_path / "one")]) == 0
    monkeypatch.setattr("forge.cli.commands.generate._MANY", 900)
    assert run([*arguments, str(tmp_path / "several")]) == 0
    one, several = (
        {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for out in (tmp_path / "one", tmp_path / "several")
    )
    assert one == several
    first, second = capfd.readouterr().out.split("table")[1:]
    assert first.splitlines()[:-1] == second.splitlines()[:-1]


def test_json_is_the_manifest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["generate", SHOP, "--rows", "300", "--seed", "3", "-o", str(out), "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed == json.loads((out / "_volume.json").read_text())
    assert [record["size"] for record in printed["files"]] == [(out / "binlog.000001").stat().st_size]
    assert (printed["rows"], printed["seed"]) == (300, 3)


def test_the_plan_says_what_would_be_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", SHOP, "--rows", "1000", "--files", "4", "--dry-run", "-o", str(tmp_path / "out")]
    assert run(arguments) == 0
    text = capfd.readouterr().out
    assert "shop.items: 600 rows inside shop.orders" in text
    assert "  customer_id: reference: shop.customers.id" in text
    assert run([*arguments, "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)["transactions"]) == 4
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "wrong.yaml"
    scenario.write_text(
        "scenario: wrong\ntables: ['CREATE TABLE s.t (a INT PRIMARY KEY, b INT)']\n"
        "volume:\n  tables:\n    s.t: {columns: {b: {fakr: name}}}\n"
    )
    assert run(["generate", str(scenario), "--rows", "10", "-o", str(tmp_path / "out")]) == 2
    error = capfd.readouterr().err
    assert "wrong.yaml:5: unknown word 'fakr'" in error
    assert "did you mean 'faker'" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.nightly
def test_a_killed_run_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forge", "generate", SHOP, "--rows", "60000", "--files", "6", "-o"]
    whole, struck = tmp_path / "whole", tmp_path / "struck"
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    process = subprocess.Popen([*command, str(struck)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(struck.glob(".generate/binlog.000003*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [path.name for path in struck.iterdir()] == [".generate"]
    again = subprocess.run([*command, str(struck)], check=True, capture_output=True, text=True)
    assert "parts were there already" in again.stdout
    files = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    assert {path.relative_to(struck) for path in struck.rglob("*") if path.is_file()} == files
    assert all((whole / name).read_bytes() == (struck / name).read_bytes() for name in files)


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "for name in ('pyarrow', 'numpy', 'numba'): sys.modules[name] = None\n"
        "from forge.cli.app import run\n"
        "raise SystemExit(run(sys.argv[1:]))\n"
    )
    for more in ([], ["--dry-run"]):
        command = [sys.executable, "-c", program, "generate", SHOP, "--rows", "10", "-o", str(tmp_path / "out"), *more]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr.count("\n")) == (69, 1), ran.stderr
        assert "pip install '.[rows]'" in ran.stderr
    assert not (tmp_path / "out").exists()
