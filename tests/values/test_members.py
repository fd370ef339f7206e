"""ENUM and SET: what is taken for a member, as recorded on MySQL 9.7, MariaDB 10.11 and 11.8."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from forge import values
from forge.errors import ScenarioError
from forge.scenario import Scenario, insert, plan

SIXTY_FOUR = f"SET({','.join(repr(f'm{number}') for number in range(64))})"


@pytest.mark.parametrize(
    ("type_text", "declared", "cell"),
    [
        ("ENUM('a','b')", Decimal("1.5"), "01"),
        ("ENUM('a','b')", b"b", "02"),
        ("ENUM('a','\u65e5') CHARACTER SET latin1", "?", "02"),
        ("ENUM('a','\u00e9') CHARACTER SET latin1", {"hex": "e9"}, "02"),
        ("SET('a','b')", 1.0, "01"),
        ("SET('a','b')", {"hex": "612c62"}, "03"),
        ("SET('a','b')", "a,b ", "03"),
        (SIXTY_FOUR, -1, "ff" * 8),
        (SIXTY_FOUR, -(2**63), "00" * 7 + "80"),
    ],
)
def test_members_are_found_as_servers_find_them(type_text: str, declared: Any, cell: str) -> None:
    assert values.encode(type_text, declared).hex() == cell


@pytest.mark.parametrize(
    ("type_text", "declared"),
    [("SET('a','b')", "a ,b"), ("SET('a','b')", -1), (SIXTY_FOUR, 2**64), ("ENUM('a')", 1.5e9)],
)
def test_what_is_no_member_is_refused(type_text: str, declared: Any) -> None:
    with pytest.raises(ScenarioError):
        values.encode(type_text, declared)


@pytest.mark.parametrize("members", ["'\u00e9','e'", "'a','A'", "'ss','\u00df'"])
def test_members_that_the_collation_calls_equal_are_refused(members: str) -> None:
    with pytest.raises(ScenarioError, match="equal members"):
        values.column(f"ENUM({members})")


def test_the_text_of_zero_is_an_index_on_mysql_alone() -> None:
    def planned(server: str, declared: Any) -> Any:
        made = plan(
            Scenario("t", server=server, tables=["CREATE TABLE d.t (a ENUM('x'))"]).transaction(
                insert("d.t", {"a": declared})
            )
        )
        return made.contents["d.t"]

    assert planned("mysql-9.7", "0") == ((0,),)
    for server, declared in (("mysql-9.7", 0), ("mariadb-11.8", "0")):
        with pytest.raises(ScenarioError):
            planned(server, declared)
