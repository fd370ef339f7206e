"""forge compat: what a consumer of another line makes of a log, and that the readers at hand do just that."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from forge.binlog import write_binlog
from forge.binlog.logged import logged_events
from forge.check.compare.compare import check
from forge.check.compat.features_used import event_uses
from forge.check.compat.readers_view import as_seen
from forge.check.compat.report import Report, compatibility, compatibility_of_logs, summary
from forge.check.decoders.table import decoder
from forge.cli.app import run
from forge.compile import compile_files, compile_plan
from forge.decode.decode import canonical_events
from forge.decode.table_maps import TableMaps
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.resources import corpora_dir
from forge.scenario import Scenario, ddl, delete, event, insert, logged, plan, update
from forge.scenario.matrix import base_scenario
from forge.servers import server_line, server_names
from forge.servers.features import Feature, features
from forge.sql.reads.features import features_of_statement

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = """
scenario: shop
tables:
  - CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, v {type}) CHARACTER SET latin1
transactions:
  - - insert: {{into: t.a, rows: [{{id: 1, v: {value}}}]}}
  - - delete: {{from: t.a, where: {{id: 1}}}}
"""


def made(producer: str, type: str = "INT", value: str = "5", **session: Any) -> tuple[Any, list[bytes]]:
    settings = {"server": producer} | {f"session.{name}": setting for name, setting in session.items()}
    planned = plan(base_scenario(SCENARIO.format(type=type, value=value), settings=settings))
    return planned, [write_binlog(events) for events in compile_files(planned)]


def report(producer: str, consumer: str, *args: str, **session: Any) -> Report:
    planned, files = made(producer, *args, **session)
    return compatibility(planned, files, consumer)


def effects(found: Report) -> dict[str | None, str]:
    return {finding.feature: finding.effect for finding in found.findings}


@pytest.mark.parametrize("name", [name for name in server_names() if server_line(name).knows("row_events")])
def test_a_line_reads_all_of_its_own_log(name: str) -> None:
    planned, files = made(name)
    own = compatibility(planned, files, name)
    assert [finding for finding in own.findings if finding.setting is None] == []
    assert (own.reader_stops, own.replica_stops) == (None, None)
    assert (own.read, own.skipped, own.rows_seen) == (own.events, 0, 2)
    decode = [{key: value for key, value in event.items() if key != "file"} for event in own.decode]
    assert decode == list(canonical_events(files[0]))


def test_a_5_5_stops_at_whatever_it_does_not_know() -> None:
    found = report("mysql-9.7", "mysql-5.5", gtid=True, rows_query=True)
    assert effects(found) | {
        "checksums": "misread", "gtid": "refuse", "rows_query": "refuse", "rows_v2": "refuse",
        "collation_of_session": "refuse", "row_metadata": "ignore", "default_collation_for_utf8mb4": "ignore",
    } == effects(found)  # fmt: skip
    assert found.reader_stops is not None
    assert (found.reader_stops.type, found.rows_seen) == ("PREVIOUS_GTIDS", 0)
    # It comes as far as the first type that it does not know, flag IGNORABLE or not.
    without = report("mysql-9.7", "mysql-5.5", checksum="none")
    assert without.reader_stops is not None
    assert (without.reader_stops.type, without.read) == ("PREVIOUS_GTIDS", 1)


def test_an_older_reader_has_a_table_map_without_what_came_later() -> None:
    found = report("mysql-8.0", "mysql-5.7", "VARCHAR(10)", "abc", row_metadata="full", gtid=True)
    assert found.reader_stops is None
    assert found.rows_seen == 2
    (table, _) = (event["fields"] for event in found.decode if event["type"] == "TABLE_MAP")
    assert table["optional_metadata"] == []
    gtid = next(event["fields"] for event in found.decode if event["type"] == "GTID")
    assert "commit_timestamp" not in gtid
    assert gtid["sequence_number"] == 1
    begin = next(e["fields"] for e in found.decode if e["fields"].get("query") == "BEGIN")
    assert "default_collation_for_utf8mb4" not in [variable["name"] for variable in begin["status_variables"]]


def test_a_record_that_came_later_is_passed_over() -> None:
    found = report("mysql-9.7", "mariadb-11.8", row_metadata="full")
    names = {
        record["name"]
        for event in found.decode
        if event["type"] == "TABLE_MAP"
        for record in event["fields"]["optional_metadata"]
    }
    assert "column_name" in names
    assert "visibility" not in names
    assert effects(found)["metadata_visibility"] == "ignore"


@pytest.mark.parametrize("ignorable", [True, False])
def test_a_private_event_stops_whoever_may_not_ignore_it(*, ignorable: bool) -> None:
    base = base_scenario(SCENARIO.format(type="INT", value="5"), settings={"server": "mysql-5.6"})
    planned = plan(base.transaction(event(200, ignorable=ignorable, post_header_length=0)))
    files = [write_binlog(events) for events in compile_files(planned)]
    assert (compatibility(planned, files, "mariadb-10.11").reader_stops is None) == ignorable
    # A real MySQL reader takes 200 for a negative number, whatever the flag.
    assert compatibility(planned, files, "mysql-9.7").reader_stops is not None


def test_a_flag_lets_a_newer_reader_pass_over_a_type_it_does_not_know() -> None:
    found = report("mysql-9.7", "mariadb-10.11", rows_query=True)
    assert found.reader_stops is None
    assert effects(found)["rows_query"] == "ignore"
    assert effects(found)["anonymous_gtid"] == "ignore"
    assert not any(event["type"] == "ROWS_QUERY" for event in found.decode)


CASES: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
    ("mysql-9.7", "mysqlbinlog", {}, ()),
    ("mysql-9.7", "mariadb-binlog-10.11", {}, ()),
    ("mysql-9.7", "mariadb-binlog-10.11", {"gtid": True, "rows_query": True, "row_metadata": "full"}, ()),
    ("mysql-9.7", "mariadb-binlog-11.8", {"compression": True}, ()),
    ("mysql-9.7", "mariadb-binlog-11.8", {"gtid": True, "gtid_tag": "abc"}, ()),
    ("mysql-9.7", "mariadb-binlog-11.8", {}, ("JSON", "'[1]'")),
    ("mysql-9.7", "mariadb-binlog-10.11", {}, ("VECTOR(1)", "'[1]'")),
    ("mysql-9.7", "mariadb-binlog-10.11", {}, ("DATETIME(3)", "'2024-01-01 00:00:00.123'")),
    ("mysql-5.5", "mysqlbinlog", {}, ()),
    ("mysql-5.6", "mysqlbinlog", {"gtid": True}, ()),
    ("mysql-5.7", "mysqlbinlog", {"rows_query": True}, ()),
    ("mysql-5.5", "mariadb-binlog-10.11", {}, ()),
    ("mariadb-11.8", "mysqlbinlog", {}, ()),
    ("mariadb-11.8", "mariadb-binlog-10.11", {"rows_query": True}, ()),
]
LINES = {"mysqlbinlog": "mysql-9.7", "mariadb-binlog-10.11": "mariadb-10.11", "mariadb-binlog-11.8": "mariadb-11.8"}


@pytest.mark.parametrize(("producer", "reader", "session", "column"), CASES)
def test_a_real_reader_stops_where_it_is_said_to(
    producer: str, reader: str, session: dict[str, Any], column: tuple[str, ...]
) -> None:
    one = decoder(reader)
    if one.available() is not None:
        pytest.skip(f"{reader} is not here")
    planned, files = made(producer, *column, **session)
    said = compatibility(planned, files, LINES[reader])
    (verdict,) = check(files[0], [one])
    assert (verdict.outcome == "agree") == (said.reader_stops is None), verdict.message


def test_the_command_prints_a_summary_or_json(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(SCENARIO.format(type="INT", value="5"))
    assert run(["compat", str(file), "--from", "mysql-9.7", "--to", "mysql-5.7"]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert "a reader ignores optional metadata of TABLE_MAP [MySQL 8.0.1 or later]" in text
    assert "A replica stops at event 3, QUERY" in text
    assert run(["compat", str(file), "--to", "mysql-5.7", "--json"]) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    assert printed["replica_stops"]["type"] == "QUERY"
    assert printed["rows_seen"] == len([row for event in printed["decode"] for row in event.get("rows", ())]) == 2
    assert run(["compat", str(file), "--to", "mysql-5.8"]) == 2
    assert b"unknown server line 'mysql-5.8'" in capfdbinary.readouterr().err


def test_the_summary_says_so_where_nothing_is_new() -> None:
    assert "nothing in it is new or foreign" in "".join(summary(report("mysql-5.5", "mysql-5.6")))


def row(feature: Feature) -> str:
    """The feature's row of the table in docs/compat.md."""
    mysql = (feature.mysql or "") + (f" to {feature.mysql_until}" if feature.mysql_until else "")
    effect = feature.effect + (" (replica)" if feature.consumer == "replica" else "")
    reason = feature.reason
    for title, special in (("MySQL", feature.on_mysql), ("MariaDB", feature.on_mariadb)):
        if special is not None:
            reason += f"; {title}: {special.effect}, {special.reason}"
    return f"| {feature.title} | {mysql} | {feature.mariadb or ''} | {effect} | {reason} |"


