"""What definitions of columns and keys mean, and which servers refuse."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.keys import key_of_rows
from forge.scenario import Scenario, Session, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def test_a_literal_in_parentheses_is_looked_at_when_mariadb_makes_the_table() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, c INT DEFAULT ('x'))"
    assert plan(Scenario("x", tables=[table])).tables["d.t"].columns[1].computed_default
    with pytest.raises(ScenarioError, match="the default of column 'c' is impossible"):
        plan(Scenario("x", server="mariadb-11.8", tables=[table]))


def test_a_number_as_default_of_a_text_keeps_its_digits_unless_it_has_an_exponent() -> None:
    table = "CREATE TABLE d.t (id INT, a JSON DEFAULT 1.50, b JSON DEFAULT 1e3, c TEXT DEFAULT 1e30)"
    scenario = Scenario("n", server=MARIADB, tables=[table]).transaction(insert("d.t", {"id": 1}))
    assert [tuple(row) for row in plan(scenario).contents["d.t"]] == [(1, "1.50", "1000", "1e30")]


def test_an_invisible_column_has_its_time_from_updates_on_mariadb() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME NOT NULL INVISIBLE ON UPDATE CURRENT_TIMESTAMP)"
    assert not plan(Scenario("i", server=MARIADB, tables=[table])).tables["d.t"].columns[1].visible


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_key_that_a_column_names_twice_is_one(server: str) -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY COMMENT 'c' KEY, v INT UNIQUE UNIQUE KEY)"
    (state,) = plan(Scenario("twice", server=server, tables=[table])).tables.values()
    assert [key.kind for key in state.keys] == ["primary", "unique"]


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_auto_increment_behind_null_is_not_null_and_before_it_is_not_supported(server: str) -> None:
    """A column with AUTO_INCREMENT that takes NULL keeps NULL, and its numbers go on."""
    table = plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE NULL AUTO_INCREMENT)"]))
    assert not table.tables["d.t"].columns[0].nullable
    with pytest.raises(UnsupportedError, match="AUTO_INCREMENT and NULL"):
        plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE AUTO_INCREMENT NULL)"]))


def test_mysql_gives_a_column_of_the_primary_key_no_null_that_is_its_default() -> None:
    """Error 1048, without strict mode too."""
    table = "CREATE TABLE d.t (a DATE DEFAULT (NULL), b INT, PRIMARY KEY (a))"
    with pytest.raises(ScenarioError, match="and its default NULL"):
        plan(Scenario("keys", session=Session(sql_mode=""), tables=[table]).transaction(insert("d.t", {"b": 1})))


def test_a_unique_key_on_a_virtual_column_stands_for_no_row() -> None:
    """SIMPLE_PRIMARY_KEY names no such key (recorded on 9.7)."""
    table = plan(Scenario("keys", tables=["CREATE TABLE d.t (a INT, b INT AS (1) NOT NULL UNIQUE)"])).tables["d.t"]
    assert key_of_rows(table) is None
    table = plan(Scenario("keys", tables=["CREATE TABLE d.t (a INT, b INT NOT NULL UNIQUE)"])).tables["d.t"]
    assert key_of_rows(table) is not None


def test_true_is_the_number_1_as_the_default_of_mariadbs_json() -> None:
    scenario = Scenario("defaults", server=MARIADB, tables=["CREATE TABLE d.t (a INT, v JSON DEFAULT TRUE)"])
    assert plan(scenario.transaction(insert("d.t", {"a": 1}))).contents["d.t"] == ((1, "1"),)
