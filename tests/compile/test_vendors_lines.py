"""Lines of vendors whose writers are public: what they write otherwise than MySQL, read back from the bytes."""

from __future__ import annotations

from typing import Any

import pytest

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.writer import write_binlog
from forge.cli.app import run
from forge.compile import compile_plan
from forge.errors import ScenarioError
from forge.events.extra_row_info import chunks
from forge.scenario import Scenario, event, plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_line
from forge.servers.loading import evidence

SCENARIO = """
scenario: vendors
tables:
  - CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, v VARCHAR(10))
transactions:
  - - insert: {into: t.a, rows: [{id: 1, v: abc}, {id: 2, v: null}]}
    - update: {table: t.a, where: {id: 1}, set: {v: b}}
"""


def listed(server: str, text: str = SCENARIO, **settings: Any) -> list[dict[str, Any]]:
    replaced = {"server": server} | {f"session.{name}": value for name, value in settings.items()}
    data = write_binlog(compile_plan(plan(base_scenario(text, settings=replaced))))
    assert assemble("".join(listing_text(data))) == data
    return list(disassemble(data))


def types(documents: list[dict[str, Any]]) -> list[str]:
    return [document["event"] for document in documents]


def test_oceanbase_logs_each_row_by_itself_with_the_time_in_its_gtids() -> None:
    documents = listed("mysql-5.7-oceanbase")
    pair = ["TABLE_MAP", "WRITE_ROWS"]
    assert types(documents)[6:] == ["GTID", "QUERY", *pair, *pair, "TABLE_MAP", "UPDATE_ROWS", "XID", "STOP"]
    assert all("IN_USE" in document["flags"] for document in documents)
    gtid, begin = documents[6:8]
    assert (gtid["last_committed"], gtid["sequence_number"]) == (gtid["timestamp"], 0)
    assert (begin["database"], begin["status_variables"]) == ("t", {"flags2": 0, "charset": [45, 45, 83]})
    assert all(document["row_flags"] == ["STMT_END"] for document in documents if "row_flags" in document)


def test_the_log_of_a_polardbx_cluster_has_no_gtids_and_a_begin_without_its_session() -> None:
    documents = listed("mysql-5.7-polardbx")
    assert types(documents)[3:] == ["QUERY", "TABLE_MAP", "WRITE_ROWS", "TABLE_MAP", "UPDATE_ROWS", "XID", "STOP"]
    begin = documents[3]
    assert (begin["thread_id"], begin["database"], begin["status_variables"]) == (0, "", {})
    assert list(documents[2]["status_variables"]) == ["flags2", "sql_mode", "catalog", "charset", "updated_databases"]
    with pytest.raises(ScenarioError, match=r"mysql-5\.7-polardbx does not have GTID"):
        listed("mysql-5.7-polardbx", gtid=True)


def test_events_of_a_polardbx_node_are_declared_in_front_of_the_transaction() -> None:
    scenario = Scenario("node", server="mysql-8.0-polardbx", transactions=[
        [event("PREVIOUS_CONSENSUS_INDEX", hex="0100000000000000", ignorable=True)],
        [event("CONSENSUS_LOG", hex="00" * 36, ignorable=True)],
        [event("GCN", hex="010100000000000000", ignorable=True)],
    ])  # fmt: skip
    documents = list(disassemble(write_binlog(compile_plan(plan(scenario)))))
    assert types(documents)[2:-1] == ["PREVIOUS_CONSENSUS_INDEX", "CONSENSUS_LOG", "GCN"]
    assert not [document for document in documents if "body" in document]
    lengths = bytes.fromhex(documents[0]["post_header_lengths"])
    assert (len(lengths), lengths[100:]) == (105, bytes((36, 8, 4, 0, 1)))


def test_a_body_of_another_size_is_the_event_101_of_aurora_and_kept_as_bytes() -> None:
    scenario = Scenario("aurora", server="mysql-5.7-aurora", transactions=[[event(101, hex="2a2a", ignorable=True)]])
    (private,) = [
        document
        for document in disassemble(write_binlog(compile_plan(plan(scenario))))
        if document["event"] == "CONSENSUS_LOG"
    ]
    assert private["body"] == "2a2a"


def test_ndb_adds_the_number_of_its_transaction_to_row_events() -> None:
    rows = [document for document in listed("mysql-8.0-ndb", ndb_transaction_id=77) if "extra" in document]
    assert [document["extra"] for document in rows] == ["000c000100" + "4d" + "00" * 7] * 2
    assert chunks(bytes.fromhex(rows[0]["extra"])) == ((13, "row info of NDB: transaction 77"),)
    changing = SCENARIO + "  - - set: {ndb_transaction_id: 78}\n    - insert: {into: t.a, rows: [{id: 9}]}\n"
    assert listed("mysql-8.0-ndb", changing, ndb_transaction_id=77)[-3]["extra"][10:12] == "4e"
    with pytest.raises(ScenarioError, match="does not have extra row info of NDB"):
        listed("mysql-8.0", ndb_transaction_id=77)
    with pytest.raises(ScenarioError, match=r"cannot change ndb_transaction_id; expected mysql-8\.0-ndb"):
        listed("mysql-8.0", changing)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("0102000100", ["row info of partitions: 2, from 1"]),
        ("000e000300" + "05" + "00" * 7 + "0100" + "010300",
         ["row info of NDB: transaction 5, conflict flags 1", "row info of partitions: 3"]),
        ("0004010000", ["row info of NDB's format 1"]),
        ("00ff", ["row info of NDB that cannot be read"]),
        ("07aabb", ["row info of kind 7"]),
        ("", []),
    ],
)  # fmt: skip
def test_chunks_of_extra_row_info_are_told_apart(extra: str, words: list[str]) -> None:
    assert [said for _, said in chunks(bytes.fromhex(extra))] == words


@pytest.mark.parametrize("name", ["mysql-5.7-oceanbase", "mysql-5.7-polardbx", "mysql-8.0-polardbx", "mysql-8.0-ndb"])
def test_every_fact_of_such_a_line_has_its_evidence(name: str) -> None:
    own = {fact: each.source for fact, each in evidence(name).items() if each.line == name}
    assert own
    assert server_line(name).name == name


@pytest.mark.parametrize("name", ["tidb", "starrocks"])
def test_a_server_without_a_line_says_why(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["servers", name]) == 2
    assert f"there is no server line for {name}: " in capfd.readouterr().err
