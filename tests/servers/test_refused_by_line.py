"""What a line refuses by name because its server lacks it: settings, clauses of definitions, words of statements."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import plan
from forge.scenario.matrix import base_scenario
from tests.servers.test_lines import log_of

#: Settings, and the lines with real servers that lack them (recorded: SET on each of them).
_OLD_MARIADB = frozenset(("mariadb-10.1", "mariadb-10.2", "mariadb-10.5"))
_MARIADB = _OLD_MARIADB | {"mariadb-10.11", "mariadb-11.4", "mariadb-11.8"}
_OLD_MYSQL = frozenset(("mysql-5.5", "mysql-5.6", "mysql-5.6.14"))
_MYSQL = _OLD_MYSQL | {"mysql-8.0", "mysql-9.7"}
LACKING: list[tuple[dict[str, Any], frozenset[str]]] = [
    ({"row_image": "minimal"}, frozenset({"mysql-5.5"})),
    ({"row_image": "noblob"}, frozenset({"mysql-5.5"})),
    ({"row_value_options": "PARTIAL_JSON"}, _OLD_MYSQL | _MARIADB),
    ({"row_metadata": "full"}, _OLD_MYSQL | {"mariadb-10.1", "mariadb-10.2"}),
    ({"rows_query": True}, frozenset({"mysql-5.5"})),
    ({"binlog_format": "mixed"}, frozenset()),
    ({"gtid": True}, frozenset({"mysql-5.5"})),
    ({"gtid": True, "gtid_tag": "a"}, _OLD_MYSQL | _MARIADB | {"mysql-8.0"}),
    ({"gtid_domain_id": 1}, _MYSQL),
    ({"binlog_transaction_dependency_tracking": "COMMIT_ORDER"}, _OLD_MYSQL | _MARIADB | {"mysql-9.7"}),
    ({"transaction_write_set_extraction": "XXHASH64"}, _OLD_MYSQL | _MARIADB | {"mysql-9.7"}),
    ({"log_bin_use_v1_row_events": True}, _MARIADB | {"mysql-5.5", "mysql-9.7"}),
    ({"checksum": "crc32"}, frozenset({"mysql-5.5"})),
    ({"compression": True}, _OLD_MYSQL | _MARIADB),
    ({"log_bin_compress": True}, _MYSQL | {"mariadb-10.1"}),
    ({"binlog_legacy_event_pos": True}, _MYSQL | _OLD_MARIADB | {"mariadb-10.11"}),
    ({"generate_invisible_primary_key": True}, _OLD_MYSQL | _MARIADB),
    ({"sql_require_primary_key": True}, _OLD_MYSQL | _MARIADB),
    ({"default_table_encryption": True}, _OLD_MYSQL | _MARIADB),
    ({"default_collation_for_utf8mb4": "utf8mb4_general_ci"}, _OLD_MYSQL | _MARIADB),
    ({"binlog_alter_two_phase": True}, _MYSQL | _OLD_MARIADB),
    ({"check_constraint_checks": False}, _MYSQL | {"mariadb-10.1"}),
    ({"skip_replication": True}, _MYSQL),
    ({"skip_parallel_replication": True}, _MYSQL),
    ({"mysql56_temporal_format": False}, _MYSQL),
    ({"timestamp": "2024-02-29 12:00:00.5"}, frozenset({"mysql-5.5"})),
    ({"time_zone": "+14:00"}, _OLD_MYSQL | _MARIADB),
    ({"names": "gb18030"}, _OLD_MYSQL | _MARIADB),
    ({"lc_time_names": "rm_CH"}, frozenset({"mysql-5.5"})),
    ({"lc_time_names": "ka_GE"}, _MYSQL | _OLD_MARIADB),
    ({"sql_mode": "TIME_TRUNCATE_FRACTIONAL"}, _OLD_MYSQL | _MARIADB),
    ({"sql_mode": "TIME_ROUND_FRACTIONAL"}, _MYSQL | {"mariadb-10.1", "mariadb-10.2"}),
    ({"sql_mode": "NO_AUTO_CREATE_USER"}, frozenset({"mysql-8.0", "mysql-9.7"})),
    ({"sql_mode": "INTERPRET_UTF8_AS_UTF8MB4"}, _OLD_MYSQL | _MARIADB | {"mysql-8.0"}),
    ({"ndb_transaction_id": 1}, _MYSQL | _MARIADB),
]


@pytest.mark.parametrize(("settings", "lacking"), LACKING, ids=[str(settings) for settings, _ in LACKING])
def test_a_setting_is_refused_by_name_on_every_line_whose_server_lacks_it(
    settings: dict[str, Any], lacking: frozenset[str]
) -> None:
    refused = set()
    for name in sorted(_MYSQL | _MARIADB):
        try:
            log_of(name, **settings)
        except ScenarioError as error:
            refused.add(name)
            assert name in error.problem, str(error)
    assert refused == lacking


CLAUSES = [
    f"{line}\t".split("\t")[:3] for line in (Path(__file__).with_name("clauses.tsv")).read_text().splitlines()[1:]
]
_TABLES = """
  - CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY k (v))
  - CREATE TABLE d.q (id INT PRIMARY KEY, v INT)
  - CREATE TABLE d.p (id INT PRIMARY KEY, v INT)
      PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)
  - CREATE TABLE d.c (id INT PRIMARY KEY, v INT, CONSTRAINT cc CHECK (v > 0))
