"""What the search against live servers found (tests/long/live): literals as servers take, refuse or read them."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.scenario import Scenario, Session, insert, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def stored(server: str, column: str, given: Any, sql_mode: str | None = None) -> Row:
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


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize("column", ["INT", "DECIMAL(10,2)", "YEAR"])
@pytest.mark.parametrize("given", ["1.5e", "12e ", "1e+\n", "7E-", "1e 1", ".5e+"])
def test_a_number_whose_exponent_is_not_complete_is_refused_by_name(server: str, column: str, given: str) -> None:
    with pytest.raises(UnsupportedError, match="whose exponent is not complete"):
        stored(server, column, given)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_so_it_is_without_strict_mode_where_types_read_other_numbers_of_it(server: str) -> None:
    for given in ("1.5e+", ".5e-", "1e 1"):
        with pytest.raises(UnsupportedError, match="whose exponent is not complete"):
            stored(server, "INT", given, "")
    assert stored(server, "INT", "12e", "") == (12,)
    assert stored(server, "DOUBLE", "1.5ex", "") == (1.5,)


@pytest.mark.parametrize("column", ["INT", "YEAR"])
@pytest.mark.parametrize("given", ["\n12x", " \n12 1", "\v12-"])
def test_mysql_reads_no_integer_behind_a_line_end_without_strict_mode(column: str, given: str) -> None:
    assert stored(MYSQL, column, given, "") == (0,)
    assert stored(MARIADB, column, given, "") == (12 if column == "INT" else 2012,)
    assert stored(MYSQL, column, f"\t{given.strip()}", "") == (12 if column == "INT" else 2012,)


def test_a_year_of_very_many_digits_is_0000_without_strict_mode() -> None:
    assert stored(MYSQL, "YEAR", "6e76", "") == (0,)


def test_mysql_refuses_an_offset_behind_a_date_with_a_zero_in_every_mode() -> None:
    for given in ("2024-02-00 23:46:52-13:59", "2024-00-10 10:00:00+00:00"):
        for mode in (None, ""):
            with pytest.raises(ScenarioError):
                stored(MYSQL, "DATETIME", given, mode)


@pytest.mark.parametrize("mode", [None, ""])
@pytest.mark.parametrize("given", ["0000-03-04 10:11:12+02:00", "1900-01-01 10:00:00-01:00"])
def test_an_offset_behind_a_moment_before_1902_is_refused_by_name(mode: str | None, given: str) -> None:
    with pytest.raises(UnsupportedError, match="what a DATETIME column makes of"):
        stored(MYSQL, "DATETIME", given, mode)


@pytest.mark.parametrize("day", ["2024-02-29", "9999-12-31", "2024-02-00", "0000-00-00"])
def test_mysql_rounds_the_time_behind_a_date_for_a_time_without_the_date(day: str) -> None:
    assert stored(MYSQL, "TIME", f"{day} 23:59:59.9999995") == ("24:00:00",)
    assert stored(MYSQL, "TIME(6)", f"{day} 23:59:59.99999949") == ("23:59:59.999999",)


@pytest.mark.parametrize("mode", ["TIME_ROUND_FRACTIONAL", "TIME_ROUND_FRACTIONAL,STRICT_TRANS_TABLES"])
@pytest.mark.parametrize("column", ["DATETIME", "TIMESTAMP(3) NULL", "TIME(6)"])
@pytest.mark.parametrize("day", ["9999-12-31", "0000-01-01", "2024-02-00"])
def test_what_mariadb_rounds_beyond_the_last_day_or_without_a_day_is_refused_by_name(
    mode: str, column: str, day: str
) -> None:
    with pytest.raises(UnsupportedError, match="rounded or moved to UTC"):
        stored(MARIADB, column, f"{day} 23:59:59.9999995", mode)


def test_a_float_below_zero_that_is_too_near_to_it_is_refused_by_name_on_mariadb() -> None:
    for mode in (None, ""):
        with pytest.raises(UnsupportedError, match="so near to zero on MariaDB"):
            stored(MARIADB, "FLOAT", "-.9e-77", mode)
        assert stored(MARIADB, "FLOAT", ".9e-77", mode) == (0.0,)
        assert stored(MARIADB, "DOUBLE", "-.9e-77", mode) == (-9e-78,)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_bytes_lose_the_white_space_of_their_own_set_beyond_the_length(server: str) -> None:
    for charset, white in (("latin1", "a0"), ("greek", "a0"), ("cp852", "ff"), ("cp1251", "0a"), ("ucs2", "0020")):
        first = "0061" if charset == "ucs2" else "61"
        assert stored(server, f"VARCHAR(1) CHARACTER SET {charset}", {"hex": first + white}) == ("a",)
    with pytest.raises(ScenarioError, match="cannot hold 2 characters"):
        stored(server, "VARCHAR(1) CHARACTER SET cp1251", {"hex": "61a0"})
    with pytest.raises(ScenarioError, match="cannot hold 2 characters"):
        stored(server, "VARCHAR(1) CHARACTER SET latin1", "a\xa0")


@pytest.mark.parametrize("mode", [None, ""])
@pytest.mark.parametrize("given", ["-4.e  ", "[4e+]", '{"k": -}', "[1, 0E-,2]", "4.5e\n"])
def test_a_number_without_all_its_digits_in_the_json_of_mariadb_is_refused_by_name(
    given: str, mode: str | None
) -> None:
    with pytest.raises(UnsupportedError, match="JSON does not take a number without all its digits"):
        stored(MARIADB, "JSON", given, mode)


@pytest.mark.parametrize("given", ["2024-02-00 23:46:52", "2024-00-10 23:46:52", "0000-00-00 23:46:52"])
def test_no_zero_in_date_keeps_mariadb_from_the_time_of_a_date_with_a_zero(given: str) -> None:
    assert stored(MARIADB, "TIME", given, "NO_ZERO_DATE,STRICT_TRANS_TABLES") == ("23:46:52",)
    assert stored(MARIADB, "TIME", given, "NO_ZERO_IN_DATE") == ("00:00:00",)
    assert stored(MYSQL, "TIME", given, "NO_ZERO_IN_DATE,STRICT_TRANS_TABLES") == ("23:46:52",)
    with pytest.raises(ScenarioError, match="cannot hold the time of this date"):
        stored(MARIADB, "TIME", given, "NO_ZERO_IN_DATE,STRICT_TRANS_TABLES")


def test_a_day_without_a_month_is_24_hours_in_a_time_of_mariadb() -> None:
    assert stored(MARIADB, "TIME", "0000-00-10 23:46:52") == ("263:46:52",)
    assert stored(MYSQL, "TIME", "0000-00-10 23:46:52") == ("23:46:52",)
    assert stored(MARIADB, "TIME", "0000-01-10 23:46:52") == ("23:46:52",)


def test_a_rounded_time_of_mariadb_keeps_its_sign() -> None:
    assert stored(MARIADB, "TIME(6)", "-00:00:00.0000005", "TIME_ROUND_FRACTIONAL") == ("-00:00:00.000001",)
    assert stored(MYSQL, "TIME(6)", "-00:00:00.0000005") == ("00:00:00.000001",)


@pytest.mark.parametrize("given", ["2024-02-29 23:59:59.5+00:00", "2024-02-30 23:46:52-13:59"])
def test_an_offset_in_a_time_with_a_fraction_or_without_a_day_of_the_calendar_is_refused_by_name(given: str) -> None:
    with pytest.raises(UnsupportedError, match="what a TIME column"):
        stored(MYSQL, "TIME", given)
    assert stored(MYSQL, "TIME", "2024-02-29 23:46:52+14:00") == ("09:46:52",)


@pytest.mark.parametrize("column", ["FLOAT", "DOUBLE", "FLOAT UNSIGNED"])
def test_mysql_reads_the_sign_of_a_zero_that_is_not_the_whole_text(column: str) -> None:
    for given in ("\n-.0E-0x\t", "  -0. 1", "-0x"):
        assert str(stored(MYSQL, column, given, "")[0]) == "-0.0"
        assert str(stored(MARIADB, column, given, "")[0]) == "0.0"
    assert str(stored(MYSQL, column, "-x", "")[0]) == "0.0"
