"""What the modes of sql_mode make of values and of texts (recorded: tests/record/recordings/sql-modes-*)."""

from __future__ import annotations

from typing import Any

import pytest

from forge.compile.query.ddl_text import ddl_text
from forge.engine.requests.rows import Update
from forge.engine.requests.statements import Statement
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.definitions import TableDrop
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.scenario import Scenario, insert, plan
from forge.servers import server_line

TABLE = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9), d DATE, at DATETIME(1))"


def planned(mode: str, *statements: Statement, server: str = "mysql-9.7", table: str = TABLE) -> Plan:
    scenario = Scenario("modes", server=server, session=Session(sql_mode=mode), tables=[table])
    for statement in statements:
        scenario = scenario.transaction(statement)
    return plan(scenario)


@pytest.mark.parametrize(
    ("mode", "declared", "stored"),
    [
        ("STRICT_TRANS_TABLES", "0000-00-00", "0000-00-00"),
        ("STRICT_TRANS_TABLES", "2024-00-10", "2024-00-10"),
        ("STRICT_ALL_TABLES,NO_ZERO_DATE", "2024-05-00", "2024-05-00"),
        ("STRICT_ALL_TABLES,NO_ZERO_IN_DATE", "0000-00-00", "0000-00-00"),
        ("NO_ZERO_IN_DATE", "2024-00-10", "0000-00-00"),
        ("NO_ZERO_DATE,NO_ZERO_IN_DATE", "0000-00-00", "0000-00-00"),
        ("ALLOW_INVALID_DATES", "2024-02-31", "2024-02-31"),
        ("ALLOW_INVALID_DATES,STRICT_ALL_TABLES", "2023-04-31", "2023-04-31"),
        ("ALLOW_INVALID_DATES", "2024-02-32", "0000-00-00"),
    ],
)
def test_the_modes_decide_which_dates_are_taken(mode: str, declared: str, stored: str) -> None:
    assert planned(mode, insert("d.t", {"d": declared})).contents["d.t"][0][2] == stored


@pytest.mark.parametrize(
    ("mode", "declared"),
    [
        ("STRICT_ALL_TABLES,NO_ZERO_DATE", "0000-00-00"),
        ("STRICT_ALL_TABLES,NO_ZERO_IN_DATE", "2024-00-10"),
        ("TRADITIONAL", "2024-05-00"),
        ("STRICT_ALL_TABLES", "2024-02-30"),
    ],
)
def test_strict_modes_refuse_the_others(mode: str, declared: str) -> None:
    with pytest.raises(ScenarioError, match="DATE"):
        planned(mode, insert("d.t", {"d": declared}))


@pytest.mark.parametrize(
    ("server", "mode", "fraction"),
    [
        ("mysql-9.7", "STRICT_ALL_TABLES", "13.0"),
        ("mysql-9.7", "TIME_TRUNCATE_FRACTIONAL", "12.9"),
        ("mariadb-11.8", "STRICT_ALL_TABLES", "12.9"),
        ("mariadb-11.8", "TIME_ROUND_FRACTIONAL", "13.0"),
    ],
)
def test_fractions_are_cut_or_rounded_as_the_mode_says(server: str, mode: str, fraction: str) -> None:
    made = planned(mode, insert("d.t", {"at": "2024-02-29 10:11:12.96"}), server=server)
    assert made.contents["d.t"][0][3] == f"2024-02-29 10:11:{fraction}"


def test_zero_is_a_number_of_its_own_with_no_auto_value_on_zero() -> None:
    rows: list[dict[str, Any]] = [{"id": 0, "v": "a"}, {"id": None, "v": "b"}]
    kept = planned("NO_AUTO_VALUE_ON_ZERO", *(insert("d.t", row) for row in rows))
    assert [row[0] for row in kept.contents["d.t"]] == [0, 1]
    numbered = planned("", *(insert("d.t", row) for row in rows))
    assert [row[0] for row in numbered.contents["d.t"]] == [1, 2]


def test_an_empty_string_is_null_where_the_mode_says_so() -> None:
    made = planned("EMPTY_STRING_IS_NULL", insert("d.t", {"v": ""}), server="mariadb-11.8")
    assert made.contents["d.t"][0][1] is None


@pytest.mark.parametrize(
    ("mode", "table"),
    [
        ("ANSI_QUOTES", 'CREATE TABLE d.u (a VARCHAR(3) DEFAULT "x")'),
        ("PIPES_AS_CONCAT", "CREATE TABLE d.u (a INT, b INT AS (a || 1))"),
        ("NO_BACKSLASH_ESCAPES", r"CREATE TABLE d.u (a VARCHAR(3) DEFAULT '\n')"),
        ("REAL_AS_FLOAT", "CREATE TABLE d.u (a REAL)"),
        ("ORACLE", "CREATE TABLE d.u (a DATE)"),
        ("EMPTY_STRING_IS_NULL", "CREATE TABLE d.u (a VARCHAR(3) DEFAULT '')"),
    ],
)
def test_a_text_that_a_mode_gives_another_meaning_is_refused_by_name(mode: str, table: str) -> None:
    with pytest.raises(UnsupportedError, match=f"with sql_mode {mode} is not supported yet"):
        planned(mode, server="mariadb-11.8", table=table)


@pytest.mark.parametrize(("mode", "seen"), [("SIMULTANEOUS_ASSIGNMENT", "1"), ("STRICT_ALL_TABLES", "5")])
def test_a_computed_cell_sees_what_set_has_set_unless_all_is_assigned_at_once(mode: str, seen: str) -> None:
    update = Statement(update=Update(table="d.t", set={"id": 5, "v": {"sql": "CONCAT(id, '')"}}))
    made = planned(mode, insert("d.t", {"id": 1, "v": "a"}), update, server="mariadb-11.8")
    assert made.contents["d.t"][0][:2] == (5, seen)


def test_drop_table_has_double_quotes_with_ansi_quotes() -> None:
    made = planned("ANSI", Statement(ddl="DROP TABLE d.t"))
    drop = made.groups[-1]
    assert isinstance(drop, TableDrop)
    text = ddl_text(drop, made.session, server_line("mysql-9.7"))
    assert text == 'DROP TABLE "t" /* generated by server */'
