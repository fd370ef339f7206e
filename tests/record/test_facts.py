"""What a binlog tells of its session is what the compiler was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.reader import read_events
from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.errors import FormatError, ScenarioError
from forge.events.previous_gtids import PreviousGtids
from forge.plan.facts import Facts
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.record.facts import facts_of
from forge.scenario import Scenario, Transaction, insert, plan
from forge.scenario.matrix import base_scenario

MakePlan = Callable[..., Plan]
seconds = st.integers(0, 2**32 - 1)


def lists(of: Any, size: int) -> Any:
    return st.lists(of, min_size=size, max_size=size)


@given(
    facts=st.builds(
        Facts,
        server_version=st.sampled_from(["9.7.4-2", "9.7.0"]),
        server_uuid=st.uuids().map(str),
        thread_id=st.integers(0, 2**32 - 1),
        opened=seconds,
        created=seconds,
        closed=seconds,
        timestamps=st.tuples(lists(seconds, 1), lists(seconds, 1), lists(seconds, 1), lists(seconds, 3)).map(list),
        commit_timestamps=lists(st.integers(0, 2**55 - 1), 4),
        exec_times=lists(seconds, 4),
        table_ids=lists(st.integers(1, 2**48 - 1), 3),
        xids=lists(st.integers(1, 2**64 - 1), 4),
        first_gno=st.integers(1, 2**40),
    )
)
def test_facts_come_back_out_of_the_file_that_was_compiled_with_them(make_plan: MakePlan, facts: Facts) -> None:
    found = facts_of(write_binlog(compile_plan(make_plan(facts, gtid=True))))
    # An autocommitted statement has one time; the file shows it again in its XID event.
    timestamps = facts.timestamps or []
    timestamps[2] = timestamps[2] * 2
    assert found == facts


def test_anonymous_transactions_tell_no_uuid(make_plan: MakePlan) -> None:
    found = facts_of(write_binlog(compile_plan(make_plan())))
    assert found.server_uuid is None
    assert found.first_gno is None
    assert len(found.commit_timestamps or []) == 4


def test_the_servers_uuid_is_that_of_most_transactions_and_its_first_number_the_smallest() -> None:
    own, foreign = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
    given = [f"{foreign}:5", f"{own}:100", None, None]
    scenario = Scenario(
        "given",
        session=Session(gtid=True, facts=Facts(server_uuid=own, first_gno=7)),
        tables=["CREATE TABLE d.t (id INT)"],
        transactions=[Transaction(gtid=gtid, statements=[insert("d.t", {"id": 1})]) for gtid in given],
    )
    log = write_binlog(compile_plan(plan(scenario)))
    found = facts_of(log)
    assert (found.server_uuid, found.first_gno) == (own, 7)


def test_a_rotated_file_tells_the_next_files_name(make_plan: MakePlan) -> None:
    found = facts_of(write_binlog(compile_plan(make_plan(ends_with="rotate"))))
    assert found.next_file == "binlog.000002"


def test_a_file_that_is_cut_tells_nothing(make_plan: MakePlan) -> None:
    data = write_binlog(compile_plan(make_plan()))
    with pytest.raises(FormatError):
        facts_of(data[:-10])


FRACTIONS = """
scenario: fractions
server: {server}
tables:
  - CREATE TABLE d.t (id INT PRIMARY KEY, v INT, a DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6))
  - CREATE TABLE d.m (id INT PRIMARY KEY, a DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=MyISAM
transactions:
  - - set: {{timestamp: '2024-02-29 01:02:04.654321'}}
  - - insert: {{into: d.{rows}, rows: [{{id: 1}}]}}
  - - set: {{timestamp: '2024-02-29 01:02:05.000001'}}
  - - ddl: CREATE TRIGGER d.tr BEFORE UPDATE ON t FOR EACH ROW SET @a = 1
  - - set: {{binlog_format: statement}}
  - - insert: {{into: d.t, rows: [{{id: 2}}]}}
    - insert: {{into: d.t, rows: [{{id: 3}}]}}
  - - set: {{timestamp: '2024-02-29 01:02:07.5'}}
  - - insert: {{into: d.m, rows: [{{id: 2}}]}}
"""


@pytest.mark.parametrize(
    ("server", "rows"), [("mysql-9.7", "t"), ("mysql-5.7", "m"), ("mariadb-10.11", "m")], ids=lambda name: name
)
def test_the_facts_of_a_log_have_the_fractions_that_its_texts_tell(server: str, rows: str) -> None:
    text = FRACTIONS.format(server=server, rows=rows)
    data = write_binlog(compile_plan(plan(base_scenario(text))))
    facts = facts_of(data)
    assert facts.microseconds is not None
    assert [group for group in facts.microseconds if group] == [[654321], [1], [1, 1], [500000]]
    timeless = "".join(line for line in text.splitlines(keepends=True) if "timestamp:" not in line)
    again = base_scenario(timeless)
    again = msgspec.structs.replace(again, session=msgspec.structs.replace(again.session, facts=facts))
    assert write_binlog(compile_plan(plan(again))) == data


@pytest.mark.parametrize("gtid", [True, False])
def test_previous_gtids_may_be_empty_and_have_the_encoding_with_tags(gtid: bool) -> None:
    made = Scenario(
        scenario="tagged", session=Session(gtid=gtid, facts=Facts(tagged=True)), tables=["CREATE TABLE d.t (a INT)"]
    )
    data = write_binlog(compile_plan(plan(made)))
    sets = [event.event.body.gtid_set for event in read_events(data) if isinstance(event.event.body, PreviousGtids)]
    assert sets == [(True, ())]
    assert bytes.fromhex("0100000000000001") in data
    assert facts_of(data).tagged
    assert not facts_of(write_binlog(compile_plan(plan(msgspec.structs.replace(made, session=Session()))))).tagged
    with pytest.raises(ScenarioError, match=r"mysql-8\.0 does not have GTIDs with a tag"):
        compile_plan(plan(msgspec.structs.replace(made, server="mysql-8.0")))
