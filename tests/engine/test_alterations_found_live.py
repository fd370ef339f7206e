"""What the search against live servers found (tests/long/live): what ALTER TABLE makes of columns and rows."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, Session, ddl, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("column", "is_taken"),
    [("FLOAT DEFAULT 20240229", False), ("FLOAT DEFAULT 1.5", True), ("FLOAT DEFAULT 0.1234567", False),
     ("FLOAT(9,2) DEFAULT 123456.53", True), ("DOUBLE DEFAULT 0.1234567", True)],
)  # fmt: skip
def test_alter_table_beside_a_default_of_more_digits_than_it_prints_is_not_supported(
    server: str, column: str, is_taken: bool
) -> None:
    """Servers print six digits of a FLOAT, and read them again."""
    scenario = Scenario("digits", server=server, tables=[f"CREATE TABLE d.t (a INT, f {column})"])
    plan(scenario.transaction(ddl("RENAME TABLE d.t TO d.u")))
    plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY f FLOAT DEFAULT 0.1234567")))
    altered = scenario.transaction(ddl("ALTER TABLE d.t ADD x INT"))
    if is_taken:
        plan(altered)
    else:
        with pytest.raises(UnsupportedError, match="beside the default of the FLOAT column 'f'"):
            plan(altered)


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


def test_what_was_a_key_on_a_whole_column_has_no_prefix_for_a_text() -> None:
    """Error 1170."""
    scenario = Scenario("prefix", tables=["CREATE TABLE d.t (a VARCHAR(9), PRIMARY KEY (a(9)))"])
    with pytest.raises(ScenarioError, match="in a key without a length"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY a TEXT")))


@pytest.mark.parametrize(
    ("server", "mode", "table", "action"),
    [
        (MYSQL, None, "a INT", "ADD x VECTOR(2) NOT NULL"),
        (MARIADB, None, "a INT", "ADD x POINT NOT NULL"),
        (MYSQL, None, "a INT ZEROFILL", "MODIFY a VARCHAR(20)"),
        (MYSQL, "NO_ZERO_DATE", "a INT, at DATETIME NOT NULL", "ADD x CHAR(5) AS (1 + 1) STORED"),
    ],
)
def test_what_alter_table_makes_of_odd_rows_is_not_supported(
    server: str, mode: str | None, table: str, action: str
) -> None:
    scenario = Scenario("rows", server=server, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({table})"])
    plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(insert("d.t", {"a": 1})).transaction(ddl(f"ALTER TABLE d.t {action}")))


def test_an_invisible_key_on_a_part_of_a_text_is_not_supported() -> None:
    """Error 3522 for a TINYTEXT."""
    with pytest.raises(UnsupportedError, match="cannot be invisible"):
        plan(Scenario("keys", tables=["CREATE TABLE d.t (a TINYTEXT NOT NULL, UNIQUE KEY (a(3)) INVISIBLE)"]))


@pytest.mark.parametrize("action", ["CONVERT TO CHARACTER SET utf32", "CHARACTER SET ucs2"])
@pytest.mark.parametrize("column", ["b BINARY(3) AS (UPPER('ab'))", "b BINARY(3) DEFAULT (UPPER('ab'))"])
def test_mariadb_computes_literals_in_the_new_character_set_of_a_table(column: str, action: str) -> None:
    scenario = Scenario("sets", server=MARIADB, tables=[f"CREATE TABLE d.t (a INT, {column})"])
    plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1")))
    with pytest.raises(UnsupportedError, match="wide characters"):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
