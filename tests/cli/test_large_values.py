"""Commands and a value of 31 MiB: those that show it stay below 256 MiB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import forge
from forge.cli.app import run
from forge.decode import pieces
from forge.decode.decode import canonical_events
from forge.resources import corpora_dir

#: Runs a command and says the most memory that it had, in MiB.
PEAK = """
import resource, subprocess, sys
code = subprocess.run([sys.executable, "-m", "forge", *sys.argv[1:]], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""


@pytest.fixture(scope="module")
def large_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory, "A")


@pytest.fixture(scope="module")
def other_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory, "B")


def written(folders: pytest.TempPathFactory, letter: str) -> Path:
    path = folders.mktemp("large") / "binlog.000001"
    forge.build(
        {
            "scenario": "large",
            "server": "mysql-8.4",
            "tables": ["CREATE TABLE d.t (id INT PRIMARY KEY, b LONGBLOB)"],
            "transactions": [[{"insert": {"into": "d.t", "rows": [{"id": 1, "b": letter * (31 << 20)}]}}]],
        }
    ).write(path)
    return path


def peak_of(*words: str) -> tuple[int, int]:
    """Exit code of a command, and the MiB that it had at most."""
    called = [sys.executable, "-c", PEAK, *words]
    code, peak = map(int, subprocess.run(called, capture_output=True, text=True, check=True).stdout.split())
    return code, peak


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    "dump", "dump --json", "disasm", "disasm --json", "bytes", "rows", "rows --format csv", "tables",
])  # fmt: skip
def test_a_value_of_31_mib_takes_less_than_256(command: str, large_log: Path) -> None:
    if command == "tables":
        pytest.importorskip("numba", reason="the extra `rows` is not installed")
    code, peak = peak_of(*command.split(), str(large_log))
    assert code == 0
    assert peak < 256


@pytest.mark.slow
def test_a_value_of_31_mib_as_parquet_takes_less_than_384(large_log: Path) -> None:
    """What Arrow and compiled kernels take of any log, 240 MiB, is in it."""
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    code, peak = peak_of("rows", "--format", "parquet", str(large_log))
    assert code == 0
    assert peak < 384


@pytest.mark.slow
def test_a_comparison_of_two_values_of_31_mib_takes_less_than_256(large_log: Path, other_log: Path) -> None:
    code, peak = peak_of("diff", "--all", str(large_log), str(other_log))
    assert code == 1
    assert peak < 256


@pytest.mark.parametrize("least", [1, 200, 1 << 20])
def test_json_in_pieces_is_the_same_as_in_one(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted((corpora_dir() / "recordings").rglob("binlog.000001"))[::40]
    events = [event for path in paths for event in canonical_events(path.read_bytes())]
    whole = [_line(event, 0) for event in events]
    monkeypatch.setattr(pieces, "LARGE", least)
    assert [_line(event, 1 << 20) for event in events] == whole
    assert json.loads(whole[-1])["index"] == events[-1]["index"]


@pytest.mark.parametrize("least", [1, 7, 1 << 20])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_rows_in_pieces_are_the_same_as_in_one(
    form: str, least: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "binlog.000001"
    rows = [
        {"id": number, "b": text} for number, text in enumerate(("", 'a "word", and\r\nmore', "\\\ud7ff🙂" * 5, None))
    ]
    forge.build({
        "scenario": "pieces", "server": "mysql-8.4",
        "tables": ["CREATE TABLE d.t (id INT PRIMARY KEY, b TEXT CHARACTER SET utf8mb4)"],
        "transactions": [[{"insert": {"into": "d.t", "rows": rows}}]],
    }).write(path)  # fmt: skip
    words = ["rows", "--format", form, str(path)]
    assert run(words) == 0
    whole = capfdbinary.readouterr().out
    monkeypatch.setattr(pieces, "LARGE", least)
    assert run(words) == 0
    assert capfdbinary.readouterr().out == whole


def _line(event: dict[str, object], size: int) -> bytes:
    return "".join(pieces.json_line(event, size)).encode()
