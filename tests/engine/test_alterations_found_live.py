"""What the search against live servers found (tests/long/live): what ALTER TABLE makes of columns and rows."""

from __future__ import annotations

import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
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


def test_what_was_a_key_on_a_whole_column_has_no_prefix_for_a_text() -> None:
    """Error 1170."""
    scenario = Scenario("prefix", tables=["CREATE TABLE d.t (a VARCHAR(9), PRIMARY KEY (a(9)))"])
    with pytest.raises(ScenarioError, match="in a key without a length"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY a TEXT")))


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


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("options", "action", "is_taken"),
    [
        ("KEY_BLOCK_SIZE=8", "ROW_FORMAT=DYNAMIC", False),
        ("KEY_BLOCK_SIZE=8", "ROW_FORMAT=DYNAMIC, KEY_BLOCK_SIZE=0", True),
        ("ROW_FORMAT=COMPACT", "KEY_BLOCK_SIZE=8", False),
        ("ENGINE=MyISAM ROW_FORMAT=FIXED", "ENGINE=InnoDB", False),
        ("ENGINE=MyISAM ROW_FORMAT=DYNAMIC", "ENGINE=InnoDB", True),
    ],
)
def test_options_of_a_table_go_with_those_that_it_has(server: str, options: str, action: str, is_taken: bool) -> None:
    """Errors 1478, 1031 and 1005."""
    scenario = Scenario("options", server=server, tables=[f"CREATE TABLE d.t (a INT) {options}"])
    altered = scenario.transaction(ddl(f"ALTER TABLE d.t {action}"))
    if is_taken:
        plan(altered)
    else:
        with pytest.raises(ScenarioError, match=r"KEY_BLOCK_SIZE|ROW_FORMAT"):
            plan(altered)


@pytest.mark.parametrize(
    "action",
    ["MODIFY id INT AUTO_INCREMENT DEFAULT NULL", "MODIFY id BIGINT DEFAULT NULL", "MODIFY id BIGINT NULL",
     "DROP PRIMARY KEY, ADD x SERIAL PRIMARY KEY DEFAULT NULL"],
)  # fmt: skip
def test_a_column_that_alter_table_defines_for_the_primary_key_has_no_null(action: str) -> None:
    """Error 1171."""
    scenario = Scenario("keys", tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    with pytest.raises(ScenarioError, match="NULL"):
        plan(scenario.transaction(ddl(f"ALTER TABLE d.t {action}")))


def test_the_value_of_an_enum_that_is_no_member_stays_one() -> None:
    scenario = Scenario("members", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v ENUM('a','b'))"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": "0"}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t MODIFY v ENUM('b','a') CHARACTER SET latin1"))
    assert plan(scenario).contents["d.t"] == ((1, 0),)


@pytest.mark.parametrize(("server", "is_taken"), [(MYSQL, True), (MARIADB, False)])
def test_no_zero_date_keeps_a_new_date_out_of_a_table_with_rows_on_mariadb(server: str, is_taken: bool) -> None:
    """Error 1292."""
    session = Session(sql_mode="NO_ZERO_DATE")
    scenario = Scenario("dates", server=server, session=session, tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    altered = scenario.transaction(ddl("ALTER TABLE d.t ADD x DATE NOT NULL"))
    if is_taken:
        assert plan(altered).contents["d.t"] == ((1, "0000-00-00"),)
    else:
        with pytest.raises(ScenarioError, match="no value for the new DATE column"):
            plan(altered)


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


def test_a_double_as_the_default_of_a_char_of_wide_characters_is_not_supported() -> None:
    """MySQL 9.7 takes the bytes of its digits for characters."""
    with pytest.raises(UnsupportedError, match="without ASCII"):
        plan(Scenario("doubles", tables=["CREATE TABLE d.t (v CHAR(5) CHARACTER SET ucs2 DEFAULT 1e3)"]))


@pytest.mark.parametrize(("mode", "is_unsupported"), [(None, False), ("", True)])
def test_a_default_has_no_more_places_than_mysql_computes_with(mode: str | None, is_unsupported: bool) -> None:
    """Error 1366; in a row they round to zero."""
    session = Session(sql_mode=mode)
    table = "CREATE TABLE d.t (v DECIMAL(10,2) DEFAULT '{}')"
    plan(Scenario("places", session=session, tables=[table.format("1e-81")]))
    plan(Scenario("places", server=MARIADB, session=session, tables=[table.format("1e-82")]))
    with pytest.raises(ScenarioError, match="81 places at most") as caught:
        plan(Scenario("places", session=session, tables=[table.format("1e-82")]))
    assert isinstance(caught.value, UnsupportedError) == is_unsupported


@pytest.mark.parametrize(
    ("mode", "action", "problem"),
    [
        ("", "ALTER at DROP DEFAULT", "which is the time, without strict mode"),
        (None, "DROP a, ADD a INT", "in place of one with a key"),
    ],
)
def test_what_mysql_makes_of_defaults_and_keys_that_go_is_not_supported(
    mode: str | None, action: str, problem: str
) -> None:
    table = "CREATE TABLE d.t (at DATETIME DEFAULT CURRENT_TIMESTAMP, a INT, KEY (a))"
    with pytest.raises(UnsupportedError, match=problem):
        plan(
            Scenario("odd", session=Session(sql_mode=mode), tables=[table]).transaction(
                ddl(f"ALTER TABLE d.t {action}")
            )
        )


def test_mariadb_computes_bytes_for_wide_characters_in_a_table_of_the_collation_binary() -> None:
    table = "CREATE TABLE d.t (a VARCHAR(5) CHARACTER SET utf32 AS (CONCAT('a', 1)), b INT) CHARSET=binary"
    plan(Scenario("wide", tables=[table]))
    plan(Scenario("wide", server=MARIADB, tables=[table.replace("utf32", "latin1")]))
    with pytest.raises(UnsupportedError, match="wide characters in a table of bytes"):
        plan(Scenario("wide", server=MARIADB, tables=[table]))
