"""A small plan made by hand: a database, a table, an autocommitted and an explicit transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forge.plan.changes import RowChange
from forge.plan.definitions import DatabaseCreation, DefinitionText, TableCreation
from forge.plan.effects import Search
from forge.plan.facts import Facts
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Key, KeyPart, Table, TableColumn
from forge.plan.transactions import Transaction
from forge.values.declaration.sqltype import SqlType

TABLE = Table(
    "shop",
    "t",
    (
        TableColumn("id", SqlType("INT"), nullable=False),
        TableColumn("v", SqlType("VARCHAR", length=20, collation=255)),
    ),
    (Key("PRIMARY", "primary", (KeyPart(0),)),),
)
INSERT = RowsStatement(
    "insert",
    TABLE,
    (RowChange(None, (1, "x")), RowChange(None, (2, None))),
    StatementText("INSERT INTO t VALUES (1, 'x'), (2, NULL)"),
)
UPDATE = RowsStatement(
    "update",
    TABLE,
    (RowChange((1, "x"), (1, "é")),),
    StatementText("UPDATE t SET v = 'é' WHERE id = 1", frozenset({1})),
    search=Search(compared=frozenset({0})),
)
DELETE = RowsStatement(
    "delete",
    TABLE,
    (RowChange((2, None), None),),
    StatementText("DELETE FROM t WHERE id = 2 -- and no more"),
    search=Search(compared=frozenset({0})),
)
GROUPS = (
    DatabaseCreation(DefinitionText("CREATE DATABASE shop", ""), ("shop",)),
    TableCreation(
        DefinitionText("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))", "shop"),
        ("shop",),
        (TABLE,),
        defines=TABLE.columns,
    ),
    Transaction((INSERT,), "shop"),
    Transaction((UPDATE, DELETE), "shop", explicit=True),
)


MakePlan = Callable[..., Plan]


def _plan(facts: Facts | None = None, **session: Any) -> Plan:
    return Plan("by hand", "mysql-9.7", Session(facts=facts or Facts(), **session), GROUPS)


@pytest.fixture(scope="session")
def make_plan() -> MakePlan:
    """Makes the plan with the given session settings and facts."""
    return _plan
