"""SQL scripts as scenarios: what each statement becomes, and where its errors stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.cli.app import run
from forge.errors import ForgeError, ScenarioError
from forge.located import load
from forge.logs import build
from forge.scenario import plan
from forge.scenario.matrix import base_scenario, document
from forge.scenario.script import scenario_text

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


LONG = "12345678901234567890123456789012345.123456789012345678901234567890"


@pytest.mark.parametrize("sign", ["-", "- ", "-(", "0 - ", "- - -", "-ABS(-"])
def test_a_negative_number_keeps_all_of_its_digits(sign: str) -> None:
    """Recorded on MySQL 9.7, MariaDB 10.11 and 11.8; Python's own sign keeps 28 digits."""
    script = "CREATE DATABASE d; USE d; CREATE TABLE t (b DECIMAL(65,30), v VARCHAR(9));"
    made = build(f"{script} INSERT INTO t VALUES ({sign}{LONG}{')' * sign.count('(')}, -0.0);", server="mysql-9.7")
    (row,) = made.rows
    assert row.after is not None
    assert [str(value) for value in row.after.values()] == [f"-{LONG}", "0.0"]


def test_a_text_with_a_zero_byte_is_no_number_in_hexadecimal() -> None:
    """A cell of a replica (tests.long.replicas) had 24832, where servers store 0 and, in UTF-16, the text."""
    script = """\
-- forge: session: {sql_mode: ''}
CREATE TABLE d.t (n INT, s VARCHAR(5) CHARACTER SET utf16);
INSERT INTO d.t VALUES ('a\\0', 'a\\0');
"""
    assert [row.after for row in build(script).rows] == [{"n": 0, "s": "a\0"}]


def test_literal_rows_are_what_the_parser_reads_of_them() -> None:
    literals = "(1, -2, 1.50, -0.0, 'a', '', NULL), (-7, 0, -.5, 00.10, 'b;', 'NULL', null)"
    plain = _one(f"INSERT INTO t VALUES {literals.replace('-.5', '-0.5')}")
    assert plain == _one(f"INSERT INTO t VALUES {literals}") == _one(f"INSERT t VALUES {literals}")


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


def test_version_comments_are_read_as_the_line_reads_them() -> None:
    text = "/*!40101 SET NAMES latin1 */;\n/*!99999 DROP TABLE t */;\n/*M!100100 DELETE FROM t */;"
    assert _transactions(text) == [[{"set": {"names": "latin1"}}]]
    tree = document(TABLE + text, file="s.sql", settings={"server": "mariadb-11.8"})
    assert tree["transactions"][-1] == [{"delete": {"from": "t"}, "query": "/*M!100100 DELETE FROM t */"}]


