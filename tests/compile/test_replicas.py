"""The binary log of a replica: groups of its sources, and its own.  Recorded ones: tests/record/recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.engine.requests.transactions import Xa
from forge.errors import ScenarioError, UnsupportedError
from forge.events.gtid import Gtid
from forge.plan.session import Session, Source
from forge.record.recording import verify_against
from forge.scenario import Scenario, delete, insert, load_scenario, plan
from forge.scenario.table_model import TableDeclaration

TABLES: list[str | TableDeclaration] = [
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.u (id INT PRIMARY KEY)",
]
SOURCE = Source(server_id=11)


def replica(**settings: Any) -> Scenario:
    given: dict[str, Any] = {"gtid": True, "server_id": 2, "source": SOURCE} | settings
    return Scenario("x", session=Session(**given), tables=TABLES)


def gtids(scenario: Scenario) -> list[Gtid]:
    planned = plan(scenario)
    [data] = write_files(planned, compile_files(planned))
    return [placed.event.body for placed in read_events(data) if isinstance(placed.event.body, Gtid)]


def test_the_gtids_of_a_source_have_its_uuid_and_its_original_times_and_version() -> None:
    source = Source(server_id=11, uuid="11111111-2222-3333-4444-555555555555", server_version="8.0.36")
    last = gtids(replica(source=source).transaction(insert("d.t", {"id": 1})))[-1]
    assert (last.uuid, last.gno) == ("11111111-2222-3333-4444-555555555555", 4)
    assert last.server_version == (90704, 80036)
    immediate, original = last.commit_timestamp or (0, None)
    assert original == immediate - 1000


def test_a_source_without_a_uuid_has_one_of_its_own() -> None:
    assert gtids(replica())[0].uuid == "6b696e64-6f66-4f72-6765-00000000000b"


def test_the_facts_of_a_replicas_log_make_it_again(tmp_path: Path) -> None:
    text = """
scenario: again
session: {gtid: true, server_id: 2, source: {server_id: 11}, replicate_ignore_table: [d.u]}
tables: [CREATE TABLE d.t (id INT PRIMARY KEY), CREATE TABLE d.u (id INT PRIMARY KEY)]
transactions:
  - - insert: {into: d.u, rows: [{id: 1}]}
  - - set: {source: {server_id: 12, server_version: 8.0.36}}
  - - insert: {into: d.t, rows: [{id: 1}]}
  - - set: {source: null}
  - - delete: {from: d.t, where: {id: 1}}
"""
    path = tmp_path / "again.yaml"
    path.write_text(text)
    planned = plan(load_scenario(path))
    [data] = write_files(planned, compile_files(planned))
    assert verify_against(path, {"binlog.000001": data}).difference is None


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"source": Source(server_id=2)}, "server_id of the source is 2"),
        ({"source": Source(server_id=0)}, "server_id of the source is 0"),
        ({"source": Source(server_id=11, uuid="no")}, "'no' is not a UUID"),
        ({"gtid": False, "replicate_ignore_table": ["d.u"]}, "replicate_ignore_table is supported on MySQL with GTIDs"),
        ({"binlog_format": "statement"}, "statements of a `source` that are logged as their texts"),
    ],
)
def test_what_no_replica_can_be_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        compile_files(plan(replica(**settings).transaction(insert("d.t", {"id": 1}))))


def test_a_line_whose_replicas_are_not_known_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"replicas of mysql-5\.7"):
        plan(Scenario("x", server="mysql-5.7", session=Session(source=SOURCE), tables=TABLES))


def test_xa_transactions_with_filters_are_refused() -> None:
    filtered = replica(replicate_ignore_table=["d.u"]).transaction(insert("d.t", {"id": 1}), xa=Xa(gtrid="x"))
    with pytest.raises(ScenarioError, match="ignores tables takes no XA"):
        compile_files(plan(filtered))


def test_an_ignored_group_leaves_its_gtid_and_nothing_depends_on_it() -> None:
    filtered = replica(replicate_ignore_table=["d.u"])
    filtered = filtered.transaction(insert("d.u", {"id": 1})).transaction(delete("d.u", where={"id": 1}))
    *_, inserted, deleted = gtids(filtered)
    # CREATE TABLE d.t was the second group, that of d.u is ignored.
    assert [(body.last_committed, body.gtid_flags) for body in (inserted, deleted)] == [(2, 1), (2, 1)]
