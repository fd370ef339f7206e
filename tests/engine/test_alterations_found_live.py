"""What the search against live servers found (tests/long/live): what ALTER TABLE makes of columns and rows."""

from __future__ import annotations

import pytest

from forge.errors import UnsupportedError
from forge.scenario import Scenario, ddl, plan

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("column", "is_taken"),
    [("FLOAT DEFAULT 20240229", False), ("FLOAT DEFAULT 1.5", True), ("FLOAT DEFAULT 0.1234567", False),
     ("FLOAT(9,2) DEFAULT 123456.53", True), ("DOUBLE DEFAULT 0.1234567", True)],
)  # fmt: skip
def test_alter_table_beside_a_default_of_more_digits_than_it_prints_is_not_supported(
    server: str, column: str, is_taken: bool
) -> None:
    """Servers print six digits of a FLOAT, and read them again."""
    scenario = Scenario("digits", server=server, tables=[f"CREATE TABLE d.t (a INT, f {column})"])
    plan(scenario.transaction(ddl("RENAME TABLE d.t TO d.u")))
    plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY f FLOAT DEFAULT 0.1234567")))
    altered = scenario.transaction(ddl("ALTER TABLE d.t ADD x INT"))
    if is_taken:
        plan(altered)
    else:
        with pytest.raises(UnsupportedError, match="beside the default of the FLOAT column 'f'"):
            plan(altered)
