"""Triggers that change tables of other engines than the statement's."""

from __future__ import annotations

from typing import Any

from forge.engine.requests.rows import Insert
from forge.engine.requests.statements import Further
from forge.scenario import Scenario, Session, Statement

TABLES: list[Any] = ["CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.log (n INT PRIMARY KEY) ENGINE=MyISAM"]
TRIGGER = "CREATE TRIGGER d.tr AFTER INSERT ON d.t FOR EACH ROW INSERT INTO log VALUES (NEW.id)"


def scenario(server: str, *, gtid: bool) -> Scenario:
    fired = Further(insert=Insert(into="d.log", rows=[{"n": 1}]))
    both = Statement(insert=Insert(into="d.t", rows=[{"id": 1}]), further=[fired])
    made = Scenario("engines", server=server, session=Session(gtid=gtid), tables=TABLES)
    return made.ddl(TRIGGER).transaction(both)
