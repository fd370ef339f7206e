"""Server lines and the table of features: what each line writes, and what it refuses, by since when it exists."""

from __future__ import annotations

import re
from typing import Any

import pytest

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.errors import ScenarioError
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.registry import EVENT_NAMES, EVENT_TYPES, features_of_type, knows_type
from forge.scenario import plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_line, server_names
from forge.servers.features import features, release

SCENARIO = """
scenario: older
tables:
  - CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, at DATETIME)
transactions:
  - - insert: {into: t.a, rows: [{id: 1, at: '2024-02-29 12:34:56'}]}
    - update: {table: t.a, where: {id: 1}, set: {at: '1999-12-31 23:59:59'}}
"""


def log_of(server: str, text: str = SCENARIO, **settings: Any) -> bytes:
    replaced = {"server": server} | {f"session.{name}": value for name, value in settings.items()}
    return write_binlog(compile_plan(plan(base_scenario(text, settings=replaced))))


@pytest.mark.parametrize("name", [name for name in server_names() if server_line(name).post_header_bytes])
def test_a_line_counts_its_event_types_in_its_own_format_description(name: str) -> None:
    # The entry for type 15 is the event's own length without algorithm and checksum, modulo 256.
    lengths = server_line(name).post_header_bytes
    assert lengths[14] == (57 + len(lengths)) % 256
    assert lengths[1] == 13


@pytest.mark.parametrize("name", [name for name in server_names() if server_line(name).knows("row_events")])
def test_every_line_with_row_events_writes_a_file_that_is_read_back(name: str) -> None:
    data = log_of(name)
    events = list(read_events(data))
    description = events[0].event.body
    assert isinstance(description, FormatDescription)
    line = server_line(name)
    assert (description.checksum_algorithm is not None) == line.knows("checksum_algorithm")
    versions = {
        "V1" if event.event.type_name.endswith("_V1") else "V2" for event in events if "_ROWS" in event.event.type_name
    }
    assert versions == {f"V{line.rows.version}"}


# Sizes that the format reference gives, read in files of these servers, checksum included.
@pytest.mark.parametrize(
    ("name", "first_event", "gtid_event"),
    [("mysql-5.1", 102, None), ("mysql-5.5", 103, None), ("mysql-5.6", 116, 48), ("mysql-5.7", 119, 65),
     ("mysql-8.0", 122, 77), ("mysql-8.4", 123, 77), ("mariadb-10.2", 252, None)],
)  # fmt: skip
def test_events_have_the_sizes_of_their_line(name: str, first_event: int, gtid_event: int | None) -> None:
    asked: dict[str, Any] = {"gtid": True} if server_line(name).knows("gtid") else {}
    events = list(read_events(log_of(name, **asked)))
    assert len(events[0].raw) == first_event
    gtids = [len(event.raw) for event in events if isinstance(event.event.body, AnonymousGtid)]
    assert (gtids[0] if gtids else None) == gtid_event


def test_a_begin_of_mysql_5_has_four_status_variables() -> None:
    # 107 to 175 with the database "test" in public listings of 5.5, 219 to 291 in those of 5.7.
    text = SCENARIO.replace("t.a", "test.a")
    for name, size in (("mysql-5.5", 68), ("mysql-5.7", 72)):
        begins = [event for event in read_events(log_of(name, text)) if event.raw[-10:].count(b"BEGIN")]
        assert [len(event.raw) for event in begins] == [size]