def test_what_a_comment_tells_of_rows_makes_any_statement_go_through(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text(
        TABLE + "INSERT INTO t VALUES (1, 1), (2, 2);\n"
        "-- forge: rows: [[7, 8]]\nINSERT INTO t SELECT * FROM elsewhere JOIN more;\n"
        "-- forge: affects: [2]\n-- forge: rows: [{v: 9}]\nUPDATE t SET v = (SELECT 9) WHERE unknown(v);\n"
        "-- forge: affects: [1]\nDELETE FROM t WHERE unknown(v);\n"
    )
    log = build(tmp_path / "s.sql")
    assert [(row["id"], row["v"]) for row in log.tables["d.t"]] == [(2, 9), (7, 8)]


def test_a_call_is_what_a_comment_says_that_it_does() -> None:
    (entry,) = _transactions("-- forge: statements: [DELETE FROM t]\nCALL p(1);")
    assert entry == [{"delete": {"from": "t"}, "query": "DELETE FROM t"}]


def test_what_a_server_rewrites_is_told_in_a_comment() -> None:
    (entry,) = _transactions("-- forge: logged: {text: CREATE USER 'a'@'%'}\nCREATE USER a IDENTIFIED BY 'x';")
    assert entry == [{"logged": {"text": "CREATE USER 'a'@'%'", "sent": "CREATE USER a IDENTIFIED BY 'x'"}}]


@pytest.mark.parametrize(
    ("sql", "entries"),
    [
        ("XA START 'a'; DELETE FROM t; XA END 'a'; XA COMMIT 'a' ONE PHASE", [{"gtrid": "a", "one_phase": True}]),
        (
            "XA START 'a', 'b', 3; DELETE FROM t; XA END 'a', 'b', 3; XA ROLLBACK 'a', 'b', 3",
            [{"gtrid": "a", "bqual": "b", "format_id": 3}],
        ),
        (
            "XA START 'a'; DELETE FROM t; XA END 'a'; XA PREPARE 'a'; XA COMMIT 'a'",
            [{"gtrid": "a", "end": "prepared"}, None],
        ),
    ],
)
def test_xa_transactions(sql: str, entries: list[Any]) -> None:
    assert [entry.get("xa") for entry in _transactions(sql)] == entries


def test_load_data_has_its_file_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;v\n1;2\n3;4\n")
    script = tmp_path / "s.sql"
    script.write_text(
        TABLE + "LOAD DATA LOCAL INFILE 'in.csv' INTO TABLE t FIELDS TERMINATED BY ';' IGNORE 1 LINES\n"
        "(id, @a) SET v = @a + 1;"
    )
    assert [row["v"] for row in build(script).tables["d.t"]] == [3, 5]


def test_source_reads_a_script_beside(tmp_path: Path) -> None:
    (tmp_path / "more.sql").write_text("INSERT INTO t VALUES (1, 2);\nINSERT INTO t VALUES (1, 2);\n")
    script = tmp_path / "s.sql"
    script.write_text(TABLE + "source more.sql\n")
    with pytest.raises(ForgeError, match=r"more\.sql:2:1: "):
        build(script)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("source s.sql", "4:1: source s.sql reads a script that is being read"),
        ("source ../x.sql", "4:1: '../x.sql' is outside of the script's folder"),
        ("LOAD DATA INFILE '/etc/passwd' INTO TABLE t", "4:18: '/etc/passwd' is outside of the script's folder"),
        (
            "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.v = 1; END;",
            "4:69: the END of the body is missing",
        ),
        ("CALL p()", "4:1: CALL is not run here"),
        ("SELEC 1", "4:1: unexpected 'SELEC'; expected a statement; did you mean 'SELECT'"),
        ("SET insert_id = 3", "4:5: SET insert_id is not supported"),
        ("INSERT INTO t WITH q AS (SELECT 1) SELECT * FROM q", "4:1: WITH is not supported yet"),
        ("-- forge: row: [[1]]\nDELETE FROM t", "4: 'row' is not known in front of a statement"),
        ("INSERT INTO t VALUES (" + "(" * 20000 + "1", "4:"),
        ("SET @x = " + "+".join("1" * 5000), "4:1: the statement is nested too deeply"),
        ("INSERT INTO t VALUES (1, " + "+".join("1" * 5000) + ")", "4:1: the "),
        ("SET gtid_next = 'x:1'; BEGIN; COMMIT", "4:31: an empty transaction with a GTID is not supported"),
        ("EXECUTE nothing", "4:9: no statement 'nothing' is prepared"),
    ],
)
def test_a_refusal_is_one_sentence_with_its_place(sql: str, message: str, tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text(TABLE + sql)
    with pytest.raises(ScenarioError) as error:
        build(script)
    assert str(error.value).startswith(f"{script}:{message}")


def test_bytes_of_binary_texts_are_kept(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    text = b"CREATE DATABASE d; CREATE TABLE d.t (a BLOB); INSERT INTO d.t VALUES (_binary '\xff\xfe')"
    script.write_bytes(text)
    assert build(script).tables["d.t"][0]["a"] == b"\xff\xfe"


def test_a_script_may_be_in_another_character_set(tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_bytes(
        "SET NAMES latin1; CREATE DATABASE d; CREATE TABLE d.t (a CHAR(9)); INSERT INTO d.t VALUES ('ö')".encode(
            "latin1"
        )
    )
    assert build(script).tables["d.t"][0]["a"] == "ö"


def test_parameters_of_a_prepared_statement_have_their_values() -> None:
    (entry,) = _transactions(
        "SET @a = 1, @b = 'x\\'y', @s = 'INSERT INTO t VALUES (?, ?)';PREPARE s FROM @s; EXECUTE s USING @a, @b;"
    )
    assert entry[0]["query"] == "INSERT INTO t VALUES (1, 'x\\'y')"


def test_sql_text_is_a_scenario_wherever_one_is_taken() -> None:
    assert len(build("CREATE DATABASE d").files) == 1


def test_a_variable_that_a_query_gave_a_value_is_not_known() -> None:
    (entry,) = _transactions("SET @x = 1; SELECT 2 INTO @x; INSERT INTO t VALUES (1, @x);")
    assert entry[0]["insert"]["rows"] == [[1, {"sql": "@x"}]]


def test_several_statements_up_to_one_delimiter_are_each_their_own() -> None:
    one, two = _transactions("DELIMITER //\nDELETE FROM t; DELETE FROM d.t//")
    assert (one[0]["query"], two[0]["query"]) == ("DELETE FROM t", "DELETE FROM d.t")


def test_nothing_is_logged_of_the_schemas_that_a_server_fills() -> None:
    assert _transactions("TRUNCATE performance_schema.x; UPDATE performance_schema.setup SET a = 1;") == []


def test_statements_under_locked_tables_open_them_all() -> None:
    text = "LOCK TABLES t WRITE, u AS x READ, d.v WRITE; DELETE FROM t; UNLOCK TABLES; DELETE FROM t;"
    locked, free = _transactions(text)
    assert locked[0]["under_lock"] == ["t", "d.v"]
    assert "under_lock" not in free[0]


def test_locked_tables_and_those_below_them_stand_in_the_log() -> None:
    text = (
        TABLE + "CREATE TABLE a (id INT PRIMARY KEY);\n"
        "CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES t (id) ON UPDATE CASCADE);\n"
        "LOCK TABLES a WRITE, t WRITE;\nINSERT INTO t VALUES (1, 2);\n"
    )
    events = build(text).files[0].events
    assert [event["fields"]["table"] for event in events if event["type"] == "TABLE_MAP"] == ["a", "t", "c"]


def test_a_call_of_a_function_that_changes_rows_is_refused_and_others_are_not() -> None:
    made = "DELIMITER //\nCREATE FUNCTION d.f() RETURNS INT BEGIN INSERT INTO d.t VALUES (1); RETURN 1; END//\n"
    made += "CREATE FUNCTION d.g() RETURNS INT RETURN 1//\nDELIMITER ;\n"
    head = "CREATE DATABASE d; CREATE TABLE d.t (a INT);\n"
    assert len(document(head + made + "SELECT d.g();\n", file="f.sql")["transactions"]) == 4
    with pytest.raises(ScenarioError, match=r"f\.sql:6:10: f\(\.\.\.\) changes rows, and functions are not run here"):
        document(head + made + "SELECT d.f();\n", file="f.sql")
    with pytest.raises(ScenarioError, match="a schedule that reads a user variable is not supported yet"):
        document(head + "CREATE EVENT d.e ON SCHEDULE EVERY @s SECOND DO DELETE FROM d.t;\n", file="f.sql")


@pytest.mark.parametrize("text", ["12e34", "1e99999", "0x10", "-.5", "007", "null", "1.5", "plain", "a: b", "", "é\n"])
def test_the_yaml_of_a_script_keeps_texts(text: str) -> None:
    assert load(scenario_text({"a": [{"b": text}]})).value == {"a": [{"b": text}]}
