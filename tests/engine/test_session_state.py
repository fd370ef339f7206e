"""What a session knows from one statement to the next."""

from __future__ import annotations

from typing import Any

import pytest

from forge.engine.requests.rows import Insert
from forge.plan.plan import Plan
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, Session, Statement, insert, plan, rollback_to, savepoint

pytestmark = pytest.mark.unit

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, n BIGINT, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"


def counted(number: int, value: int, **settings: Any) -> Statement:
    rows: list[dict[str, Any] | list[Any]] = [{"id": number, "n": value}]
    return Statement(
        insert=Insert(into="d.t", rows=rows),
        query=f"INSERT INTO t (id, n) VALUES ({number}, @n := @n + 1)",
        **settings,
    )


def variables(planned: Plan) -> list[Any]:
    """What every statement of the last transaction reads of @n."""
    group = planned.groups[-1]
    assert isinstance(group, Transaction)
    rows = [statement for statement in group.statements if isinstance(statement, RowsStatement)]
    return [variable.value for statement in rows for variable in statement.context.user_variables]


def test_a_user_variable_is_counted_once_in_a_transaction_with_a_savepoint_and_a_rollback_to_it() -> None:
    scenario = Scenario(
        "counting",
        tables=[TABLE],
        session=Session(binlog_format="statement"),
        transactions=[
            [Statement(insert=Insert(into="d.t", rows=[{"id": 1}]), user_variables={"n": 5})],
            [counted(2, 6), counted(3, 7), savepoint("s"), insert("d.t", {"id": 4}), rollback_to("s")],
        ],
    )
    assert variables(plan(scenario)) == [5, 6]
