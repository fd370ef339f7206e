"""What the search against live servers found (tests/long/live): statements on rows that servers take, or refuse."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.scenario import Scenario, insert, plan, replace

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


def test_mariadb_refuses_an_old_number_behind_a_row_of_replace_that_deleted_another_with_a_new_one() -> None:
    table = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, UNIQUE KEY u (a), UNIQUE KEY last (a))"
    for server in (MYSQL, MARIADB):
        scenario = Scenario("stale", server=server, tables=[table])
        scenario = scenario.transaction(insert("d.t", {"id": 1, "a": 1}, {"id": 2, "a": 2}))
        scenario = scenario.transaction(replace("d.t", {"id": None, "a": 1}, {"id": 2, "a": 5}))
        if server == MYSQL:
            assert plan(scenario).contents["d.t"] == ((2, 5), (3, 1))
            continue
        with pytest.raises(ScenarioError, match="primary key is id 2"):
            plan(scenario)
