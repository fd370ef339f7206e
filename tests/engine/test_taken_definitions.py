"""Definitions that servers take and whose reasons against them no byte shows (recordings taken-definitions-*)."""

from __future__ import annotations

import pytest

from forge.compile import compile_plan
from forge.errors import ScenarioError
from forge.scenario import Scenario, Session, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


@pytest.mark.parametrize(
    ("server", "columns"),
    [
        (MARIADB, "c POINT, KEY (c)"),
        (MARIADB, "c CHAR(0), KEY (c)"),
        (MARIADB, "c TEXT, KEY (c)"),
        (MARIADB, "c INT NULL PRIMARY KEY"),
        (MARIADB, "c INT UNIQUE PRIMARY KEY"),
        (MARIADB, "b DATE AS ('2024-02-29') STORED"),
        (MARIADB, "c VARCHAR(30) DEFAULT CURRENT_TIMESTAMP"),
        (MARIADB, "at DATETIME DEFAULT CURRENT_TIMESTAMP(6)"),
        (MYSQL, "id INT, c INT UNIQUE, d INT NOT NULL UNIQUE, PRIMARY KEY (c)"),
        (MYSQL, "c CHAR(5) CHARACTER SET ucs2 DEFAULT 1e3"),
        (MYSQL, "a INT PRIMARY KEY AUTO_INCREMENT DEFAULT TRUE"),
        (MYSQL, "a INT, b INT AS (a), KEY (b)"),
    ],
)
def test_a_definition_that_a_server_takes_is_taken(server: str, columns: str) -> None:
    assert compile_plan(plan(Scenario("taken", server=server, tables=[f"CREATE TABLE d.t ({columns})"])))


@pytest.mark.parametrize(
    "columns", ["c VARCHAR(3000), KEY (c)", "c VARCHAR(5000) CHARACTER SET latin1, KEY (c)", "c TEXT DEFAULT ''"]
)
def test_what_a_session_without_strict_mode_takes_is_taken(columns: str) -> None:
    plan(Scenario("taken", session=Session(sql_mode=""), tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {columns})"]))


def test_a_renamed_column_is_renamed_in_what_uses_it() -> None:
    columns = "id INT PRIMARY KEY, a INT, b INT AS (a + 1), CHECK (a > 0)"
    scenario = Scenario("renamed", server=MARIADB, tables=[f"CREATE TABLE d.t ({columns})"])
    renamed = scenario.ddl("ALTER TABLE d.t RENAME COLUMN a TO `select`")
    assert plan(renamed.transaction(insert("d.t", {"id": 1, "select": 2}))).contents["d.t"] == ((1, 2, 3),)
    with pytest.raises(ScenarioError, match=r"does not hold: `select` > 0"):
        plan(renamed.transaction(insert("d.t", {"id": 1, "select": 0})))


def test_text_has_the_order_of_its_collation_in_partitions() -> None:
    ranges = "PARTITION p VALUES LESS THAN ('m'), PARTITION q VALUES LESS THAN (MAXVALUE)"
    table = f"CREATE TABLE d.t (a VARCHAR(9)) PARTITION BY RANGE COLUMNS (a) ({ranges})"
    partition = plan(Scenario("texts", tables=[table])).tables["d.t"].partition
    assert partition is not None
    assert [partition((text,)) for text in ("B", "b", "M", "z", None)] == [0, 0, 1, 1, 0]


def test_a_select_is_converted_to_the_columns_that_the_statement_defines() -> None:
    scenario = Scenario("select", tables=["CREATE TABLE d.s (id INT PRIMARY KEY, a INT)"])
    scenario = scenario.transaction(insert("d.s", {"id": 1, "a": 2}))
    made = scenario.ddl("CREATE TABLE d.t (b INT AS (id + 1), a VARCHAR(20)) SELECT a, id FROM d.s")
    assert plan(made).contents["d.t"] == ((2, "2", 1),)
