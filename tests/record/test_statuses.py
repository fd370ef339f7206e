"""The ``statuses`` of a session's facts: status variables that no rule gives, and how few the recordings need."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forge.binlog.writer import write_binlog
from forge.compile import compile_files, compile_plan
from forge.compile.query.status import THREAD_SPECIFIC, in_order
from forge.compile.query.statuses import written
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.plain import plain
from forge.events.query import Query
from forge.events.status_vars import StatusBlock, StatusVariables
from forge.plan.facts import Facts, QueryStatus
from forge.plan.plan import Plan
from forge.record.facts import facts_of
from forge.record.recording import facts_with_statuses, verify_against
from forge.record.statuses import query_events, statuses_of
from forge.resources import corpora_dir
from forge.scenario import load_scenario
from forge.scenario import plan as plan_of
from forge.scenario.matrix import base_scenario
from forge.servers import server_line
from forge.testing.fields import strategy_of

MakePlan = Callable[..., Plan]

#: QUERY events of all recordings, by server line, that need an entry.  The numbers may fall; a commit that raises one
#: says why no rule gives what it needs.
#: All: what ALTER TABLE and OPTIMIZE TABLE read and convert, which depends on how the server makes the table anew; the
#: clock of triggers, of columns that ALTER TABLE adds, of keys on expressions, of CSV tables, of literals that are no
#: dates; UPDATE of several tables with triggers; moments and texts in the bounds of partitions, DEFAULT ENCRYPTION,
#: CAST(... AS CHAR) in a table.
NEEDED: dict[str, int] = {
    "mariadb-10.1": 7,
    "mariadb-10.11": 37,
    "mariadb-10.2": 15,
    "mariadb-10.5": 8,
    "mariadb-11.4": 9,
    "mariadb-11.8": 51,
    "mysql-5.5": 2,
    "mysql-5.6": 4,
    "mysql-8.0": 37,
    "mysql-9.7": 158,
}
RECORDINGS = sorted(
    path.parent
    for root in (corpora_dir() / "recordings", Path(__file__).parent / "recordings")
    for path in root.glob("**/recording.yaml")
)


def entries(folder: Path) -> Iterator[dict[str, Any]]:
    text = (folder / "facts.yaml").read_text("utf-8")
    yield from yaml.safe_load(text)["statuses"] if re.search("^statuses:", text, re.MULTILINE) else ()


WITH_ENTRIES = [folder for folder in RECORDINGS if any(entries(folder))]


def line_of(folder: Path) -> str:
    how = yaml.safe_load((folder / "recording.yaml").read_text("utf-8"))
    return load_scenario(folder / "scenario.yaml", how.get("settings", {})).server


@pytest.mark.slow
def test_no_more_recorded_events_need_an_entry_than_before() -> None:
    found: Counter[str] = Counter()
    for folder in WITH_ENTRIES:
        found[line_of(folder)] += len(list(entries(folder)))
    assert {line: count for line, count in found.items() if count > NEEDED.get(line, 0)} == {}


#: Definitions that every log has.
EVERYDAY = re.compile(
    r"CREATE TABLE (?!.*\b(SELECT|DEFAULT 0|VALUES|LIKE|CAST)\b)|DROP TABLE |CREATE DATABASE (?!.*ENCRYPTION)",
    re.IGNORECASE | re.DOTALL,
)


def recorded_queries(folder: Path) -> list[Event]:
    names = yaml.safe_load((folder / "recording.yaml").read_text("utf-8")).get("files", ["binlog.000001"])
    return list(query_events((folder / name).read_bytes() for name in names))


@pytest.mark.slow
def test_everyday_statements_need_no_entry() -> None:
    found = []
    for folder in WITH_ENTRIES:
        recorded = recorded_queries(folder)
        texts = [text_of(recorded[entry["query"] - 1]) for entry in entries(folder)]
        found += [(folder.name, text) for text in texts if EVERYDAY.match(text)]
    assert found == []


#: BEGINs that need an entry.
BEGINS = 93


@pytest.mark.slow
def test_no_more_begins_need_an_entry_than_before() -> None:
    found = 0
    for folder in WITH_ENTRIES:
        recorded = recorded_queries(folder)
        found += sum(text_of(recorded[entry["query"] - 1]) == "BEGIN" for entry in entries(folder))
    assert found <= BEGINS


@pytest.mark.slow
def test_no_variable_is_in_entries_of_half_a_log_since_a_rule_has_to_give_it() -> None:
    found = []
    for folder in WITH_ENTRIES:
        if folder.name == "charsets-that-are-kept-mariadb-11.8":
            continue  # All of its statements are on tables that are kept with a character set's name.
        names = Counter(name for entry in entries(folder) for name in entry["variables"])
        most = max(len(recorded_queries(folder)) // 2, 2)
        found += [(folder.name, name) for name, count in names.items() if count > most]
    assert found == []


def text_of(event: Event) -> str:
    assert isinstance(event.body, (Query, ExecuteLoadQuery))
    return event.body.query


LOGS = """
scenario: each kind of QUERY event
server: {server}
session: {{{session}}}
tables:
  - CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100), a DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6))
  - CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM
