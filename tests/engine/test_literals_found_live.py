"""What the search against live servers found (tests/long/live): literals as servers take, refuse or read them."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.plan.tables import Row
from forge.scenario import Scenario, Session, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def stored(server: str, column: str, given: str | int, sql_mode: str | None = None) -> Row:
    table, session = f"CREATE TABLE d.t (v {column})", Session(sql_mode=sql_mode)
    scenario = Scenario("literal", server=server, tables=[table], session=session)
    return plan(scenario.transaction(insert("d.t", {"v": given}))).contents["d.t"][0]


@pytest.mark.parametrize("mode", ["TIME_ROUND_FRACTIONAL", "TIME_ROUND_FRACTIONAL,STRICT_TRANS_TABLES"])
def test_mariadb_cuts_the_time_behind_a_date_even_if_it_rounds_others(mode: str) -> None:
    assert stored(MARIADB, "DATE", "9999-12-31 23:59:59.5", mode) == ("9999-12-31",)
    assert stored(MARIADB, "DATE", "20240229235959.5", mode) == ("2024-02-29",)
    assert stored(MARIADB, "DATETIME", "2024-02-29 23:59:59.5", mode) == ("2024-03-01 00:00:00",)


def test_mysql_rounds_the_time_behind_a_date_to_the_next_day() -> None:
    assert stored(MYSQL, "DATE", "2024-02-29 23:59:59.5") == ("2024-03-01",)
    with pytest.raises(ScenarioError, match="cannot hold this date"):
        stored(MYSQL, "DATE", "9999-12-31 23:59:59.5")


@pytest.mark.parametrize("mode", [None, "ALLOW_INVALID_DATES,STRICT_TRANS_TABLES", ""])
@pytest.mark.parametrize("given", ["2024-02-30 10:11:12", "2023-02-29 10:11:12", "2024-04-31 10:11:12"])
def test_mysql_takes_the_time_of_any_day_to_31_and_mariadb_with_a_mode(mode: str | None, given: str) -> None:
    assert stored(MYSQL, "TIME", given, mode) == ("10:11:12",)
    if mode is None:
        with pytest.raises(ScenarioError, match="cannot hold the time of this date"):
            stored(MARIADB, "TIME", given, mode)
        return
    assert stored(MARIADB, "TIME", given, mode) == ("10:11:12" if mode else "00:00:00",)


def test_mariadb_takes_the_time_of_a_number_with_any_day_to_31() -> None:
    assert stored(MARIADB, "TIME", 20240230101112) == ("10:11:12",)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize("given", ["2024-13-01 10:11:12", "2024-12-32 10:11:12"])
def test_the_time_of_what_is_no_date_at_all_is_zero_without_strict_mode(server: str, given: str) -> None:
    assert stored(server, "TIME", given, "ALLOW_INVALID_DATES") == ("00:00:00",)
    with pytest.raises(ScenarioError, match="cannot hold the time of this date"):
        stored(server, "TIME", given)
