"""``forge facts`` and ``forge verify --against``: a scenario, and a log that anybody recorded of it."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest
import yaml

from forge.binlog import read_events
from forge.cli import app

RECORDINGS = Path(__file__).parents[2] / "corpora" / "recordings"
TREES = RECORDINGS / "trees-mysql-9.7"
SCENARIO, LOG = str(TREES / "scenario.yaml"), str(TREES / "binlog.000001")


@pytest.mark.parametrize("name", ["trees-mysql-9.7", "trees-mariadb-10.11", "mariadb-domains-mariadb-11.8"])
def test_the_facts_of_a_log_are_those_of_its_recording(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    folder = RECORDINGS / name
    logs = [str(path) for path in sorted(folder.glob("binlog.0*"))]
    recorded = yaml.safe_load((folder / "facts.yaml").read_text())
    assert app.run(["facts", *logs]) == 0
    assert yaml.safe_load(capfd.readouterr().out) == recorded
    assert app.run(["facts", *logs, "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == recorded


def test_a_scenario_is_compared_with_a_log_of_somebody_else(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["verify", SCENARIO, "--against", LOG]) == 0
    assert capfd.readouterr().out == f"{SCENARIO}: identical, 3995 bytes\n"
    assert app.run(["verify", SCENARIO, "--set", "server=mysql-8.4", "--against", LOG]) == 1
    assert "USE_SQL_FOREIGN_KEY" in capfd.readouterr().out


def test_what_cannot_be_compared_is_said_in_a_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"no log")
    assert app.run(["verify", SCENARIO, "--against", str(other)]) == 3
    assert f"{other}, offset 0" in capfd.readouterr().err
    assert app.run(["verify", SCENARIO, SCENARIO, "--against", LOG]) == 2
    assert "expected one scenario file" in capfd.readouterr().err
    assert app.run(["verify", SCENARIO, "--set", "seed=1"]) == 2


def test_an_error_names_the_file_that_is_wrong_and_its_event(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = Path(LOG).read_bytes()
    torn = tmp_path / "torn"
    torn.write_bytes(data[:-1])
    assert app.run(["facts", LOG, str(torn)]) == 3
    assert capfd.readouterr().err.startswith(f"forge: {torn}, event ")
    compressed = bytearray((RECORDINGS / "compressed" / "binlog.000001").read_bytes())
    place = next(item for item in read_events(bytes(compressed)) if item.event.type_name == "TRANSACTION_PAYLOAD")
    packed = tmp_path / "packed"
    at = compressed.index(b"\x28\xb5\x2f\xfd", place.offset)
    compressed[at : at + 4] = bytes(4)
    end = place.offset + len(place.raw) - 4
    compressed[end : end + 4] = struct.pack("<I", zlib.crc32(compressed[place.offset : end]))
    packed.write_bytes(compressed)
    assert app.run(["facts", str(packed)]) == 3
    assert f"{packed}, event {place.index}, offset {place.offset}, " in capfd.readouterr().err