def test_the_documented_table_is_that_of_the_features() -> None:
    text = (ROOT / "docs" / "compat.md").read_text()
    missing = [row(feature) for feature in features().values() if row(feature) not in text]
    assert missing == [], "docs/compat.md needs these rows:\n" + "\n".join(missing)


#: A worklog, a ticket, a source file of the server, the manual, or a recording.
_SOURCE = re.compile(r"WL#\d|MDEV-\d|\b[\w/]+\.(cc|h)\b|\brecorded(:| on) \S|\bmanual(:|;) \S|release notes of \S")


def test_every_source_that_is_printed_is_one_that_a_user_has() -> None:
    sources = {name: feature.source for name, feature in features().items()}
    assert {name: source for name, source in sources.items() if not _SOURCE.search(source)} == {}
    # A private type, which the table does not have.
    base = base_scenario(SCENARIO.format(type="INT", value="5"), settings={"server": "mysql-5.6"})
    planned = plan(base.transaction(event(200, ignorable=True, post_header_length=0)))
    files = [write_binlog(events) for events in compile_files(planned)]
    private = {finding.source for finding in compatibility(planned, files, "mysql-9.7").findings}
    assert {source for source in private if not _SOURCE.search(source)} == set()


def test_no_reason_that_is_printed_has_a_placeholder() -> None:
    assert [name for name, feature in features().items() if "#N" in row(feature)] == []


