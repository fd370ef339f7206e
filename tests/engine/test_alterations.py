"""What ALTER TABLE makes of columns, keys and rows."""

from __future__ import annotations

import msgspec
import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.table_map import TableMap
from forge.scenario import Scenario, Session, ddl, insert, plan, update

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


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


def test_rows_of_a_renamed_table_are_found_by_its_key() -> None:
    scenario = Scenario("renamed", tables=["CREATE TABLE d.a (id INT PRIMARY KEY, n INT)"])
    scenario = scenario.transaction(insert("d.a", {"id": 1, "n": 3})).ddl("RENAME TABLE d.a TO d.b")
    changed = update("d.b", set={"n": 5}, where={"id": {"gt": 0}}, query="UPDATE d.b SET n = 5 WHERE id > 0")
    assert plan(scenario.transaction(changed)).contents["d.b"] == ((1, 5),)
