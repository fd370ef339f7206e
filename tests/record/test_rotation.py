"""A session of several files: they chain, and a server takes them as one."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge.binlog import read_events
from forge.check.decoders.vendors.program import servers_home
from forge.cli.app import run
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.gtid import Gtid
from forge.events.gtid_list import GtidList
from forge.events.previous_gtids import PreviousGtids
from forge.events.rotate import Rotate
from forge.plan.plan import Plan
from forge.record.builds import BUILD_OF_LINE, BUILDS
from forge.record.contents import answered, questions
from forge.record.contents_difference import comparable_tables, first_contents_difference
from forge.record.replayed_contents import contents_of_decode
from forge.record.server import RealServer
from forge.resources import corpora_dir
from forge.scenario import load_scenario, plan

SCENARIO = corpora_dir() / "scenarios" / "rotation.yaml"
UUID = "6b696e64-6f66-4f72-6765-000000000001"
LINES = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")


@dataclass(frozen=True)
class Chain:
    plan: Plan
    paths: list[Path]

    @property
    def files(self) -> list[bytes]:
        return [path.read_bytes() for path in self.paths]


def built(server: str, folder: Path) -> Chain:
    """The chain as the command line makes it."""
    assert run(["build", str(SCENARIO), "--server", server, "-o", str(folder)]) == 0
    names = (folder / "binlog.index").read_text().split()
    return Chain(plan(load_scenario(SCENARIO, {"server": server})), [folder / name for name in names])


@pytest.fixture(scope="module")
def mysql(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    return built("mysql-9.7", tmp_path_factory.mktemp("mysql"))


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    return built("mariadb-11.8", tmp_path_factory.mktemp("mariadb"))


def test_each_file_names_the_next_and_carries_the_gtids_of_all_before(mysql: Chain) -> None:
    assert len(mysql.paths) == 4
    transactions = 0
    for number, data in enumerate(mysql.files, start=1):
        events = [placed.event for placed in read_events(data)]
        previous = events[1].body
        assert isinstance(previous, PreviousGtids)
        sources = previous.gtid_set[1]
        assert sources == () if number == 1 else sources[0][2] == ((1, transactions),)
        transactions += sum(event.type_name == "GTID" for event in events)
        last = events[-1].body
        if number < len(mysql.paths):
            assert isinstance(last, Rotate)
            assert last.next_file == f"binlog.{number + 1:06}"
            assert len(data) >= 65536
        else:
            assert events[-1].type_name == "STOP"
    assert transactions == len(mysql.plan.groups)


def test_mariadb_carries_the_last_gtid_and_names_the_file_that_recovery_needs(mariadb: Chain) -> None:
    transactions = 0
    for number, data in enumerate(mariadb.files, start=1):
        bodies = [placed.event.body for placed in read_events(data)]
        listed, checkpoint = bodies[1], bodies[2]
        assert isinstance(listed, GtidList)
        assert isinstance(checkpoint, BinlogCheckpoint)
        assert listed.gtids == (() if number == 1 else ((0, 1, transactions),))
        assert checkpoint.file_name == f"binlog.{max(number - 1, 1):06}"
        transactions += sum(body.type_name == "MARIADB_GTID" for body in bodies)


def test_the_logical_clock_starts_anew_in_each_file(mysql: Chain) -> None:
    for data in mysql.files:
        first = next(placed.event.body for placed in read_events(data) if placed.event.type_name == "GTID")
        assert isinstance(first, Gtid)
        assert (first.last_committed, first.sequence_number) == (0, 1)


def printed(build: str, chain: Chain) -> bytes:
    """What the vendor's reader prints of the whole chain."""
    command = [str(servers_home() / f"{build}.run"), BUILDS[build].reader, "--verify-binlog-checksum"]
    read = subprocess.run([*command, *map(str, chain.paths)], capture_output=True, check=True, timeout=60)
    assert b"WARNING" not in read.stdout + read.stderr
    assert b"ERROR" not in read.stderr
    return read.stdout


