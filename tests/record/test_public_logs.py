"""Scenarios that rebuild public logs of server lines that run nowhere here, byte for byte.

The logs are in public repositories, most of them other people's test data, and none lies here: `make servers` unpacks
Debian's ``mariadb-test-data``, and FORGE_PUBLIC_LOGS names a folder with the others.  Without them a skipped test says
which were not compared.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

import pytest

from forge.record.recording import verify_against
from forge.scenario import load_scenario
from forge.servers.overview import public_logs

HERE = Path(__file__).parent / "public"
#: The test data of servers, and the other logs.
SERVERS = Path(os.environ.get("FORGE_SERVERS") or Path.home() / ".cache" / "real-servers") / "test-data"
READERS = Path(os.environ.get("FORGE_PUBLIC_LOGS") or Path(__file__).parents[3] / "shared" / "foreign-binlogs")
#: Status variables that no plain rule gives: those of the time in a statement that stores NULL in a TIMESTAMP.
NEEDED = {"mariadb-10.3": 2}
#: By scenario.
LOGS = {log.scenario: log for log in public_logs() if log.scenario is not None}


@cache
def _by_digest() -> dict[str, Path]:
    files = [path for folder in (SERVERS, READERS) for path in sorted(folder.rglob("*")) if path.is_file()]
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in files if path.stat().st_size < 1 << 20}


def test_each_scenario_has_a_public_log() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == set(LOGS)
    assert {load_scenario(HERE / f"{name}.yaml").server: True for name in LOGS} == {
        log.line: True for log in LOGS.values()
    }
    assert len({log.line for log in LOGS.values()}) >= 29
    assert len(LOGS) >= 40


@pytest.mark.parametrize("name", LOGS)
def test_a_scenario_makes_the_bytes_of_the_public_log(name: str) -> None:
    log = LOGS[name]
    path = _by_digest().get(log.sha256)
    if path is None:
        pytest.skip(f"NOT COMPARED: {log.file} ({log.origin}) is not on this machine")
    result = verify_against(HERE / f"{name}.yaml", {log.file: path.read_bytes()})
    assert result.difference is None
    assert result.statuses == NEEDED.get(name, 0)