def test_the_blocks_of_every_page_are_shown_as_blocks() -> None:
    """The pages' Markdown knows a fence at the margin only."""
    indented = re.compile(r"^ +```", re.MULTILINE)
    assert [path.name for path in (ROOT / "docs").glob("**/*.md") if indented.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("CREATE TABLE `t0` (\n  `id` int NOT NULL\n) START TRANSACTION", ["atomic_create_select"]),
        ("CREATE TABLE t (a VARCHAR(40) DEFAULT ') START TRANSACTION')", []),
        ("ALTER TABLE t RENAME COLUMN a TO b", ["rename_column"]),
        ("/* x */ alter table t rename key a to b, algorithm=instant", ["rename_index", "algorithm_instant"]),
        ("CREATE TABLE t (g POINT NOT NULL SRID 4326)", ["srid"]),
        ("CREATE TABLE t (a INT, CHECK (a > 0) NOT ENFORCED)", ["not_enforced", "checks"]),
        ("CREATE TABLE t (a INT, b INT, KEY k (a, b(3) DESC))", ["descending_keys"]),
        ("CREATE TABLE t (a INT, `desc` INT, KEY k (a))", []),
        ("CREATE TABLE t (a INT, b VARCHAR(9), KEY k (a, b(3)) INVISIBLE)", ["invisible_keys"]),
        ("ALTER TABLE t ALTER INDEX k VISIBLE", ["invisible_keys"]),
        ("CREATE TABLE t (a INT PRIMARY KEY INVISIBLE, b VARCHAR(9) INVISIBLE, KEY k (a), c INT INVISIBLE)", []),
        ("CREATE INDEX k ON t (a) IGNORED", ["ignored_keys"]),
        ("CREATE DATABASE d ENCRYPTION='N'", ["encrypted_databases"]),
        ("CREATE OR REPLACE TABLE t (a INT)", ["create_or_replace"]),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", []),
        ("ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT", ["conditional_alter"]),
        ("CREATE TABLE IF NOT EXISTS t (a INT)", []),
        ("DROP TABLE IF EXISTS t", []),
        ("CREATE SEQUENCE s", ["sequences"]),
        ("CREATE TABLE t (a INT) WITH SYSTEM VERSIONING", ["system_versioning"]),
        ("CREATE TABLE t (a INT, b INT AS (a) PERSISTENT)", ["persistent_columns"]),
        ("CREATE TABLE t (a INT) ENGINE=Aria PAGE_CHECKSUM=1", ["mariadb_table_options"]),
        ("INSERT INTO t VALUES ('ALGORITHM=INSTANT') -- srid 4", []),
    ],
)
def test_the_words_of_a_statement_tell_what_a_replica_needs(sql: str, found: list[str]) -> None:
    assert list(features_of_statement(sql)) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    ["ALTER TABLE t " + "add a key (" * 20000, "CREATE TABLE t (" + "key k (a(1), b) " * 20000, "/* */ " * 30000],
)
def test_a_long_statement_takes_no_time(sql: str) -> None:
    before = time.process_time()
    assert list(features_of_statement(sql)) == []
    assert time.process_time() - before < 5