def apply(build: str, server: RealServer, sql: bytes) -> None:
    client = [
        str(servers_home() / f"{build}.run"), BUILDS[build].client, "--no-defaults", "-uroot", "-S",
        str(server.socket), *BUILDS[build].client_options,
    ]  # fmt: skip
    subprocess.run(client, input=sql, check=True, capture_output=True, timeout=120)


def assert_declared_contents(server: RealServer, chain: Chain) -> None:
    """Each table has the declared rows: those that the chain decodes to, and as many as the scenario leaves."""
    selected = answered(chain.plan, server.run_sql(questions(chain.plan)))
    assert set(comparable_tables(chain.plan)) == {"shop.customers", "shop.orders", "shop.log"} == set(selected)
    assert first_contents_difference(chain.plan, selected, chain.files) is None
    decoded = contents_of_decode(chain.files)
    for name, rows in chain.plan.contents.items():
        assert len(selected[name].rows) == len(rows) == len(decoded[name].rows)
    orders = [[str(cell) for cell in row] for row in chain.plan.contents["shop.orders"]]
    assert selected["shop.orders"].rows == orders


@pytest.mark.servers
def test_mysql_prints_the_chain_without_a_gap_and_applies_it(mysql: Chain) -> None:
    text = printed("mysql97", mysql)
    numbers = [int(gno) for gno in re.findall(rb"^SET @@SESSION.GTID_NEXT= '[^':]+:(\d+)'", text, re.MULTILINE)]
    assert numbers == list(range(1, len(mysql.plan.groups) + 1))
    assert text.count(b"Transaction_Payload") == 24
    with RealServer(name="mysql97", options=["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]) as server:
        server.run_sql("RESET BINARY LOGS AND GTIDS")
        apply("mysql97", server, text)
        assert server.run_sql("SELECT @@gtid_executed").split() == [f"{UUID}:1-{len(numbers)}"]
        assert_declared_contents(server, mysql)


@pytest.mark.servers
def test_mysql_starts_with_the_chain_as_its_own_binary_logs(mysql: Chain) -> None:
    with RealServer(name="mysql97", options=["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]) as server:
        server.stop()
        for path in (server.folder / "data").glob("binlog.*"):
            path.unlink()
        for path in (*mysql.paths, mysql.paths[0].with_suffix(".index")):
            (server.folder / "data" / path.name).write_bytes(path.read_bytes())
        server.start()
        assert server.run_sql("SELECT @@gtid_executed").split() == [f"{UUID}:1-{len(mysql.plan.groups)}"]
        listed = [line.split()[0] for line in server.run_sql("SHOW BINARY LOGS").splitlines()]
        assert listed == [*(path.name for path in mysql.paths), "binlog.000005"]
        opened = (server.folder / "data" / "binlog.000005").read_bytes()
        previous = next(placed.event.body for placed in read_events(opened) if placed.index == 1)
        assert isinstance(previous, PreviousGtids)
        assert previous.gtid_set[1] == ((UUID, "", ((1, len(mysql.plan.groups)),)),)


@pytest.mark.servers
def test_mariadb_prints_the_chain_without_a_gap_and_applies_it(mariadb: Chain) -> None:
    text = printed("maria118", mariadb)
    numbers = [int(number) for number in re.findall(rb"^/\*M!\d+ SET @@session.gtid_seq_no=(\d+)", text, re.MULTILINE)]
    assert numbers == list(range(1, len(mariadb.plan.groups) + 1))
    with RealServer(name="maria118", options=["--binlog-format=ROW"]) as server:
        apply("maria118", server, text)
        assert server.run_sql("SELECT @@gtid_binlog_pos").split() == [f"0-1-{len(numbers)}"]
        assert_declared_contents(server, mariadb)


@pytest.mark.servers
@pytest.mark.parametrize("line", LINES)
def test_the_chain_is_what_the_server_itself_writes(tmp_path: Path, line: str) -> None:
    from forge.record.recording import record, verify

    assert line in BUILD_OF_LINE
    recorded = record(SCENARIO, tmp_path, parameters={"server": line})
    assert len(recorded.files) == 4
    result = verify(tmp_path)
    assert (result.difference, result.contents) == (None, None)
