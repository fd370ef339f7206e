"""What the search against live servers found (tests/long/live): definitions that servers take, or refuse."""

from __future__ import annotations

import msgspec
import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.table_map import TableMap
from forge.plan.keys import key_of_rows
from forge.scenario import Scenario, Session, ddl, insert, plan

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


def test_alter_table_sets_the_time_as_default_in_parentheses_on_mysql() -> None:
    scenario = Scenario("now", server=MYSQL, tables=["CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME)"])
    with pytest.raises(ScenarioError, match="in parentheses"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT CURRENT_TIMESTAMP")))
    assert plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT (CURRENT_TIMESTAMP)"))).tables["d.t"]
    on_mariadb = msgspec.structs.replace(scenario, server=MARIADB)
    assert plan(on_mariadb.transaction(ddl("ALTER TABLE d.t ALTER at SET DEFAULT CURRENT_TIMESTAMP"))).tables["d.t"]


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_null_that_becomes_a_number_is_refused_by_name(server: str) -> None:
    scenario = Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT)"])
    altered = scenario.transaction(insert("d.t", {"a": None})).transaction(ddl("ALTER TABLE d.t MODIFY a SERIAL"))
    with pytest.raises(UnsupportedError, match="becomes AUTO_INCREMENT, but a row has NULL"):
        plan(altered)


def test_without_strict_mode_alter_table_clips_what_a_new_generated_column_cannot_hold() -> None:
    scenario = Scenario("clips", tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ADD x SET('a','b') AS (CONCAT('a', 1)) VIRTUAL"))
    with pytest.raises(ScenarioError, match="no member 'a1'"):
        plan(scenario)
    assert plan(msgspec.structs.replace(scenario, session=Session(sql_mode=""))).contents["d.t"] == ((1, 0),)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(("declared", "size"), [("TEXT(30)", 2), ("TEXT(300)", 3), ("TEXT(70000)", 4), ("TEXT", 3)])
def test_a_text_with_a_length_grows_with_its_character_set_as_the_type_that_it_became(
    server: str, declared: str, size: int
) -> None:
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v {declared} CHARACTER SET latin1)"
    scenario = Scenario("texts", server=server, tables=[table])
    scenario = scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4"))
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    planned = plan(scenario)
    (log,) = write_files(planned, compile_files(planned))
    bodies = [placed.event.body for placed in read_events(log)]
    assert [body.metadata for body in bodies if isinstance(body, TableMap)] == [bytes([size])]


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


@pytest.mark.parametrize(
    ("server", "mode", "column", "is_taken"),
    [
        (MYSQL, None, "x TIMESTAMP PRIMARY KEY", True),
        (MYSQL, None, "x DATE NOT NULL", False),
        (MYSQL, None, "x DATE, ADD PRIMARY KEY (x)", True),
        (MYSQL, "STRICT_ALL_TABLES", "x DATE NOT NULL", True),
        (MARIADB, None, "x DATETIME NOT NULL", True),
        (MARIADB, "TRADITIONAL", "x DATETIME PRIMARY KEY", False),
    ],
)
def test_rows_have_the_zero_date_in_a_new_column_unless_no_zero_date_refuses_it(
    server: str, mode: str | None, column: str, is_taken: bool
) -> None:
    scenario = Scenario("dates", server=server, session=Session(sql_mode=mode), tables=["CREATE TABLE d.t (a INT)"])
    scenario = scenario.transaction(insert("d.t", {"a": 1})).transaction(ddl(f"ALTER TABLE d.t ADD {column}"))
    if is_taken:
        assert str(plan(scenario).contents["d.t"][0][1]).startswith("0000-00-00")
    else:
        with pytest.raises(ScenarioError, match="have no value for the new DATE"):
            plan(scenario)


def test_a_geometry_without_a_default_needs_a_value_without_strict_mode_too() -> None:
    scenario = Scenario(
        "defaults", session=Session(sql_mode=""), tables=["CREATE TABLE d.t (a INT, g POINT, s VARCHAR(3))"]
    )
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ALTER s DROP DEFAULT"))
    plan(scenario.transaction(insert("d.t", {"a": 1})))
    with pytest.raises(ScenarioError, match="column 'g' has no default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER g DROP DEFAULT")).transaction(insert("d.t", {"a": 1})))


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


def test_members_of_bytes_stay_so_when_a_table_is_converted() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (a SET('a') BYTE, b SET('a'), c TEXT)"])
    columns = plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1"))).tables["d.t"].columns
    assert [column.type.collation == 63 for column in columns] == [True, False, False]


def test_members_that_another_character_set_makes_equal_are_refused() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (a ENUM('a', 'A') BINARY)"])
    with pytest.raises(ScenarioError, match="equal members"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET latin1")))


@pytest.mark.parametrize(
    ("mode", "column", "action"),
    [
        (None, "a TIMESTAMP NULL", "ADD PRIMARY KEY (a)"),
    ],
)
def test_what_mariadb_makes_of_moments_without_a_value_in_alter_table_is_not_supported(
    mode: str | None, column: str, action: str
) -> None:
    scenario = Scenario(
        "moments", server=MARIADB, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({column}, b INT)"]
    )
    if mode is None:
        scenario = scenario.transaction(insert("d.t", {"b": 1}))
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))
