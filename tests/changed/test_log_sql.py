"""``forge sql``: the rows of a log as statements, and the statements that take them back."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forge
from forge.binlog.logged import logged_events
from forge.binlog.selection import selection
from forge.changed.chosen_events import Asked
from forge.changed.conditions import Condition
from forge.changed.known_tables import KnownTables
from forge.changed.log_sql import LogSql
from forge.changed.row_statements import RowStatements, Style
from forge.changed.spill import Spill
from forge.changed.sql_cells import SqlCells
from forge.cli import app
from forge.servers import server_line

MADE = """-- forge: server: mysql-9.7
-- forge: session: {row_metadata: full}
CREATE DATABASE shop;
CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60), qty INT, at TIMESTAMP);
"""
CHANGES = """
INSERT INTO shop.orders VALUES (1, 'Ann', 2, '2024-02-29 10:00:00'), (2, 'B\\\\o''b', 9, NULL);
BEGIN;
UPDATE shop.orders SET qty = qty + 1 WHERE who = 'Ann';
DELETE FROM shop.orders WHERE id = 2;
COMMIT;
"""


def sql_of(
    data: bytes,
    *,
    flashback: bool = False,
    style: Style = "update",
    where: str | None = None,
    schema: str | None = None,
    offset: int = 0,
    said: list[str] | None = None,
    **chosen: Any,
) -> str:
    """The text of a log, without its head."""
    tables = KnownTables(server_line("mysql-9.7"))
    if schema is not None:
        tables.read_schema(schema, "schema.sql")
    rows = RowStatements(SqlCells(offset), style, flashback)
    asked = Asked(rows, selection(**chosen), None if where is None else Condition(where, tables))
    with Spill() as spill:
        log = LogSql(asked, tables, (said if said is not None else []).append, spill if flashback else None)
        forth = "".join(log.read("log", logged_events(data))) + "".join(log.end())
        return forth + "".join(map(bytes.decode, spill.backwards()))


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("--")]


@pytest.fixture(scope="module")
def log() -> bytes:
    return forge.build(MADE + CHANGES).data


def test_rows_are_statements_by_primary_key_in_their_transactions(log: bytes) -> None:
    assert statements(sql_of(log)) == [
        "START TRANSACTION;",
        "INSERT INTO `shop`.`orders` (`id`, `who`, `qty`, `at`) VALUES (1, 'Ann', 2, '2024-02-29 10:00:00');",
        "INSERT INTO `shop`.`orders` (`id`, `who`, `qty`, `at`) VALUES (2, _utf8mb4 x'425c6f2762', 9, NULL);",
        "COMMIT;",
        "START TRANSACTION;",
        "UPDATE `shop`.`orders` SET `qty` = 3 WHERE `id` = 1;",
        "DELETE FROM `shop`.`orders` WHERE `id` = 2;",
        "COMMIT;",
    ]


def test_flashback_has_the_inverse_statements_in_the_inverse_order(log: bytes) -> None:
    assert statements(sql_of(log, flashback=True)) == [
        "START TRANSACTION;",
        "INSERT INTO `shop`.`orders` (`id`, `who`, `qty`, `at`) VALUES (2, _utf8mb4 x'425c6f2762', 9, NULL);",
        "UPDATE `shop`.`orders` SET `qty` = 2 WHERE `id` = 1;",
        "COMMIT;",
        "START TRANSACTION;",
        "DELETE FROM `shop`.`orders` WHERE `id` = 2;",
        "DELETE FROM `shop`.`orders` WHERE `id` = 1;",
        "COMMIT;",
    ]


def test_a_condition_chooses_rows_by_either_image(log: bytes) -> None:
    assert [line.split()[0] for line in statements(sql_of(log, where="qty = 2 OR who IS NULL"))] == [
        "START", "INSERT", "COMMIT;", "START", "UPDATE", "COMMIT;",
    ]  # fmt: skip


def test_timestamps_stand_in_the_zone_that_is_asked_for(log: bytes) -> None:
    assert "'2024-02-29 12:30:00'" in sql_of(log, offset=150)


def test_statements_are_listed_in_their_place_and_told(log: bytes) -> None:
    said: list[str] = []
    text = sql_of(log, said=said)
    assert "--   CREATE DATABASE shop\n" in text
    assert [line.rpartition(": ")[2].split()[:2] for line in said] == [["CREATE", "DATABASE"], ["CREATE", "TABLE"]]


def test_of_a_table_only_its_rows_and_statements_about_it_remain(log: bytes) -> None:
    said: list[str] = []
    assert statements(sql_of(log, tables=["other.*"], said=said)) == []
    assert said == []


def test_names_keys_and_generated_columns_come_from_the_statements_of_the_log() -> None:
    made = """-- forge: server: mysql-9.7
        CREATE DATABASE d;
        CREATE TABLE d.t (a INT NOT NULL, b INT, c INT AS (a + 1), UNIQUE (a));
        INSERT INTO d.t (a, b) VALUES (1, 2);
        ALTER TABLE d.t ADD COLUMN e INT FIRST;
        UPDATE d.t SET b = 3;
    """
    assert statements(sql_of(forge.build(made).data))[1::3] == [
        "INSERT INTO `d`.`t` (`a`, `b`) VALUES (1, 2);",
        "UPDATE `d`.`t` SET `b` = 3 WHERE `a` = 1;",
    ]


def test_a_schema_tells_what_the_log_does_not() -> None:
    table = "CREATE TABLE d.t (a INT UNSIGNED PRIMARY KEY, b TEXT)"
    scenario = {
        "scenario": "s", "existing": True, "tables": [table],
        "transactions": [[{"insert": {"into": "d.t", "rows": [{"a": 7, "b": "x"}]}}], [{"delete": {"from": "d.t"}}]],
    }  # fmt: skip
    data = forge.build(scenario).data
    assert statements(sql_of(data, schema=table + ";"))[4] == "DELETE FROM `d`.`t` WHERE `a` = 7;"
    said: list[str] = []
    assert statements(sql_of(data, said=said))[1] == "INSERT INTO `d`.`t` VALUES (7, 'x');"
    assert "the log does not tell the names of the columns" in said[0]


def test_without_a_key_all_columns_find_one_row_exactly() -> None:
    made = """-- forge: server: mysql-9.7
        -- forge: session: {row_metadata: full}
        CREATE DATABASE d;
        CREATE TABLE d.t (a VARCHAR(9), b FLOAT, c JSON, d BINARY(3), e POINT);
        INSERT INTO d.t VALUES ('Aé', 1.1, '{"k": 1}', 'x', NULL);
        DELETE FROM d.t;
    """
    assert statements(sql_of(forge.build(made).data))[4] == (
        "DELETE FROM `d`.`t` WHERE CAST(`a` AS BINARY) = 'Aé' AND `b` = 1.100000023841858e0"
        " AND CAST(CAST(`c` AS CHAR) AS BINARY) = '{\"k\": 1}' AND `d` = x'780000' AND `e` IS NULL LIMIT 1;"
    )


def test_images_that_do_not_suffice_are_listed() -> None:
    made = MADE.replace("full}", "full, row_image: minimal}") + CHANGES
    said: list[str] = []
    text = sql_of(forge.build(made).data, flashback=True, said=said)
    assert [line for line in statements(text) if not line.endswith(("COMMIT;", "TRANSACTION;"))] == [
        "DELETE FROM `shop`.`orders` WHERE `id` = 2;", "DELETE FROM `shop`.`orders` WHERE `id` = 1;",
    ]  # fmt: skip
    assert [line.partition("row 1 of ")[2].split()[0] for line in said[2:]] == ["update", "delete"]
    assert text.count("-- not written: log at") == 4


def test_partial_updates_call_the_functions_and_go_back_to_the_document() -> None:
    made = """-- forge: server: mysql-9.7
        -- forge: session: {row_metadata: full, row_value_options: PARTIAL_JSON}
        CREATE DATABASE d;
        CREATE TABLE d.t (id INT PRIMARY KEY, j JSON);
        INSERT INTO d.t VALUES (1, '{"a": 1, "b": [1, 2]}');
        UPDATE d.t SET j = JSON_SET(j, '$.a', 2);
    """
    data = forge.build(made).data
    assert statements(sql_of(data))[4] == "UPDATE `d`.`t` SET `j` = JSON_REPLACE(`j`, '$.a', 2) WHERE `id` = 1;"
    assert statements(sql_of(data, flashback=True))[1] == (
        'UPDATE `d`.`t` SET `j` = \'{"a": 1, "b": [1, 2]}\' WHERE `id` = 1;'
    )


def test_binlog_statements_have_the_row_events_and_flashback_turns_them_round(log: bytes) -> None:
    def events(text: str) -> list[str]:
        blocks = re.findall(r"BINLOG '\n(.*?)\n';", text, re.DOTALL)
        data = list(dict.fromkeys(base64.b64decode(block) for block in blocks))
        return [event.event.type_name for event in logged_events(b"\xfebin" + b"".join(data))]

    assert events(sql_of(log, style="binlog")) == [
        "FORMAT_DESCRIPTION", "TABLE_MAP", "WRITE_ROWS", "TABLE_MAP", "UPDATE_ROWS", "TABLE_MAP", "DELETE_ROWS",
    ]  # fmt: skip
    assert events(sql_of(log, style="binlog", flashback=True)) == [
        "FORMAT_DESCRIPTION", "TABLE_MAP", "WRITE_ROWS", "TABLE_MAP", "UPDATE_ROWS", "TABLE_MAP", "DELETE_ROWS",
    ]  # fmt: skip
    assert events(sql_of(log, style="binlog", where="qty = 9"))[-1] == "DELETE_ROWS"


def test_a_transaction_that_the_log_does_not_end_is_rolled_back(log: bytes) -> None:
    last = max(event.offset for event in logged_events(log) if event.event.type_name == "XID")
    said: list[str] = []
    assert statements(sql_of(log[:last], said=said))[-1].startswith("ROLLBACK;")
    assert statements(sql_of(log[:last], flashback=True))[0] == "START TRANSACTION;"
    assert "the log ends inside a transaction" in said[-1]


INTEGERS = st.integers(0, 3)
CHANGE = st.one_of(
    st.tuples(st.just("INSERT INTO {t} VALUES ({0}, {1}, '{2}')"), INTEGERS, INTEGERS, INTEGERS),
    st.tuples(st.just("UPDATE {t} SET b = b + {0}, c = '{2}' WHERE a <= {1}"), INTEGERS, INTEGERS, INTEGERS),
    st.tuples(st.just("DELETE FROM {t} WHERE b = {0}"), INTEGERS, INTEGERS, INTEGERS),
    st.tuples(st.just("UPDATE {t} SET a = a + 10 WHERE b = {0}"), INTEGERS, INTEGERS, INTEGERS),
)


def contents(script: str) -> dict[str, Any]:
    return {name: sorted((str(row) for row in rows), key=str) for name, rows in forge.build(script).tables.items()}


@settings(max_examples=40)
@given(st.lists(CHANGE, max_size=8), st.sampled_from(["update", "replace"]))
def test_applied_and_taken_back_statements_cancel(changes: list[tuple[str, int, int, int]], style: Style) -> None:
    made = """-- forge: server: mysql-9.7
        -- forge: session: {row_metadata: full}
        CREATE DATABASE d;
        CREATE TABLE d.t (a INT, b INT, c INT);
        CREATE TABLE d.u (a INT AUTO_INCREMENT PRIMARY KEY, b INT, c VARCHAR(9));
    """
    texts = []
    for number, (form, *values) in enumerate(changes):
        keyed = form.replace("VALUES ({0}", "VALUES (NULL").replace("a + 10", "a")
        texts.append((form if number % 2 else keyed).format(*values, t="d.t" if number % 2 else "d.u") + ";\n")
    data = forge.build(made + "".join(texts)).data
    forth, back = sql_of(data, style=style), sql_of(data, flashback=True, style="update")
    assert contents(made + forth) == contents(made + "".join(texts))
    assert contents(made + forth + back) == {"d.t": [], "d.u": []}


def test_the_command_writes_a_file_and_ends_with_1_where_something_is_missing(
    log: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, minimal = tmp_path / "log.000001", tmp_path / "minimal.000001"
    path.write_bytes(log)
    minimal.write_bytes(forge.build(MADE.replace("full}", "full, row_image: minimal}") + CHANGES).data)
    run: Callable[..., int] = lambda *options: app.run(["sql", *map(str, options)])  # noqa: E731
    assert run(path, "-o", tmp_path / "forth.sql", "--table", "shop.orders") == 0
    assert (tmp_path / "forth.sql").read_text().startswith("SET NAMES utf8mb4;\nSET SESSION time_zone = '+00:00'")
    assert run(minimal, "--flashback", "-o", tmp_path / "back.sql") == 1
    assert "2 changes not written" in capfd.readouterr().err
    assert (tmp_path / "back.sql").exists()
    assert run(path, "--database", "shop", "--time-zone", "Europe/Berlin") == 2
    assert run(path, "--columns", "qty", "--style", "replace") == 2
    assert run(path, "--where", "nothing = 1") == 2
