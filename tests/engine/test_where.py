"""WHERE clauses: the rows they choose, and SQL that chooses the same (forge.engine.rows.where)."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.plan.session import Session
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, delete, insert, plan


def deleted(sql: str, rows: list[dict[str, Any]], where: dict[str, Any]) -> tuple[list[Any], str]:
    """(first cells of the rows that a DELETE takes, its WHERE clause)."""
    scenario = Scenario("x", tables=[f"CREATE TABLE d.t {sql}"]).transaction(insert("d.t", *rows))
    group = plan(scenario.transaction(insert("d.t", {}), delete("d.t", where=where))).groups[-1]
    assert isinstance(group, Transaction)
    statement = group.rows_statements[-1]
    if statement.kind != "delete":
        return [], ""
    clause = statement.text.sql.partition(" WHERE ")[2].partition(" ORDER BY ")[0]
    return [change.before[0] for change in statement.changes if change.before], clause


NUMBERS: list[dict[str, Any]] = [{"n": n} for n in (1, 2, 3, 4, None)]


@pytest.mark.parametrize(
    ("condition", "chosen", "sql"),
    [
        (2, [2], "`n` = 2"),
        ([1, 3], [1, 3], "`n` IN (1, 3)"),
        (None, [None, None], "`n` IS NULL"),
        ([2, None], [2, None, None], "(`n` IN (2) OR `n` IS NULL)"),
        ([None], [None, None], "`n` IS NULL"),
        ({"lt": 2}, [1], "`n` < 2"),
        ({"le": 2}, [1, 2], "`n` <= 2"),
        ({"gt": 3}, [4], "`n` > 3"),
        ({"ge": 3}, [3, 4], "`n` >= 3"),
        ({"ne": 3}, [1, 2, 4], "`n` <> 3"),
        ({"ne": None}, [1, 2, 3, 4], "`n` IS NOT NULL"),
        ({"between": [2, 3]}, [2, 3], "`n` BETWEEN 2 AND 3"),
        ({"gt": 1, "lt": 4}, [2, 3], "`n` > 1 AND `n` < 4"),
        ({"value": 4}, [4], "`n` = 4"),
    ],
)
def test_numbers_are_compared(condition: Any, chosen: list[Any], sql: str) -> None:
    assert deleted("(n INT)", NUMBERS, {"n": condition}) == (chosen, sql)


WORDS = [{"w": word} for word in ("ann", "Ann", "bob", "ann ")]


@pytest.mark.parametrize(
    ("column", "words", "condition", "chosen", "sql"),
    [
        ("VARCHAR(9)", ["ann", "bob"], "ann", ["ann"], "`w` = 'ann'"),
        ("VARCHAR(9)", ["ann", "Ann"], "ann", ["ann"], "CAST(`w` AS BINARY) = x'616e6e'"),
        ("VARCHAR(9)", ["ann", "ann "], "ann", ["ann"], "`w` = 'ann'"),
        ("VARCHAR(9) COLLATE latin1_swedish_ci", ["ann", "ann "], "ann", ["ann"], "CAST(`w` AS BINARY) = x'616e6e'"),
        ("VARCHAR(9) COLLATE utf8mb4_0900_bin", ["ann", "Ann"], "ann", ["ann"], "`w` = 'ann'"),
        ("VARCHAR(9) CHARACTER SET latin1", ["é", "e"], "é", ["é"], "CAST(`w` AS BINARY) = x'e9'"),
        ("VARCHAR(9)", ["b", "a", "B"], {"lt": "b"}, ["a", "B"], "CAST(`w` AS BINARY) < x'62'"),
        ("CHAR(9)", ["a", "b"], "a  ", ["a"], "`w` = 'a'"),
        ("BINARY(2)", ["a", "b"], "a", [b"a\0"], "`w` = x'6100'"),
        ("VARBINARY(2)", ["a", "b"], {"hex": "62"}, [b"b"], "`w` = x'62'"),
        ("ENUM('z','a')", ["a", "z"], "a", [2], "`w` = 'a'"),
        ("ENUM('z','a')", ["a", "z"], {"lt": "a"}, [1], "`w` + 0 < 2"),
        ("DATE", ["2024-01-01", "2023-01-01"], {"lt": "2024-01-01"}, ["2023-01-01"], "`w` < '2024-01-01'"),
        ("TIME", ["-10:00:00", "-01:00:00", "09:00:00"], {"lt": "-01:00:00"}, ["-10:00:00"], "`w` < '-01:00:00'"),
        ("FLOAT", [0.1, 0.2], 0.1, [0.10000000149011612], "`w` = 0.10000000149011612e0"),
    ],
)
def test_other_values_are_compared_exactly_and_text_by_bytes_where_collations_differ(
    column: str, words: list[Any], condition: Any, chosen: list[Any], sql: str
) -> None:
    assert deleted(f"(w {column})", [{"w": word} for word in words], {"w": condition}) == (chosen, sql)


def test_all_conditions_have_to_hold() -> None:
    rows = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2}]
    assert deleted("(a INT PRIMARY KEY AUTO_INCREMENT, b INT)", [{"b": 1}, {"b": 2}], {"a": [1, 2], "b": 2}) == (
        [2],
        "`a` IN (1, 2) AND `b` = 2",
    )
    assert deleted("(a INT, b INT)", rows, {"a": 1, "b": 2})[0] == [1]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"lt": None}, "lt with null matches no row"),
        ({"between": [1]}, "between needs two values"),
        ([], "the list of values is empty"),
        ({"like": 1}, "unknown operator 'like'"),
        ("x", "cannot hold this value"),
    ],
)
def test_conditions_that_mean_nothing_are_errors(condition: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        deleted("(n INT)", NUMBERS, {"n": condition})


DATES = ("0000-00-00", "2024-00-00", "2024-01-00", "2024-01-01")
ZERO_DATES = [{"id": n, "a": text} for n, text in enumerate(DATES, 1)]


def found(server: str, sql_mode: str | None, column: str, where: Any) -> list[Any]:
    """The keys of the rows that a DELETE takes among ZERO_DATES."""
    scenario = Scenario("x", server=server, session=Session(sql_mode=sql_mode))
    scenario.tables.append(f"CREATE TABLE d.t (id INT PRIMARY KEY, a {column})")
    rows = insert("d.t", *ZERO_DATES)
    made = plan(scenario.transaction(rows).transaction(delete("d.t", where={"a": where})))
    left = {row[0] for row in made.contents["d.t"]}
    return [row["id"] for row in ZERO_DATES if row["id"] not in left]


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ("0000-00-00", [1]),
        (["2024-00-00", "2024-01-00"], [2, 3]),
        ({"lt": "2024-01-00"}, [1, 2]),
        ({"between": ["2024-00-00", "2024-01-00"]}, [2, 3]),
        ({"ne": "2024-01-00"}, [1, 2, 4]),
    ],
)
def test_zero_and_partial_dates_compare_by_their_parts(where: Any, chosen: list[int]) -> None:
    for column in ("DATE", "DATETIME(3) NOT NULL"):
        assert found("mysql-9.7", "", column, where) == chosen
        # MariaDB's default mode has neither NO_ZERO_DATE nor NO_ZERO_IN_DATE.
        assert found("mariadb-11.8", None, column, where) == chosen


def test_a_strict_mysql_compares_with_no_zero_date() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a DATE)"]).transaction(delete("d.t", where={"a": "2024-00-00"}))
    with pytest.raises(ScenarioError, match="zero month"):
        plan(scenario)


@pytest.mark.parametrize(
    ("server", "column", "where", "chosen"),
    [
        ("mysql-9.7", "DATE NOT NULL", None, [1]),
        ("mysql-9.7", "DATETIME NOT NULL", [None], [1]),
        ("mysql-9.7", "DATE NOT NULL", [None, "2024-01-01"], [4]),
        ("mariadb-10.11", "DATE NOT NULL", [None, "2024-01-01"], [1, 4]),
        ("mysql-9.7", "DATE", None, []),
    ],
)
def test_is_null_finds_the_zero_date_of_a_column_without_null(
    server: str, column: str, where: Any, chosen: list[int]
) -> None:
    assert found(server, "", column, where) == chosen


def test_a_year_of_two_digits_compares_these() -> None:
    scenario = Scenario("x", server="mariadb-11.8", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, a YEAR(2))"])
    rows = [{"id": year, "a": year} for year in (1901, 2001, 2055, 2155)]
    made = plan(scenario.transaction(insert("d.t", *rows)).transaction(delete("d.t", where={"a": [2101, 1955]})))
    assert made.contents["d.t"] == ()


@pytest.mark.parametrize("server", ["mysql-5.7", "mysql-9.7"])
def test_a_year_of_two_digits_is_refused_where_servers_lost_it(server: str) -> None:
    with pytest.raises(ScenarioError, match="YEAR"):
        plan(Scenario("x", server=server, tables=["CREATE TABLE d.t (id INT PRIMARY KEY, a YEAR(2))"]))