@pytest.mark.parametrize(
    ("name", "setting", "value", "sentence"),
    [
        ("mysql-5.5", "row_image", "minimal", "mysql-5.5 does not have row images without some columns"),
        ("mysql-5.5", "gtid", True, "mysql-5.5 does not have GTID"),
        ("mysql-5.5", "rows_query", True, "mysql-5.5 does not have ROWS_QUERY"),
        ("mysql-5.5", "checksum", "crc32", "mysql-5.5 does not have checksums"),
        ("mysql-5.7", "row_metadata", "full", "mysql-5.7 does not have optional metadata"),
        ("mysql-5.7", "compression", True, "mysql-5.7 does not have TRANSACTION_PAYLOAD"),
        ("mysql-8.0", "gtid_tag", "abc", "mysql-8.0 does not have GTIDs with a tag"),
        ("mariadb-10.2", "row_metadata", "full", "mariadb-10.2 does not have optional metadata"),
        ("mysql-5.5", "mysql56_temporal_format", False, "mysql-5.5 does not have a setting for the format of TIME"),
    ],
)  # fmt: skip
def test_a_setting_that_the_line_lacks_is_refused(name: str, setting: str, value: Any, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        log_of(name, **{setting: value})


@pytest.mark.parametrize(
    ("name", "column", "sentence"),
    [
        ("mysql-5.5", "JSON", "JSON columns; expected MySQL 5.7.8 or later"),
        ("mysql-5.5", "DATETIME(3)", "fractional seconds .*; expected MySQL 5.6.4 or later"),
        ("mysql-5.5", "DATETIME DEFAULT CURRENT_TIMESTAMP", "DATETIME DEFAULT CURRENT_TIMESTAMP; expected MySQL 5.6.5"),
        ("mysql-5.6", "INT AS (id)", "generated columns; expected MySQL 5.7.6 or later"),
        ("mysql-5.7", "INT DEFAULT (1 + 1)", "expressions as defaults; expected MySQL 8.0.13 or later"),
        ("mysql-5.7", "INT INVISIBLE", "invisible columns; expected MySQL 8.0.23 or later"),
        ("mysql-8.4", "VECTOR(3)", "VECTOR columns; expected MySQL 9.0.0 or later"),
        ("mysql-5.1", "VARCHAR(5) CHARACTER SET utf8mb4", "utf8mb4; expected MySQL 5.5.3 or later"),
        ("mysql-5.7", "VARCHAR(5) COLLATE utf8mb4_0900_ai_ci", "unknown collation 'utf8mb4_0900_ai_ci'"),
        ("mysql-9.7", "UUID", "UUID columns; expected MariaDB 10.7.1 or later"),
        ("mariadb-10.6", "UUID", "UUID columns; expected MariaDB 10.7.1 or later"),
        ("mariadb-10.11", "VECTOR(3)", "VECTOR columns; expected MariaDB 11.7.1 or later"),
    ],
)  # fmt: skip
def test_a_column_that_the_line_lacks_is_refused(name: str, column: str, sentence: str) -> None:
    text = SCENARIO.replace("at DATETIME)", f"at DATETIME, other {column})")
    with pytest.raises(ScenarioError, match=sentence) as caught:
        log_of(name, text)
    assert caught.value.line == 4


def test_row_statements_need_row_events() -> None:
    with pytest.raises(ScenarioError, match=r"6: mysql-5\.0 does not have row events .* expected MySQL 5\.1\.5"):
        log_of("mysql-5.0")


#: The settings that ask for events which not all lines have.
ASKING: tuple[dict[str, Any], ...] = (
    {"gtid": True}, {"rows_query": True}, {"compression": True}, {"log_bin_compress": True}, {"gtid_tag": "tag"},
    {"row_value_options": "PARTIAL_JSON"}, {"binlog_format": "statement"}, {},
)  # fmt: skip
XA = """
  - {statements: [{insert: {into: t.a, rows: [{id: 2}]}}], xa: {gtrid: g}}
  - {statements: [{insert: {into: t.a, rows: [{id: 3}]}}], xa: {gtrid: h, one_phase: true}}
  - {statements: [{insert: {into: t.a, rows: [{id: 4}]}}], xa: {gtrid: i, end: prepared}}
  - {xa_commit: {gtrid: i}}
  - {statements: [{insert: {into: t.a, rows: [{id: 5}]}}], xa: {gtrid: j, end: rollback}}
"""
TEXTS = """
  - - load_data: {into: t.a, columns: [id], rows: [[9]]}
  - - update: {table: t.a, where: {id: 9}, set: {at: '2001-01-01 00:00:00'}}
      query: "UPDATE a SET at = @v WHERE id = 9 AND RAND() < 2"
      user_variables: {v: '2001-01-01 00:00:00'}
      rand_seeds: [1, 2]
"""


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKING, ids=str)
@pytest.mark.parametrize("more", ["", XA, TEXTS], ids=["rows", "xa", "texts"])
def test_no_line_writes_an_event_that_it_does_not_know(asked: dict[str, Any], more: str) -> None:
    written = 0
    for name in server_names():
        line = server_line(name)
        try:
            events = list(read_events(log_of(name, SCENARIO + more, **asked)))
        except ScenarioError as error:
            # By name: the line, and what it lacks.
            assert name in error.problem, str(error)
            assert error.expected
            continue
        written += 1
        assert [event.event.type_name for event in events if not knows_type(line, event.event.type_code)] == []
    assert written >= (1 if asked else 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", server_names())
def test_events_that_a_line_does_not_know_are_refused_by_name(name: str) -> None:
    line = server_line(name)
    for code, type_name in EVENT_NAMES.items():
        if type_name in ("UNKNOWN", "FORMAT_DESCRIPTION", "START_V3"):
            continue
        text = f"scenario: placed\ntransactions:\n  - - event: {{type: {type_name}}}\n"
        if knows_type(line, code):
            log_of(name, text)
            continue
        with pytest.raises(
            ScenarioError, match=rf"3: {re.escape(name)} does not have {type_name} \({code}\); expected "
        ):
            log_of(name, text)
        # A number is any type, and a file may list what its server does not know.
        log_of(name, text.replace(f"type: {type_name}", f"type: {code}"))
        listed = text.replace(type_name, f"{type_name}, post_header_length: 0")
        if line.post_header_bytes:
            log_of(name, listed)
            continue
        with pytest.raises(ScenarioError, match="list no event types"):
            log_of(name, listed)


@pytest.mark.parametrize("name", ["mysql-5.1", "mysql-5.6", "mariadb-10.0", "mariadb-10.4"])
@pytest.mark.parametrize(
    ("ends", "logged"),
    [("one_phase: true", 1), ("end: commit", 1), ("end: rollback", 0), ("end: prepared", 0),
     ("end: prepared}}\n  - {xa_commit: {gtrid: g", 1), ("end: prepared}}\n  - {xa_rollback: {gtrid: g", 0)],
)  # fmt: skip
def test_xa_before_xa_prepare_is_an_ordinary_group_at_its_commit(name: str, ends: str, logged: int) -> None:
    xa = f"  - {{statements: [{{insert: {{into: t.a, rows: [{{id: 2}}]}}}}], xa: {{gtrid: g, {ends}}}}}\n"
    found = [event.event for event in read_events(log_of(name, SCENARIO + xa))]
    plain = [event.event for event in read_events(log_of(name))]
    assert len(found) - len(plain) == logged * 4
    if logged:
        # The external number is none of the server's own: no XID, even for InnoDB.
        assert found[-2].body.query == "COMMIT"  # type: ignore[attr-defined]


def test_a_prepared_transaction_before_xa_prepare_ends_in_its_own_session() -> None:
    xa = "  - {statements: [{insert: {into: t.a, rows: [{id: 2}]}}], xa: {gtrid: g, end: prepared}}\n"
    for after in ("- insert: {into: t.a, rows: [{id: 3}]}", "- restart: clean"):
        with pytest.raises(ScenarioError, match=r"1399"):
            log_of("mysql-5.6", SCENARIO + xa + "  - " + after + "\n")


def test_a_line_without_strict_mode_clips() -> None:
    text = SCENARIO.replace("at: '2024-02-29 12:34:56'", "at: 'no date'")
    assert log_of("mysql-5.6", text)
    with pytest.raises(ScenarioError):
        log_of("mysql-5.7", text)


def test_every_feature_has_a_release_or_is_asked_for_by_name() -> None:
    for name, feature in features().items():
        dated = [text for text in (feature.mysql, feature.mysql_until, feature.mariadb) if text is not None]
        assert all(release(text) > (0, 0, 0) for text in dated), name
        assert dated or feature.setting or name.startswith(("collation_of_", "private_")), name
        assert feature.source, name
        assert not feature.reason.endswith("."), name


def test_features_that_events_need_are_in_the_table() -> None:
    needed = {name for code in EVENT_TYPES for name in features_of_type(code)}
    assert needed - set(features()) == set()
    assert {name for line in server_names() for name in server_line(line).framing.private_features} - set(
        features()
    ) == set()


def test_an_unknown_version_text_has_no_features() -> None:
    assert release("somewhere") == (0, 0, 0)
    assert release("5.7.44-log") == (5, 7, 44)


@pytest.mark.parametrize(("name", "text"), [("mysql-5.1", "DROP TABLE t.a"), ("mysql-5.5", "DROP TABLE `a` /* gen")])
def test_drop_table_is_in_the_server_s_own_words_from_5_5_on(name: str, text: str) -> None:
    data = log_of(name, SCENARIO + "  - - ddl: DROP TABLE t.a\n")
    assert text.encode() in data


TRACKED = """
scenario: tracked
session: {database: d}
transactions:
  - - ddl: CREATE DATABASE d
  - - ddl: CREATE TABLE d.t (id INT PRIMARY KEY, v INT)
  - - set: {binlog_transaction_dependency_tracking: WRITESET}
  - - insert: {into: d.t, rows: [{id: 1, v: 1}]}
  - - insert: {into: d.t, rows: [{id: 2, v: 1}]}
  - - update: {table: d.t, where: {id: 1}, set: {v: 2}}
  - - set: {binlog_transaction_dependency_tracking: WRITESET_SESSION}
  - - update: {table: d.t, where: {id: 2}, set: {v: 2}}
  - - insert: {into: d.t, rows: [{id: 3, v: 1}]}
  - - insert: {into: d.t, rows: [{id: 4, v: 1}]}
  - - set: {binlog_transaction_dependency_tracking: WRITESET}
  - - insert: {into: d.t, rows: [{id: 5, v: 1}]}
  - - insert: {into: d.t, rows: [{id: 6, v: 1}]}
  - - set: {binlog_transaction_dependency_tracking: COMMIT_ORDER}
  - - insert: {into: d.t, rows: [{id: 7, v: 1}]}
  - - insert: {into: d.t, rows: [{id: 8, v: 1}]}
  - - set: {binlog_transaction_dependency_tracking: WRITESET}
  - - insert: {into: d.t, rows: [{id: 9, v: 1}]}
  - - update: {table: d.t, where: {id: 1}, set: {v: 12}}
  - - update: {table: d.t, where: {id: 8}, set: {v: 12}}
"""


def parents(data: bytes) -> list[int | None]:
    bodies = [event.event.body for event in read_events(data)]
    return [body.last_committed for body in bodies if isinstance(body, AnonymousGtid)]


def test_dependencies_follow_the_setting_which_forgets_keys_as_it_changes() -> None:
    # Recorded on 8.0.33.
    found = parents(log_of("mysql-8.0", TRACKED))
    assert found == [0, 1, 2, 2, 3, 5, 6, 7, 8, 8, 10, 11, 12, 12, 12]
    plain = "".join(line for line in TRACKED.splitlines(keepends=True) if "tracking" not in line)
    assert parents(log_of("mysql-8.0", plain)) == list(range(15))
    whole = {"binlog_transaction_dependency_tracking": "WRITESET"}
    assert parents(log_of("mysql-8.0", plain, **whole)) == parents(log_of("mysql-8.4", plain))
    asked = whole | {"transaction_write_set_extraction": "XXHASH64"}
    assert parents(log_of("mysql-5.7", plain, **asked)) == parents(log_of("mysql-8.4", plain))


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("mysql-8.4", {"binlog_transaction_dependency_tracking": "WRITESET"}, "8.4 does not have a setting for what"),
        ("mysql-5.6", {"binlog_transaction_dependency_tracking": "WRITESET"}, "5.6 does not have a setting for what"),
        ("mariadb-10.6", {"log_bin_use_v1_row_events": True}, "mariadb-10.6 does not have a setting for the version"),
        ("mysql-8.3", {"log_bin_use_v1_row_events": True}, "mysql-8.3 does not have a setting for the version"),
        ("mysql-5.5", {"log_bin_use_v1_row_events": True}, "mysql-5.5 does not have a setting for the version"),
        ("mysql-8.3", {"transaction_write_set_extraction": "OFF"}, "mysql-8.3 does not have a setting for how written"),
        ("mysql-8.0", {"log_bin_use_v1_row_events": True, "row_value_options": "PARTIAL_JSON"}, "cannot be read"),
    ],
)  # fmt: skip
def test_old_settings_are_those_of_their_lines(name: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        log_of(name, **settings)


def test_row_events_of_version_1_keep_partitions_apart_without_saying_so() -> None:
    # Recorded on 8.0.33 and 5.6.14 (which knows no partitions in events).
    text = SCENARIO.replace("at DATETIME)", "at DATETIME) PARTITION BY HASH(id) PARTITIONS 3")
    text = text.replace("rows: [", "rows: [{id: 2}, ")
    for name, count in (("mysql-8.0", 3), ("mysql-5.7", 2), ("mysql-5.6", 2)):
        found = [event.event for event in read_events(log_of(name, text, log_bin_use_v1_row_events=True))]
        rows = [event for event in found if "_ROWS" in event.type_name]
        assert [event.type_name.endswith("_V1") for event in rows] == [True] * count
