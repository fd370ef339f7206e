"""forge compat: what a consumer of another line makes of a log, and that the readers at hand do just that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.binlog import write_binlog
from forge.check.canonical import canonical_events
from forge.check.compare import check
from forge.check.compat import Report, compatibility, summary
from forge.check.decoders import decoder
from forge.cli.app import run
from forge.compile import compile_files
from forge.scenario import event, plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_names
from forge.servers.features import Feature, features

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


@pytest.mark.parametrize("name", [name for name in server_names() if name != "mysql-5.0"])
def test_a_line_reads_all_of_its_own_log(name: str) -> None:
    planned, files = made(name)
    own = compatibility(planned, files, name)
    assert own.findings == []
    assert (own.reader_stops, own.replica_stops) == (None, None)
    assert (own.read, own.skipped, own.rows_seen) == (own.events, 0, 2)
    decode = [{key: value for key, value in event.items() if key != "file"} for event in own.decode]
    assert decode == list(canonical_events(files[0]))


def test_a_5_5_stops_at_whatever_it_does_not_know() -> None:
    found = report("mysql-9.7", "mysql-5.5", gtid=True, rows_query=True)
    assert effects(found) | {
        "checksums": "refuse", "gtid": "refuse", "rows_query": "refuse", "rows_v2": "refuse",
        "collation_of_session": "refuse", "row_metadata": "ignore", "default_collation_for_utf8mb4": "ignore",
    } == effects(found)  # fmt: skip
    assert found.reader_stops is not None
    assert (found.reader_stops.type, found.rows_seen) == ("FORMAT_DESCRIPTION", 0)
    # Without checksums it comes as far as the first type that it does not know, flag IGNORABLE or not.
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
    assert "nothing in it is new or foreign" in "".join(summary(report("mysql-5.7", "mysql-9.7")))


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
    text = (Path(__file__).resolve().parents[2] / "docs" / "compat.md").read_text()
    missing = [row(feature) for feature in features().values() if row(feature) not in text]
    assert missing == [], "docs/compat.md needs these rows:\n" + "\n".join(missing)
