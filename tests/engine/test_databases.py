"""The session's database from transaction to transaction, and the domain of its GTIDs."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.plan.session import Session
from forge.render.sql import replay_script
from forge.scenario import Scenario, Statement, Transaction, insert, plan

TABLE = "CREATE TABLE shop.t (id INT PRIMARY KEY)"


def _used(scenario: Scenario) -> list[str]:
    return [group.current_database for group in plan(scenario).groups]


def test_a_database_is_the_sessions_until_another_is_named() -> None:
    scenario = Scenario(scenario="use", tables=[TABLE])
    scenario = scenario.transaction(insert("shop.t", {"id": 1}), database="store").transaction(
        insert("shop.t", {"id": 2})
    )
    assert _used(scenario.transaction(insert("t", {"id": 3}), database="shop"))[-3:] == ["store", "store", "shop"]
    assert replay_script(plan(scenario)).count("USE ") == 2


def test_a_database_that_does_not_exist_is_answered_with_the_nearest() -> None:
    gone = Transaction(statements=[insert("shop.t", {"id": 1})], database="store")
    scenario = Scenario(
        scenario="gone",
        tables=[TABLE],
        transactions=[[Statement(ddl="CREATE DATABASE store")], [Statement(ddl="DROP DATABASE store")], gone],
    )
    with pytest.raises(ScenarioError, match="there is no database 'store'"):
        plan(scenario)


def test_who_drops_the_current_database_has_none_and_the_replay_knows() -> None:
    scenario = Scenario(scenario="drop", tables=[TABLE]).transaction(
        Statement(ddl="DROP DATABASE other"), database="other"
    )
    scenario = scenario.transaction(insert("shop.t", {"id": 1}))
    assert _used(scenario)[-2:] == ["", ""]
    assert "USE `other`;\nDROP DATABASE other;" in replay_script(plan(scenario))


def test_only_mariadb_has_domains() -> None:
    with pytest.raises(ScenarioError):
        plan(Scenario(scenario="domain", tables=[TABLE], session=Session(gtid_domain_id=1)))
    with pytest.raises(ScenarioError, match="4294967295"):
        plan(Scenario(scenario="domain", tables=[TABLE], server="mariadb-11.8", session=Session(gtid_domain_id=2**32)))
