"""Modes of a session, and their bits in events."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.plan.sql_modes import sql_mode_bits
from forge.servers import server_line

MYSQL_DEFAULT = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_ENGINE_SUBSTITUTION"
)
MARIADB_DEFAULT = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"


def test_the_defaults_have_the_numbers_that_servers_log() -> None:
    assert sql_mode_bits(MYSQL_DEFAULT, server_line("mysql-9.7")) == 0x45A00020
    assert sql_mode_bits(MARIADB_DEFAULT.lower(), server_line("mariadb-11.8")) == 0x54200000
    assert sql_mode_bits("", server_line("mysql-9.7")) == 0


@pytest.mark.parametrize(
    ("text", "server", "problem"),
    [
        ("STRICT_TRANS_TABLE", "mariadb-11.8", "there is no sql_mode 'STRICT_TRANS_TABLE'"),
        ("NO_AUTO_CREATE_USER", "mysql-9.7", "there is no sql_mode"),
        ("STRICT_TRANS_TABLES,ANSI_QUOTES", "mariadb-11.8", "ANSI_QUOTES is not supported yet"),
        ("IGNORE_SPACE", "mariadb-11.8", "is not supported yet"),
        ("STRICT_TRANS_TABLES", "mysql-9.7", "is not supported yet"),
        ("STRICT_TRANS_TABLES,NO_ZERO_DATE", "mariadb-11.8", "is not supported yet"),
    ],
)
def test_other_modes_are_refused_by_name(text: str, server: str, problem: str) -> None:
    with pytest.raises((ScenarioError, UnsupportedError), match=problem):
        sql_mode_bits(text, server_line(server))
