"""Triggers that change tables of other engines than the statement's."""

from __future__ import annotations

from typing import Any

import pytest

from forge.engine.requests.statements import Further, Insert
from forge.errors import ScenarioError
from forge.scenario import Scenario, Session, Statement, plan

TABLES: list[Any] = ["CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.log (n INT PRIMARY KEY) ENGINE=MyISAM"]
TRIGGER = "CREATE TRIGGER d.tr AFTER INSERT ON d.t FOR EACH ROW INSERT INTO log VALUES (NEW.id)"


def scenario(server: str, *, gtid: bool) -> Scenario:
    fired = Further(insert=Insert(into="d.log", rows=[{"n": 1}]))
    both = Statement(insert=Insert(into="d.t", rows=[{"id": 1}]), further=[fired])
    made = Scenario("engines", server=server, session=Session(gtid=gtid), tables=TABLES)
    return made.ddl(TRIGGER).transaction(both)


def test_mysql_with_gtids_refuses_both_kinds_of_engines_in_one_statement() -> None:
    plan(scenario("mysql-9.7", gtid=False))
    with pytest.raises(ScenarioError, match="enforce_gtid_consistency forbids"):
        plan(scenario("mysql-9.7", gtid=True))
