"""Literals of dates, times, floats and members as the three servers store them, with strict mode and without.

All values are recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (which agree).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.scenario import Scenario, Session, insert, plan

STRICT, LAX = "STRICT_TRANS_TABLES", ""
MARIADB = ("mariadb-10.11", "mariadb-11.8")
SERVERS = ("mysql-9.7", *MARIADB)
REFUSED = object()


@pytest.mark.parametrize(
    ("type_text", "given", "strict", "lax"),
    [
        ("DOUBLE(53,30)", 1e39, (REFUSED, REFUSED), (1e23, 1e23)),
        (
            "TIME(6)", "-00:00:00.0000005",
            ("00:00:00.000001", "00:00:00.000000"), ("00:00:00.000001", "00:00:00.000000"),
        ),
        (
            "TIME(6)", "23:59:59.99999949",
            ("24:00:00.000000", "23:59:59.999999"), ("24:00:00.000000", "23:59:59.999999"),
        ),
        (
            "TIME(6)", "1:2:3.000000499999",
            ("01:02:03.000001", "01:02:03.000000"), ("01:02:03.000001", "01:02:03.000000"),
        ),
        ("TIME", "1 2", (REFUSED, REFUSED), ("00:00:01", "00:00:01")),
        ("TIME", Decimal("-101112.999999"), ("-10:11:13", REFUSED), ("-10:11:13", "00:00:00")),
        ("TIME(0)", "838:59:59.4", (REFUSED, "838:59:59"), ("838:59:59", "838:59:59")),
        (
            "DATETIME(0)", "2024-02-29 10:11:12.999999-13:59",
            ("2024-02-29 10:11:13", REFUSED), ("2024-02-29 10:11:13", "2024-02-29 10:11:12"),
        ),
        ("DATETIME", "20240229T101112", ("2024-02-29 10:11:12",) * 2, ("2024-02-29 10:11:12",) * 2),
        ("DATETIME", "2024-02-29 10:11:12Z", (REFUSED, REFUSED), ("2024-02-29 10:11:12",) * 2),
        ("VARCHAR(3)", "ab\t\t", ("ab\t", "ab\t"), ("ab\t", "ab\t")),
        ("ENUM('a','b')", " 2", (2, 2), (2, 2)),
        ("SET('a','b')", "-1", (REFUSED, REFUSED), (0, 3)),
    ],
)  # fmt: skip
def test_a_literal_is_stored_as_recorded(
    type_text: str, given: Any, strict: tuple[Any, Any], lax: tuple[Any, Any]
) -> None:
    """``strict`` and ``lax``: what MySQL and MariaDB store."""
    for server in SERVERS:
        for mode, stored in ((STRICT, strict), (LAX, lax)):
            scenario = Scenario(
                "literals", server=server, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t (v {type_text})"]
            ).transaction(insert("d.t", {"v": given}))
            wanted = stored[server in MARIADB]
            if wanted is REFUSED:
                with pytest.raises(ScenarioError):
                    plan(scenario)
            else:
                assert plan(scenario).contents["d.t"] == ((wanted,),), (server, mode)
