"""Forms of dates and times that servers read as well; what they stored is recorded on MySQL 9.7 and MariaDB 11.8."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge import values
from forge.errors import ScenarioError
from forge.values.temporal.forms import clock_form, moment_form

BOTH = ("mysql-9.7", "mariadb-11.8")


@pytest.mark.parametrize("server", BOTH)
@pytest.mark.parametrize(
    ("type_text", "declared", "cell"),
    [
        ("DATE", "24-1-1", "21d00f"),
        ("DATE", "69-12-31", "9f2b10"),
        ("DATE", "70-01-01", "21640f"),
        ("DATE", "00-01-01", "21a00f"),
        ("DATE", "2024/02/29", "5dd00f"),
        ("DATE", "240229", "5dd00f"),
        ("DATE", 20240229, "5dd00f"),
        ("DATE", 101, "21a00f"),
        ("DATE", 691231, "9f2b10"),
        ("DATE", b"2024-02-29", "5dd00f"),
        ("DATE", "10:11:12", "6cb50f"),
        ("DATE", "1:2:3", "430200"),
        ("DATETIME(6)", "20240229101112.5", "99b2baa2cc07a120"),
        ("DATETIME(6)", "240229101112", "99b2baa2cc000000"),
        ("DATETIME(6)", Decimal("20240229101112.5"), "99b2baa2cc07a120"),
        ("DATETIME(6)", 20240229101112, "99b2baa2cc000000"),
        ("DATETIME(6)", "2024^02^29 10*11*12", "99b2baa2cc000000"),
        ("DATETIME(6)", "2024-02-29\t10.11.12", "99b2baa2cc000000"),
        ("TIMESTAMP(6)", 700101000001, None),
        ("TIMESTAMP(6)", "20240229", "65dfc900000000"),
        ("TIME(6)", "1 10", "822000000000"),
        ("TIME(6)", "-101112", "7f5d34000000"),
        ("TIME(6)", "5", "800005000000"),
        ("TIME(6)", 1112, "8002cc000000"),
        ("TIME(6)", Decimal("-1.5"), "7ffffef85ee0"),
        ("TIME(6)", "101112.5", "80a2cc07a120"),
        ("TIME(6)", 20240229101112, "80a2cc000000"),
        ("TIME(6)", "2024-02-29 10:11:12", "80a2cc000000"),
        ("TIME(6)", "8385959", "b46efb000000"),
        ("TIME(6)", {"hex": "31323a33343a3536"}, "80c8b8000000"),
    ],
)
def test_other_forms_are_stored_as_servers_store_them(
    server: str, type_text: str, declared: Any, cell: str | None
) -> None:
    if cell is None:
        assert values.decode(type_text, values.encode(type_text, declared, server=server)).year == 1970
    else:
        assert values.encode(type_text, declared, server=server).hex() == cell


@pytest.mark.parametrize(
    ("server", "type_text", "declared"),
    [
        ("mysql-9.7", "DATE", Decimal("20240229.5")),
        ("mysql-9.7", "TIME", "+12:34:56"),
        ("mysql-9.7", "TIME", "2024-02-29"),
        ("mysql-9.7", "TIME", "2024-02-29T10:11:12"),
        ("mysql-9.7", "DATE", 100),
        ("mysql-9.7", "DATE", 700100),
        ("mysql-9.7", "DATE", -20240229),
        ("mysql-9.7", "TIME", 6000),
        ("mysql-9.7", "TIME", 8385960),
        ("mariadb-11.8", "TIME", ""),
        ("mariadb-11.8", "TIME", ".5"),
        ("mariadb-11.8", "DATE", "2024--02-29"),
    ],
)
def test_what_a_strict_server_does_not_read_is_refused(server: str, type_text: str, declared: Any) -> None:
    with pytest.raises(ScenarioError):
        values.encode(type_text, declared, server=server)


def test_a_number_of_the_last_microsecond_is_a_time_on_some_releases_of_mariadb() -> None:
    assert clock_form(Decimal("-101112.999999"), marked=True, no_last_microsecond=True) is None
    assert clock_form(Decimal("-101112.999999"), marked=True, no_last_microsecond=False) == "-10:11:12.999999"


@given(st.one_of(st.text(max_size=30), st.integers(), st.floats(), st.decimals(), st.binary(max_size=30)))
def test_anything_has_a_form_or_none(declared: Any) -> None:
    clocks = (clock_form(declared, marked=marked, no_last_microsecond=marked) for marked in (True, False))
    for form in (moment_form(declared), *clocks):
        assert form is None or isinstance(form, str)