transactions:
  - - insert: {{into: d.t, rows: [{{id: 1}}]}}
  - - insert: {{into: d.t, rows: [{{id: 2}}]}}
    - savepoint: s
    - update: {{table: d.t, where: {{id: 2}}, set: {{v: {long}}}}}
  - - insert: {{into: d.m, rows: [{{id: 1}}]}}
  - - set: {{binlog_format: statement}}
  - - insert: {{into: d.t, rows: [{{id: 3, v: {long}}}]}}
"""
PLANS = {
    "mysql": ("mysql-9.7", "gtid: true"),
    "several files": ("mysql-9.7", "max_binlog_size: 300"),
    "a relay log": ("mysql-9.7", "relay_log: {server_id: 7}"),
    "payloads": ("mysql-8.4", "compression: true"),
    "mysql 5.7": ("mysql-5.7", "gtid: false"),
    "mariadb": ("mariadb-11.8", ""),
    "compressed events": ("mariadb-10.11", "log_bin_compress: true, log_bin_compress_min_len: 10"),
}


@cache
def made(name: str) -> Plan:
    server, session = PLANS[name]
    return plan_of(base_scenario(LOGS.format(server=server, session=session, long="x" * 90)))


def planned(name: str, statuses: Sequence[QueryStatus] = ()) -> Plan:
    session = made(name).session
    return replace(made(name), session=msgspec.structs.replace(session, facts=Facts(statuses=list(statuses))))


def logs(of: Plan) -> list[bytes]:
    return list(map(write_binlog, compile_files(of)))


@cache
def variables_of(name: str) -> list[StatusVariables]:
    return [event.body.status_variables for event in query_events(logs(planned(name)))]  # type: ignore[attr-defined]


@st.composite
def differences(draw: st.DrawFn, name: str) -> list[QueryStatus]:
    """Entries of some QUERY events, each of which says at least one variable that is another."""
    line, queries = server_line(PLANS[name][0]), variables_of(name)
    entries = []
    for number in sorted(draw(st.sets(st.integers(1, len(queries)), max_size=4))):
        ruled = dict(queries[number - 1])
        drawn = {
            key: value
            for key, value in draw(strategy_of(StatusBlock(None), {}))
            if key in written(line) and is_text(value)
        }
        absent = draw(st.sets(st.sampled_from(sorted(ruled)), max_size=2))
        given = {key: plain(value) for key, value in (drawn | dict.fromkeys(absent)).items() if value != ruled.get(key)}
        if given:
            entries.append(QueryStatus(query=number, variables=given))
    return entries


def is_text(value: Any) -> bool:
    """Whether YAML and JSON can hold the value as it is."""
    return "hex" not in str(plain(value))


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
@settings(max_examples=10)
@given(data=st.data())
def test_entries_come_back_out_of_the_log_that_was_compiled_with_them(name: str, data: st.DataObject) -> None:
    given = data.draw(differences(name))
    recorded = logs(planned(name, statuses=given))
    by_number = {entry.query: entry.variables for entry in statuses_of(planned(name), recorded)}
    assert by_number == {entry.query: entry.variables for entry in given}
    assert facts_of(*recorded).statuses == []


@pytest.mark.parametrize("name", PLANS)
def test_a_log_that_the_rules_make_needs_no_entry(name: str) -> None:
    assert statuses_of(planned(name), logs(planned(name))) == []


def with_another(change: Callable[[Event, Query], Event]) -> bytes:
    """The log of the plan "mysql 5.7" with a changed second QUERY event."""
    events = compile_plan(planned("mysql 5.7"))
    place = [index for index, event in enumerate(events) if isinstance(event.body, Query)][1]
    body = events[place].body
    assert isinstance(body, Query)
    zoned = dict(body.status_variables) | {"time_zone": "SYSTEM"}
    query = body.replace(status_variables=in_order(zoned, server_line("mysql-5.7")))
    events[place] = change(events[place].replace(body=query), query)
    return write_binlog(events)


@pytest.mark.parametrize(
    "change",
    [
        lambda event, query: event.replace(body=query.replace(query=query.query + " ")),
        lambda event, query: event.replace(body=query.replace(database="e")),
        lambda event, query: event.replace(body=query.replace(error_code=1)),
        lambda event, query: event.replace(body=query.replace(thread_id=query.thread_id + 1)),
        lambda event, query: event.replace(body=query.replace(exec_time=1)),
        lambda event, query: event.replace(flags=event.flags | THREAD_SPECIFIC),
        lambda event, query: event.replace(timestamp=event.timestamp + 1),
        lambda event, query: event.replace(server_id=event.server_id + 1),
        lambda event, query: event.replace(body=query.replace(status_variables=query.status_variables[::-1])),
        lambda event, query: event.replace(body=with_variable(query, "unread", b"\x7f")),
        lambda event, query: event.replace(body=with_variable(query, "time_zone", "\udcff")),
    ],
)  # fmt: skip
def test_an_event_that_differs_in_more_than_its_variables_has_no_entry(change: Callable[[Event, Query], Event]) -> None:
    ruled = planned("mysql 5.7")
    same = statuses_of(ruled, [with_another(lambda event, query: event)])
    assert same == [QueryStatus(query=2, variables={"time_zone": "SYSTEM"})]
    assert statuses_of(ruled, [with_another(change)]) == []


def with_variable(query: Query, name: str, value: Any) -> Query:
    return query.replace(status_variables=tuple({**dict(query.status_variables), name: value}.items()))


def test_a_log_with_a_query_event_more_tells_nothing() -> None:
    events = compile_plan(planned("mysql 5.7"))
    last = next(event for event in reversed(events) if isinstance(event.body, Query))
    assert statuses_of(planned("mysql 5.7"), [write_binlog([*events[:-1], last, events[-1]])]) == []


PLACED = """
scenario: an event that the scenario places
session:
  facts:
    exec_times: [0, 0, 7, 8]
    statuses: [{query: 3, variables: {sql_mode: 5}}, {query: 4, variables: {sql_mode: 6}}]
