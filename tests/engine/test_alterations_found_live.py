"""What the search against live servers found (tests/long/live): what ALTER TABLE makes of columns and rows."""

from __future__ import annotations

import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.events.query import Query
from forge.scenario import Scenario, Session, ddl, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def variables_of_alter_table(scenario: Scenario, action: str) -> dict[str, object]:
    """The status variables of an ALTER TABLE behind the scenario."""
    planned = plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
    (log,) = write_files(planned, compile_files(planned))
    bodies = [placed.event.body for placed in read_events(log)]
    (query,) = (body for body in bodies if isinstance(body, Query) and body.query.startswith("ALTER"))
    return dict(query.status_variables)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("column", "changed", "prefix"),
    [("TINYTEXT", "SET('a','b')", None), ("VARCHAR(9)", "VARCHAR(2)", None), ("VARCHAR(9)", "DATE", None),
     ("VARCHAR(9)", "TEXT", 3), ("VARCHAR(3)", "VARCHAR(20)", None), ("TEXT", "CHAR", None), ("TEXT", "CHAR(3)", None)],
)  # fmt: skip
def test_a_key_that_stays_has_a_prefix_while_its_column_is_longer(
    server: str, column: str, changed: str, prefix: int | None
) -> None:
    scenario = Scenario("prefix", server=server, tables=[f"CREATE TABLE d.t (a {column}, PRIMARY KEY (a(3)))"])
    (key,) = plan(scenario.transaction(ddl(f"ALTER TABLE d.t MODIFY a {changed}"))).tables["d.t"].keys
    assert key.parts[0].prefix == prefix


def test_the_value_of_an_enum_that_is_no_member_stays_one() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v ENUM('a','b'))"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": "0"}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t MODIFY v ENUM('b','a') CHARACTER SET latin1"))
    assert plan(scenario).contents["d.t"] == ((1, 0),)


def test_a_new_date_that_is_not_null_is_zero_in_the_rows_of_a_table() -> None:
    session = Session(sql_mode="NO_ZERO_DATE")
    scenario = Scenario("dates", session=session, tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    altered = scenario.transaction(insert("d.t", {"id": 1})).transaction(ddl("ALTER TABLE d.t ADD x DATE NOT NULL"))
    assert plan(altered).contents["d.t"] == ((1, "0000-00-00"),)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("VARCHAR(9) CHARACTER SET ucs2 DEFAULT 1e3", "1000"),
        ("VARCHAR(9) DEFAULT 150e-1", "15"),
        ("CHAR(9) DEFAULT 1.50", "1.50"),
    ],
)
def test_a_number_with_an_exponent_is_a_double_as_the_default_of_a_text(column: str, value: str) -> None:
    scenario = Scenario("doubles", tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, v {column})"])
    assert plan(scenario.transaction(insert("d.t", {"id": 1}))).contents["d.t"] == ((1, value),)
