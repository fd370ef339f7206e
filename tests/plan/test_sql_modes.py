"""Modes of a session, and their bits in events."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.plan.sql_modes import sql_mode
from forge.servers import server_line

MYSQL_DEFAULT = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION"
)
MARIADB_DEFAULT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"


def test_the_defaults_have_the_numbers_that_servers_log() -> None:
    assert sql_mode(MYSQL_DEFAULT, server_line("mysql-9.7")).bits == 0x45A00020
    assert sql_mode(MARIADB_DEFAULT.lower(), server_line("mariadb-11.8")).bits == 0x54200000
    assert sql_mode("", server_line("mysql-9.7")).bits == 0
    assert sql_mode(None, server_line("mysql-9.7")) == sql_mode(MYSQL_DEFAULT, server_line("mysql-9.7"))


@pytest.mark.parametrize(
    ("text", "server", "bits"),
    [
        ("ANSI", "mysql-9.7", 0x4002F),
        ("ansi", "mariadb-11.8", 0x4000F),
        ("ANSI", "mysql-5.6", 0x4000F),
        ("ANSI,ONLY_FULL_GROUP_BY", "mariadb-11.8", 0x4002F),
        ("TRADITIONAL", "mysql-9.7", 0x4DE00000),
        ("TRADITIONAL", "mysql-5.7", 0x5DE00000),
        ("TRADITIONAL", "mariadb-10.11", 0x5DE00000),
        ("ORACLE", "mariadb-11.8", 0x21000E20E),
        ("MAXDB", "mariadb-11.8", 0x1000F00E),
        ("MYSQL40", "mariadb-10.11", 0x20020000),
        ("TIME_TRUNCATE_FRACTIONAL", "mysql-9.7", 1 << 32),
        ("TIME_ROUND_FRACTIONAL,EMPTY_STRING_IS_NULL", "mariadb-11.8", 5 << 32),
    ],
)
def test_a_mode_has_its_bit_and_those_that_it_stands_for(text: str, server: str, bits: int) -> None:
    assert sql_mode(text, server_line(server)).bits == bits


@pytest.mark.parametrize(
    ("text", "server", "problem"),
    [
        ("STRICT_TRANS_TABLE", "mariadb-11.8", "there is no sql_mode 'STRICT_TRANS_TABLE'"),
        ("NO_AUTO_CREATE_USER", "mysql-9.7", "mysql-9.7 has no sql_mode 'NO_AUTO_CREATE_USER'"),
        ("ORACLE", "mysql-8.4", "mysql-8.4 has no sql_mode 'ORACLE'"),
        ("TIME_TRUNCATE_FRACTIONAL", "mariadb-11.8", "mariadb-11.8 has no sql_mode"),
    ],
)
def test_other_modes_are_refused_by_name(text: str, server: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        sql_mode(text, server_line(server))
