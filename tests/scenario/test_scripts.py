"""SQL scripts as scenarios: what each statement becomes, and where its errors stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.cli.app import run
from forge.errors import ForgeError
from forge.scenario import plan
from forge.scenario.matrix import base_scenario, document

TABLE = "CREATE DATABASE d;\nUSE d;\nCREATE TABLE t (id INT PRIMARY KEY, v INT);\n"


def _transactions(text: str) -> list[Any]:
    """The transactions behind those that make the table."""
    return list(document(TABLE + text, file="s.sql")["transactions"][2:])


def _one(sql: str) -> Any:
    (transaction,) = _transactions(sql)
    (statement,) = transaction
    assert statement.pop("query") == sql
    return statement


def test_the_head_has_the_fields_of_the_scenario() -> None:
    tree = document("-- forge: server: mariadb-11.8\n-- forge: session: {gtid: true}\n" + TABLE, file="dir/shop.sql")
    assert tree["scenario"] == "shop"
    assert tree["server"] == "mariadb-11.8"
    assert tree["session"] == {"gtid": True}


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        ("INSERT INTO t VALUES (1, -2)", {"insert": {"into": "t", "rows": [[1, -2]]}}),
        ("INSERT t (id) VALUES (1)", {"insert": {"into": "t", "rows": [{"id": 1}]}}),
        ("REPLACE INTO d.t SET id = 1", {"replace": {"into": "d.t", "rows": [{"id": 1}]}}),
        ("INSERT INTO t VALUES (1, 1 + 1)", {"insert": {"into": "t", "rows": [[1, {"sql": "1 + 1"}]]}}),
        (
            "INSERT INTO t VALUES (1, 2) ON DUPLICATE KEY UPDATE v = VALUES(v)",
            {"insert": {"into": "t", "rows": [[1, 2]], "on_duplicate_key_update": {"v": {"values": "v"}}}},
        ),
        (
            "UPDATE t SET v = v + 1 WHERE id > 1",
            {"update": {"table": "t", "set": {"v": {"sql": "v + 1"}}, "where": "id > 1"}},
        ),
        ("DELETE FROM t", {"delete": {"from": "t"}}),
    ],
)
def test_statements_on_rows(sql: str, statement: Any) -> None:
    assert _one(sql) == statement


def test_a_transaction_holds_its_statements() -> None:
    (entry,) = _transactions("BEGIN; DELETE FROM t; SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; COMMIT;")
    assert [next(iter(one)) for one in entry["statements"]] == ["delete", "savepoint", "delete", "rollback_to"]
    assert entry["explicit"]


def test_without_autocommit_statements_wait_for_a_commit() -> None:
    (entry,) = _transactions("SET autocommit = 0; DELETE FROM t; DELETE FROM t; COMMIT;")
    assert len(entry["statements"]) == 2


def test_definitions_end_an_open_transaction() -> None:
    first, second = _transactions("BEGIN; DELETE FROM t; CREATE TABLE u (a INT); ROLLBACK;")
    assert first == {"statements": first["statements"], "explicit": True}
    assert second == [{"ddl": "CREATE TABLE u (a INT)"}]


def test_what_is_open_at_the_end_is_rolled_back() -> None:
    (entry,) = _transactions("BEGIN; DELETE FROM t;")
    assert entry["end"] == "rollback"


def test_clients_take_turns() -> None:
    first, second, third = _transactions(
        "-- forge: connection: a\nBEGIN; DELETE FROM t WHERE id = 1;\n"
        "-- forge: connection: b\nDELETE FROM d.t WHERE id = 2;\n"
        "-- forge: connection: a\nDELETE FROM t WHERE id = 3; COMMIT;"
    )
    assert (first["connection"], first["end"]) == ("a", "open")
    assert second["connection"] == "b"
    assert (third["connection"], third["explicit"]) == ("a", True)


def test_set_changes_settings_and_user_variables() -> None:
    changed, inserted = _transactions("SET binlog_row_image = MINIMAL, @x = 7; INSERT INTO t VALUES (@x, @y);")
    assert changed == [{"set": {"row_image": "minimal"}}]
    assert inserted[0]["insert"]["rows"] == [[7, None]]


def test_what_set_saved_comes_back() -> None:
    changed, back = _transactions("SET @old = @@sql_mode, sql_mode = 'ANSI_QUOTES'; SET sql_mode = @old;")
    assert changed == [{"set": {"sql_mode": "ANSI_QUOTES"}}]
    assert back == [{"set": {"sql_mode": None}}]


def test_a_prepared_statement_is_the_one_that_runs() -> None:
    (entry,) = _transactions("PREPARE s FROM 'DELETE FROM t'; EXECUTE s; DEALLOCATE PREPARE s;")
    assert entry == [{"delete": {"from": "t"}, "query": "DELETE FROM t"}]


@pytest.mark.parametrize(
    "sql", ["SELECT 1", "SHOW TABLES", "DO SLEEP(0)", "SET TRANSACTION READ ONLY", "UNLOCK TABLES"]
)
def test_a_log_shows_nothing_of_what_only_asks(sql: str) -> None:
    assert _transactions(sql) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("INSERT INTO t VALUES (1, 2);\nINSERT INTO t VALUES (1, 3);", "s.sql:5"),
        ("DELETE FROM t WHERE\n  nothing = 1;", "s.sql:4"),
        ("COMMIT;\nDELETE FRM t;", "s.sql:5"),
        ("COMMIT;\nCREATE TABLE u (\n  a INT,\n  b NOTHING);", "s.sql:7"),
        ("COMMIT;\n\nSELECT 'a", "s.sql:6"),
    ],
)
def test_an_error_stands_at_its_line(text: str, place: str) -> None:
    with pytest.raises(ForgeError, match=f"^{place}:"):
        plan(base_scenario(TABLE + text, file="s.sql"))


def test_a_script_and_its_yaml_make_the_same_log(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text(TABLE + "INSERT INTO t VALUES (1, 2), (2, 3);\nUPDATE t SET v = 4 WHERE id = 2;\n")
    for command in (
        ["scenario", str(script), "-o", str(tmp_path / "s.yaml")],
        ["build", str(script), "-o", str(tmp_path / "a")],
        ["build", str(tmp_path / "s.yaml"), "-o", str(tmp_path / "b")],
    ):
        run(command)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