tables:
  - CREATE TABLE d.t (id INT PRIMARY KEY)
transactions:
  - - event: {type: QUERY, fields: {query: SELECT 1, exec_time: 1}}
  - - insert: {into: d.t, rows: [{id: 1}]}
"""


def test_query_events_that_the_scenario_places_are_counted_too() -> None:
    events = query_events([write_binlog(compile_plan(plan_of(base_scenario(PLACED))))])
    *_, placed, begin = [event.body for event in events if isinstance(event.body, Query)]
    assert (placed.query, placed.exec_time, placed.status_variables) == ("SELECT 1", 1, (("sql_mode", 5),))
    assert (begin.query, begin.exec_time, begin.status("sql_mode")) == ("BEGIN", 8, 6)


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_a_log_with_other_variables_verifies_with_its_facts_alone(name: str, tmp_path: Path) -> None:
    server, session = PLANS[name]
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(LOGS.format(server=server, session=session, long="x" * 90))
    # CREATE TABLE has the number of the DDL's transaction, which other facts tell as well.
    given: list[dict[str, Any]] = [
        {"query": 2, "variables": {"catalog": None, "ddl_xid" if name == "mysql" else "mariadb_ddl_xid": 99}}
    ]
    given += [{"query": 5, "variables": {"sql_mode": 0, "invoker": ["a", "b"], "charset": [8, 8, 33]}}]
    (recorded,) = logs(planned(name, statuses=msgspec.convert(given, list[QueryStatus])))
    result = verify_against(scenario, {"binlog.000001": recorded})
    assert (result.identical, result.statuses) == (True, 2)
    facts = facts_with_statuses(scenario, facts_of(recorded), [recorded], None)
    del given[0]["variables"]["ddl_xid" if name == "mysql" else "mariadb_ddl_xid"]
    assert msgspec.to_builtins(facts.statuses) == given
    again = {"session.facts": msgspec.to_builtins(facts)}
    assert verify_against(scenario, {"binlog.000001": recorded}, again).statuses == 2


@pytest.mark.parametrize(
    ("server", "entries", "message"),
    [
        ("mysql-9.7", [(99, {})], r"the session has no QUERY event 99; expected 1 to \d+"),
        ("mysql-9.7", [(0, {})], "the session has no QUERY event 0"),
        ("mysql-9.7", [(1, {}), (1, {})], "QUERY event 1 has an entry already"),
        ("mysql-9.7", [(1, {"timezone": "SYSTEM"})], "no status variable 'timezone'.*did you mean 'time_zone'"),
        ("mysql-9.7", [(1, {"hrnow": 5})], "mysql-9.7 has no status variable 'hrnow'; expected flags2, sql_mode"),
        ("mariadb-11.8", [(1, {"ddl_xid": None})], "mariadb-11.8 has no status variable 'ddl_xid'"),
        ("mysql-4.1", [(1, {"time_zone": "SYSTEM"})], "mysql-4.1 has no status variable 'time_zone'"),
        ("mysql-9.7", [(1, {"time_zone": 5})], "time_zone cannot be 5; expected null, or one of its type"),
        ("mysql-9.7", [(1, {"microseconds": 1 << 24})], "microseconds cannot be 16777216"),
        ("mysql-9.7", [(1, {"charset": [8, 8]})], r"charset cannot be \[8, 8\]"),
        ("mysql-9.7", [(1, {"updated_databases": ["a\0b"]})], "updated_databases cannot be"),
    ],
)
def test_an_entry_that_no_server_writes_is_refused(server: str, entries: list[Any], message: str) -> None:
    scenario = base_scenario(f"{{scenario: one, server: {server}, transactions: [[ddl: CREATE DATABASE e]]}}")
    facts = Facts(statuses=[QueryStatus(query=number, variables=variables) for number, variables in entries])
    session = msgspec.structs.replace(scenario.session, facts=facts)
    with pytest.raises(ScenarioError, match=r"^session\.facts\.statuses, number \d: .*" + message):
        compile_files(plan_of(msgspec.structs.replace(scenario, session=session)))