"""


#: The lines whose servers took, or refused, clauses.
_TRIED = ("mariadb-10.1", "mariadb-10.2", "mariadb-10.5", "mysql-5.5", "mysql-5.6", "mysql-8.0")


@pytest.mark.slow
@pytest.mark.parametrize("name", _TRIED)
def test_a_clause_is_refused_where_a_server_of_the_line_refuses_it(name: str) -> None:
    """Columns, keys, options and statements, as the real server of the line took them."""
    answers = Counter[bool | None]()
    for clause, lines, taken_here in CLAUSES:
        taken = None if f"{name}?" in lines else is_taken(name, clause)
        answers[taken] += 1
        assert taken is None or taken == (name in [*lines.split(), *taken_here.split()]), clause
    assert answers[True] > 40
    assert answers[False] > 30


def is_taken(name: str, clause: str) -> bool | None:
    """Whether the line takes the statement; None if this version does not support it."""
    trigger = [[{"ddl": "CREATE TRIGGER d.f BEFORE INSERT ON d.t FOR EACH ROW SET @x = 1"}]]
    scenario = {
        "scenario": "clause",
        "server": name,
        "tables": yaml.safe_load(_TABLES),
        "transactions": [
            [{"insert": {"into": "d.t", "rows": [{"id": 1, "v": 1}, {"id": 2, "v": 2}]}}],
            *(trigger if "FOLLOWS" in clause else []),
            [{"ddl": clause}],
        ],
    }
    try:
        plan(base_scenario(yaml.safe_dump(scenario)))
    except UnsupportedError:
        return None
    except ScenarioError:
        return False
    return True


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("INSERT INTO d.t (id, v) WITH c AS (SELECT 9 AS a) SELECT a, a FROM c", "mariadb-10.2 mariadb-10.5 mysql-8.0"),
        ("INSERT INTO d.t SELECT 9, ROW_NUMBER() OVER (ORDER BY id) FROM d.q", "mariadb-10.2 mariadb-10.5 mysql-8.0"),
        ("INSERT INTO d.t VALUES (9, 9) AS n ON DUPLICATE KEY UPDATE v = n.v", "mysql-8.0"),
        ("INSERT INTO d.t VALUES ROW(9, 9)", "mysql-8.0"),
        ("INSERT INTO d.t VALUES (9, 9) RETURNING id", "mariadb-10.5"),
        ("INSERT INTO d.t SELECT 9, 9 EXCEPT SELECT 7, 7", "mariadb-10.5 mysql-8.0"),
        ("INSERT INTO d.t PARTITION (p0) VALUES (9, 9)", "mariadb-10.1 mariadb-10.2 mariadb-10.5 mysql-5.6 mysql-8.0"),
        ("INSERT INTO d.t VALUES (9, 9)", "mariadb-10.1 mariadb-10.2 mariadb-10.5 mysql-5.5 mysql-5.6 mysql-8.0"),
    ],
)
def test_a_text_of_a_change_is_refused_where_a_server_of_the_line_refuses_it(query: str, lines: str) -> None:
    taking = set()
    for name in _TRIED:
        text = "scenario: x\ntables:\n  - CREATE TABLE d.t (id INT PRIMARY KEY, v INT)\ntransactions:\n"
        text += f"  - - insert: {{into: d.t, rows: [{{id: 9, v: 9}}]}}\n      query: {query}\n"
        try:
            log_of(name, text)
        except ScenarioError as error:
            assert name in error.problem, str(error)
        else:
            taking.add(name)
    assert taking == set(lines.split())
