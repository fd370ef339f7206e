"""Generated invisible primary keys, and CHECK constraints: what servers make of a definition, and what they refuse."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import DdlStatement
from forge.plan.session import Session
from forge.scenario import Scenario, insert, plan, update

GENERATES = Session(generate_invisible_primary_key=True)


def logged(sql: str, session: Session = GENERATES) -> str:
    """The text of the CREATE TABLE that the server logs."""
    last = plan(Scenario("keys", tables=[sql], session=session)).groups[-1]
    assert isinstance(last, DdlStatement)
    return last.text.sql


def test_a_table_without_a_key_is_logged_as_the_server_prints_it() -> None:
    sql = "create table if not exists d.t (a int(5) zerofill default 7, b varchar(9) collate utf8mb4_bin) comment 'x'"
    assert logged(sql) == (
        "CREATE TABLE IF NOT EXISTS `t` (\n"
        "  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,\n"
        "  `a` int(5) unsigned zerofill DEFAULT '00007',\n"
        "  `b` varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,\n"
        "  PRIMARY KEY (`my_row_id`)\n"
        ") COMMENT='x'"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE d.t (a INT PRIMARY KEY)",
        "CREATE TABLE d.t (a INT NOT NULL, UNIQUE (a))",
    ],
)
def test_a_table_with_a_key_is_logged_as_sent(sql: str) -> None:
    assert logged(sql) == sql


def test_a_key_with_nulls_or_prefixes_or_expressions_is_none() -> None:
    assert "my_row_id" in logged("CREATE TABLE d.t (a INT, UNIQUE (a))")
    assert "my_row_id" in logged("CREATE TABLE d.t (a VARCHAR(9) NOT NULL, UNIQUE (a(3)))")


@pytest.mark.parametrize("sql", ["CREATE TABLE d.t (a INT CHECK (a > 1))"])
def test_a_definition_whose_printed_form_is_not_known_is_refused_by_name(sql: str) -> None:
    with pytest.raises(UnsupportedError, match=r"invisible primary key|writes this statement anew"):
        logged(sql)


def test_the_setting_is_not_known_to_mariadb() -> None:
    scenario = Scenario("keys", server="mariadb-11.8", tables=["CREATE TABLE d.t (a INT)"], session=GENERATES)
    with pytest.raises(ScenarioError, match="generated invisible primary keys"):
        plan(scenario)


def test_first_is_behind_the_generated_key_and_its_form_is_what_counts() -> None:
    scenario = Scenario("keys", tables=["CREATE TABLE d.t (a INT)"], session=GENERATES)
    table = plan(scenario.ddl("ALTER TABLE d.t ADD COLUMN z INT FIRST")).tables["d.t"]
    assert [column.name for column in table.columns] == ["my_row_id", "z", "a"]
    assert table.has_generated_key
    shown = plan(scenario.ddl("ALTER TABLE d.t ALTER COLUMN my_row_id SET VISIBLE")).tables["d.t"]
    assert not shown.has_generated_key


CHECKED = Scenario(
    "checks", tables=["CREATE TABLE d.t (a INT CHECK (a > 3), b INT, CHECK (a <> b), c INT CHECK (c > 1) NOT ENFORCED)"]
)


def test_a_check_constraint_refuses_what_it_calls_false_and_takes_null() -> None:
    assert len(plan(CHECKED.transaction(insert("d.t", {"a": 4, "b": 1, "c": 0}, {"b": 1}))).contents["d.t"]) == 2
    with pytest.raises(ScenarioError, match=r"CHECK constraint t_chk_1 of table d\.t does not hold"):
        plan(CHECKED.transaction(insert("d.t", {"a": 3})))
    with pytest.raises(ScenarioError, match="t_chk_2"):
        plan(CHECKED.transaction(insert("d.t", {"a": 5})).transaction(update("d.t", set={"b": 5})))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("ALTER TABLE d.t DROP COLUMN b", "after the statement: table d.t has no column 'b'"),
        ("ALTER TABLE d.t DROP CHECK nope", "no constraint 'nope'"),
        ("ALTER TABLE d.t ADD CHECK (z > 1)", "no column 'z'"),
    ],
)
def test_constraints_hold_on_to_their_columns(sql: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        plan(CHECKED.ddl(sql))


def test_a_constraint_on_one_column_goes_with_it() -> None:
    scenario = CHECKED.ddl("ALTER TABLE d.t DROP CHECK t_chk_2").ddl("ALTER TABLE d.t DROP COLUMN a")
    assert [column.name for column in plan(scenario).tables["d.t"].columns] == ["b", "c"]


def test_texts_and_blobs_with_a_length_are_printed_as_the_type_that_they_become() -> None:
    made = logged("CREATE TABLE d.t (a BLOB(300), b TEXT(100), c TEXT(60), d TEXT(70000), e BLOB(10))")
    types = [line.split()[1].rstrip(",") for line in made.splitlines()[2:7]]
    assert types == ["blob", "text", "tinytext", "mediumtext", "tinyblob"]
