"""A session of several files: they chain, and MySQL takes them as one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from forge.binlog import read_events, write_binlog
from forge.compile import compile_files
from forge.compile.model import Plan
from forge.events.previous_gtids import PreviousGtids
from forge.events.rotate import Rotate
from forge.record.server import RealServer, servers_home
from forge.scenario import load_scenario, plan

SCENARIO = Path(__file__).with_name("rotation.yaml")


@pytest.fixture(scope="module")
def rotated() -> Plan:
    return plan(load_scenario(SCENARIO))


def test_each_file_names_the_next_and_carries_the_gtids_of_all_before(rotated: Plan) -> None:
    files = [write_binlog(events) for events in compile_files(rotated)]
    assert len(files) == 4
    transactions = 0
    for number, data in enumerate(files, start=1):
        events = [placed.event for placed in read_events(data)]
        previous = events[1].body
        assert isinstance(previous, PreviousGtids)
        sources = previous.gtid_set[1]
        assert sources == () if number == 1 else sources[0][2] == ((1, transactions),)
        transactions += sum(event.type_name == "GTID" for event in events)
        last = events[-1].body
        if number < len(files):
            assert isinstance(last, Rotate)
            assert last.next_file == f"binlog.{number + 1:06}"
            assert len(data) >= rotated.session.max_binlog_size  # type: ignore[operator]
        else:
            assert events[-1].type_name == "STOP"


def test_the_logical_clock_starts_anew_in_each_file(rotated: Plan) -> None:
    for events in compile_files(rotated):
        first = next(event.body for event in events if event.type_name == "GTID")
        assert (first.last_committed, first.sequence_number) == (0, 1)  # type: ignore[attr-defined]


@pytest.mark.servers
def test_mysql_takes_the_chain_as_a_whole(rotated: Plan, tmp_path: Path) -> None:
    names = []
    for number, events in enumerate(compile_files(rotated), start=1):
        path = tmp_path / f"binlog.{number:06}"
        path.write_bytes(write_binlog(events))
        names.append(str(path))
    runner = str(servers_home() / "mysql97.run")
    read = subprocess.run(
        [runner, "mysqlbinlog", "--verify-binlog-checksum", *names], capture_output=True, check=True, timeout=60
    )
    assert b"WARNING" not in read.stdout + read.stderr
    with RealServer(name="mysql97", options=["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]) as server:
        server.run_sql("RESET BINARY LOGS AND GTIDS")
        client = [runner, "mysql", "--no-defaults", "-uroot", "-S", str(server.socket), "--binary-mode"]
        subprocess.run(client, input=read.stdout, check=True, capture_output=True, timeout=120)
        uuid = "6b696e64-6f66-4f72-6765-000000000001"
        assert server.run_sql("SELECT @@gtid_executed").strip().endswith(f"{uuid}:1-{len(rotated.groups)}")
        for name, rows in rotated.contents.items():
            assert server.run_sql(f"SELECT COUNT(*) FROM {name}").split()[-1] == str(len(rows))
        notes = server.run_sql("SELECT CONCAT(id, ' ', customer, ' ', note) FROM shop.orders ORDER BY id")
        wanted = [f"{identity} {customer} {note}" for identity, customer, note in rotated.contents["shop.orders"]]
        assert notes.splitlines()[-len(wanted) :] == wanted