def test_a_replica_that_does_not_parse_a_statement_stops_there() -> None:
    scenario = Scenario(
        scenario="t", server="mysql-9.7", tables=["CREATE TABLE d.t (a INT PRIMARY KEY) CHARACTER SET latin1"]
    ).transaction(ddl("ALTER TABLE d.t RENAME COLUMN a TO b"))
    made = plan(scenario)
    found = compatibility(made, [write_binlog(compile_plan(made))], "mariadb-10.2")
    (finding,) = [finding for finding in found.findings if finding.feature == "rename_column"]
    assert (finding.effect, finding.consumer, finding.since) == ("refuse", "replica", "MariaDB 10.5.2 or later")


def test_status_variables_of_load_data_count_as_those_of_queries() -> None:
    path = Path(corpora_dir()) / "recordings" / "statements" / "load-data-statement" / "mysql-9.7"
    tables, uses = TableMaps(), set()
    for one in logged_events((path / "binlog.000001").read_bytes()):
        if one.placed.event.type_name == "EXECUTE_LOAD_QUERY":
            uses |= {use.feature for use in event_uses(one, tables, server_line("mysql-5.5"))}
            seen = as_seen(one.placed.event, server_line("mysql-5.5")).body
            assert isinstance(seen, ExecuteLoadQuery)
            assert "default_collation_for_utf8mb4" not in dict(seen.status_variables)
    assert {"default_collation_for_utf8mb4", "collation_of_session"} <= uses


FAR = "CREATE TABLE d.t (id INT PRIMARY KEY, {column} TIMESTAMP{digits} NULL)"


