"""``forge facts`` and ``forge verify --against``: a scenario, and a log that anybody recorded of it."""

from __future__ import annotations

import json
import shutil
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


@pytest.fixture
def other_variables(tmp_path: Path) -> Path:
    """A recording whose second QUERY event has a time zone, and whose third has no catalog; its facts do not say so."""
    statuses = [{"query": 2, "variables": {"time_zone": "+02:00"}}, {"query": 3, "variables": {"catalog": None}}]
    folder = tmp_path / "recording"
    shutil.copytree(TREES, folder)
    facts = yaml.safe_load((TREES / "facts.yaml").read_text()) | {"statuses": statuses}
    scenario = yaml.safe_load((TREES / "scenario.yaml").read_text())
    scenario["session"] = scenario.get("session", {}) | {"facts": facts}
    (tmp_path / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    log = folder / "binlog.000001"
    log.unlink()
    assert app.run(["build", str(tmp_path / "scenario.yaml"), "-o", str(log)]) == 0
    return folder


def test_status_variables_that_no_rule_gives_are_facts_and_are_counted(
    other_variables: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log, facts = str(other_variables / "binlog.000001"), str(other_variables / "facts.yaml")
    assert app.run(["verify", SCENARIO, "--against", log]) == 0
    assert capfd.readouterr().out.endswith("bytes, 2 statuses from facts\n")
    assert app.run(["verify", str(other_variables)]) == 1
    assert "status_variables.time_zone: recorded '+02:00', compiled nothing" in capfd.readouterr().out
    assert app.run(["facts", log, "--scenario", SCENARIO, "--json"]) == 0
    with_scenario = json.loads(capfd.readouterr().out)
    assert [entry["query"] for entry in with_scenario["statuses"]] == [2, 3]
    assert app.run(["facts", str(other_variables), "-o", facts]) == 0
    assert yaml.safe_load(Path(facts).read_text()) == with_scenario
    assert app.run(["verify", str(other_variables)]) == 0
    first, last = capfd.readouterr().out.splitlines()
    assert first.endswith("rows as SELECT gives them, 2 statuses from facts")
    assert last == "1 recording, all byte-identical, 2 statuses from facts"
    assert app.run(["verify", str(other_variables), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["statuses"] == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("query: 2", "query: 99", "number 1: the session has no QUERY event 99; expected 1 to 13"),
        ("query: 2", "query: two", "Expected `int`, got `str`"),
        ("time_zone", "time_zine", "mysql-9.7 has no status variable 'time_zine'"),
        ("'+02:00'", "2.5", "Expected `int | str | array | null`, got `float`"),
        ("'+02:00'", "[2, 3]", "the status variable time_zone cannot be [2, 3]; expected null, or one of its type"),
    ],
)
def test_an_entry_that_is_wrong_is_refused_in_a_sentence(
    old: str, new: str, message: str, other_variables: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    facts = other_variables / "facts.yaml"
    assert app.run(["facts", str(other_variables), "-o", str(facts)]) == 0
    text = facts.read_text()
    assert old in text
    facts.write_text(text.replace(old, new, 1))
    assert app.run(["verify", str(other_variables)]) == 2
    assert message in capfd.readouterr().err


def test_what_cannot_be_compared_is_said_in_a_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"no log")
    assert app.run(["verify", SCENARIO, "--against", str(other)]) == 3
    assert f"{other}, offset 0" in capfd.readouterr().err
    assert app.run(["verify", SCENARIO, SCENARIO, "--against", LOG]) == 2
    assert "expected one scenario file" in capfd.readouterr().err
    assert app.run(["verify", SCENARIO, "--set", "seed=1"]) == 2
    assert app.run(["facts", LOG, "--set", "seed=1"]) == 2
    assert "expected --scenario FILE beside it" in capfd.readouterr().err


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
