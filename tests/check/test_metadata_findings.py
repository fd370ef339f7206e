"""What foreign decoders make of legal optional metadata in other forms than a server's (docs/findings.md)."""

from __future__ import annotations

import subprocess
from typing import Any

import msgspec
import pytest

from forge.binlog import write_binlog
from forge.check.compare.compare import check
from forge.check.decoders.table import decoder
from forge.compile import compile_plan
from forge.plan.metadata_forms import MetadataForms
from forge.plan.session import Session
from forge.scenario import Scenario, insert, plan
from tests.conftest import ServerHome

PYTHON = "python-mysql-replication"
TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1, e ENUM('x','y') CHARACTER SET latin1)"


def made(forms: dict[str, Any], **session: Any) -> bytes:
    settings = {"row_metadata": "full", **session}
    scenario = Scenario(
        scenario="t", session=Session(metadata=msgspec.convert(forms, MetadataForms), **settings), tables=[TABLE]
    ).transaction(insert("d.t", {"id": 1, "a": "é", "e": "y"}))
    return write_binlog(compile_plan(plan(scenario)))


def verdict(data: bytes, name: str) -> tuple[str, str]:
    if name == PYTHON:
        pytest.importorskip("pymysqlreplication", reason="the extra [check] is not installed")
    (found,) = check(data, [decoder(name)])
    return found.outcome, found.message or ""


def test_the_servers_own_forms_are_read() -> None:
    assert verdict(made({}), PYTHON)[0] == "agree"


@pytest.mark.parametrize(
    ("forms", "outcome", "message"),
    [
        ({"add": [{"type": 14, "hex": "00"}]}, "refused", "14 is not a valid MetadataFieldType"),
        ({"lengths": {"record": 9}}, "refused", "no attribute 'unpack_int64'"),
        ({"lengths": {"text": 3}}, "refused", "AssertionError"),
        ({"omit": ["column_charset", "default_charset"]}, "refused", "IndexError"),
        ({"omit": ["enum_members"]}, "refused", "IndexError"),
        ({"omit": ["column_name"]}, "refused", "UnicodeDecodeError"),
        ({"primary_key": "prefix"}, "disagree", "the primary key should be 'id'"),
    ],
)
def test_python_mysql_replication_fails_on(forms: dict[str, Any], outcome: str, message: str) -> None:
    found = verdict(made(forms), PYTHON)
    assert found[0] == outcome
    assert message in found[1]


def test_python_mysql_replication_reads_the_character_sets_of_minimal_metadata_and_does_not_use_them() -> None:
    assert "UnicodeDecodeError" in verdict(made({}, row_metadata="minimal"), PYTHON)[1]


@pytest.mark.servers
@pytest.mark.parametrize(
    ("forms", "wrong"),
    [
        ({"add": [{"type": 14, "hex": "00ff", "at": 0}]}, "'`id` INT NOT NULL', mysqlbinlog shows 'INT NOT NULL'"),
        ({"add": [{"type": 200, "hex": "01", "at": 1}]}, "mysqlbinlog shows '`a` VARBINARY(9)'"),
    ],
)
def test_mysqlbinlog_reads_the_value_of_an_unknown_record_as_records(forms: dict[str, Any], wrong: str) -> None:
    data = made(forms)
    found = verdict(data, "mysqlbinlog")
    assert found[0] == "disagree"
    assert wrong in found[1]
    assert verdict(data, "mariadb-binlog-11.8")[0] == "agree"


@pytest.mark.servers
@pytest.mark.parametrize("fault", ["record_length_fb", "record_length_huge"])
@pytest.mark.parametrize("server", ["maria1011", "maria118"])
def test_mariadb_binlog_crashes_on_a_length_that_is_none(
    fault: str, server: str, servers: ServerHome, tmp_path: Any
) -> None:
    file = tmp_path / "binlog.000001"
    file.write_bytes(made({"fault": fault}))
    command = [str(servers.run(server)), "mariadb-binlog", "-v", "--print-table-metadata", str(file)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode < 0