@pytest.mark.parametrize("digits", ["", "(6)"])
@pytest.mark.parametrize("kind", ["insert", "update", "delete"])
def test_a_timestamp_after_2038_stops_replicas_of_before_mariadb_11_4(digits: str, kind: str) -> None:
    for value, stops in (("2038-01-19 03:14:07", False), ("2038-01-19 03:14:08", True)):
        before, after = (("2001-01-01 00:00:00", value), (value, "2001-01-01 00:00:00"))[kind == "delete"]
        scenario = Scenario("far", server="mariadb-11.8", tables=[FAR.format(column="at", digits=digits)])
        scenario = scenario.transaction(insert("d.t", {"id": 1, "at": value if kind == "insert" else before}))
        if kind == "update":
            scenario = scenario.transaction(update("d.t", where={"id": 1}, set={"at": after}))
        if kind == "delete":
            scenario = scenario.transaction(delete("d.t", where={"id": 1}))
        planned = plan(scenario)
        files = [write_binlog(events) for events in compile_files(planned)]
        for consumer, old in (("mariadb-10.11", True), ("mariadb-11.4", False), ("mariadb-11.8", False)):
            report = compatibility(planned, files, consumer)
            assert any(one.feature == "far_timestamps" for one in report.findings) == (stops and old)
            assert (report.replica_stops is not None) == (stops and old)


def test_a_log_alone_says_of_definitions_what_its_scenario_says() -> None:
    table = (
        "CREATE TABLE d.t (id INT PRIMARY KEY, u UUID, i INET6, v INT INVISIBLE, w VECTOR(3),"
        " c VARCHAR(9) COLLATE utf8mb4_uca1400_ai_ci)"
    )
    for scenario in (
        Scenario("newer", server="mariadb-11.8", tables=[table]).ddl("ALTER TABLE d.t COLLATE uca1400_as_cs"),
        Scenario("newer", server="mysql-9.7", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v VECTOR, j JSON)"]),
    ):
        planned = plan(scenario)
        files = [write_binlog(events) for events in compile_files(planned)]
        for consumer in ("mariadb-10.2", "mariadb-10.5", "mariadb-10.11", "mysql-5.6", "mysql-8.0"):
            told, seen = compatibility(planned, files, consumer), compatibility_of_logs(files, consumer)
            assert [(finding.feature, finding.events[0]) for finding in seen.findings] == [
                (finding.feature, finding.events[0]) for finding in told.findings
            ]
            assert seen.replica_stops == told.replica_stops


@pytest.mark.parametrize(
    ("collation", "first"), [("utf8mb4_uca1400_ai_ci", (10, 10)), ("latin1_swedish_nopad_ci", (10, 2))]
)
def test_a_line_of_mariadb_has_the_collations_of_its_release(collation: str, first: tuple[int, int]) -> None:
    text = f"CREATE TABLE d.t (c CHAR(1)) COLLATE {collation}"
    planned = plan(Scenario("one", server="mariadb-11.8", tables=[text]))
    files = [write_binlog(events) for events in compile_files(planned)]
    for name in server_names():
        if not name.startswith("mariadb-"):
            continue
        release = tuple(int(part) for part in name.split("-")[1].split("."))
        found = [one for one in compatibility(planned, files, name).findings if one.feature == "collation_of_column"]
        assert bool(found) == (release < first), name


def test_a_long_name_of_a_user_stops_replicas_that_do_not_take_it() -> None:
    for length, stopped in ((16, ()), (17, ("mysql-5.6",)), (32, ("mysql-5.6",)), (33, ("mysql-5.6", "mysql-9.7"))):
        text = f"CREATE USER '{'u' * length}'@'localhost'"
        planned = plan(Scenario("users", server="mariadb-10.11").transaction(logged(text)))
        files = [write_binlog(events) for events in compile_files(planned)]
        for consumer in ("mysql-5.6", "mysql-9.7", "mariadb-10.2"):
            names = {finding.feature for finding in compatibility_of_logs(files, consumer).findings}
            assert any(str(name).startswith("user_names") for name in names) == (consumer in stopped)
