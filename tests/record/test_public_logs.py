"""Scenarios that rebuild public logs of server lines that run nowhere here, byte for byte.

The logs are of other people's test suites, and none lies here: `make servers` unpacks Debian's ``mariadb-test-data``,
and FORGE_PUBLIC_LOGS names a folder with those of readers.  Without them a skipped test says which were not compared.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

import pytest

from forge.record.recording import verify_against
from forge.scenario import load_scenario

HERE = Path(__file__).parent / "public"
#: The test data of servers, and of readers.
SERVERS = Path(os.environ.get("FORGE_SERVERS") or Path.home() / ".cache" / "real-servers") / "test-data"
READERS = Path(os.environ.get("FORGE_PUBLIC_LOGS") or Path(__file__).parents[3] / "shared" / "foreign-binlogs")
_SUITE = "mariadb-test-data"
_COMMON = "test data of the crate mysql_common"
#: Scenario -> (origin, name there, SHA-256 of the log).
LOGS = {
    "mariadb-10.3": (
        _SUITE,
        "mdev29078-mysql-bin.000001",
        "e60602ea2042410b0da44684522bbb3758ae6a6023e3bb6cc06dae4c43d17152",
    ),
    "mariadb-10.4": (
        _SUITE,
        "binlog-header.binlog",
        "ff4005cfbf9bd24fac9f9ad80ba0121c80c138a9aec7a57ccfb6a0fd76a3cbf6",
    ),
    "mariadb-10.5": (
        _COMMON,
        "mariadb-bin.000001",
        "3ede52543c59fc0675e0577d4512abf5bde6b9959ff451478ffb8b99fcf18ae4",
    ),
    "mariadb-5.5": (
        _SUITE,
        "mariadb-5.5-binlog.000001",
        "0c6606ac3a3df8ba7caf6401d1ebee7e04c9a754a6a4009105dd21878f0760cb",
    ),
    "mysql-4.0": (
        _SUITE,
        "master-bin.000001",
        "37e732e8d98338698ae660e69c5ae396438d85cefcb3ad354d876f9c515bc400",
    ),
    "mysql-4.1": (
        _SUITE,
        "bug47142_master-bin.000001",
        "4a4193e1a683c3aca7ef31f84e9842661fdde0534176c2637957063241ca257d",
    ),
    "mysql-5.0": (
        _SUITE,
        "bug16266.000001",
        "2124ba856746b3ab12efeecf70b2e7dcfc6d096dff27a38afc90d0325963df30",
    ),
    "mysql-5.1": (
        _SUITE,
        "bug40482-bin.000001",
        "7516090047e169416693ff5fa2ff31d4fab562ae86a2cb3cd013bfe00d35ea24",
    ),
    "mysql-5.7": (
        _SUITE,
        "rpl/mysql-5.7.11-stm-temporal-round-binlog.000001",
        "71ab04d13c0ec0b53c0868427051ed32f4cc2d65e022cdcd10025ab16cd58119",
    ),
    "mysql-8.0": (
        _COMMON,
        "minimal_row_metadata.000001",
        "54c2bd74ee568cb59952fac1ea1a03a7c83f6811ce1bba42f9d45b63b788ad3d",
    ),
    "mysql-8.0-time": (
        _COMMON,
        "time_issue.000001",
        "9b2acc6e4a6aa3db2480bc41948bb608dbbaff92bec9e1df065c29aa7691b519",
    ),
    "mysql-9.6": (
        _COMMON,
        "binlog_transaction_with_GTID_TAG.000001",
        "047feb9f640bde3de90103c532a5b49c26e7f543366a9deeb511abe09d911902",
    ),
}


@cache
def _by_digest() -> dict[str, Path]:
    files = [path for folder in (SERVERS, READERS) for path in sorted(folder.rglob("*")) if path.is_file()]
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in files if path.stat().st_size < 1 << 20}


def test_each_scenario_has_a_public_log() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == set(LOGS)
    lines = {load_scenario(HERE / f"{name}.yaml").server for name in LOGS}
    assert len(lines) >= 10


@pytest.mark.parametrize("name", LOGS)
def test_a_scenario_makes_the_bytes_of_the_public_log(name: str) -> None:
    origin, file, digest = LOGS[name]
    path = _by_digest().get(digest)
    if path is None:
        pytest.skip(f"NOT COMPARED: {file} ({origin}) is not on this machine")
    result = verify_against(HERE / f"{name}.yaml", {file: path.read_bytes()})
    assert result.difference is None
