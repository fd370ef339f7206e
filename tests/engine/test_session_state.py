"""A session's state, and the forks of it that learn in which group each statement is logged."""

from __future__ import annotations

from typing import Any

import pytest

from forge.engine.ddl.context import DdlContext
from forge.engine.ddl.handlers import run_definition
from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.table_state import UndoLog
from forge.engine.requests.statements import Insert
from forge.engine.rows.defaults import StatementTime
from forge.engine.session.prepared import Prepared
from forge.engine.session.state import SessionState
from forge.plan.plan import Plan
from forge.plan.statement_text import UserVariable
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction, XaId
from forge.scenario import Scenario, Session, Statement, insert, plan, rollback_to, savepoint
from forge.sql.parse.statements import parse_ddl

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


def _state() -> SessionState:
    catalog = Catalog("mysql-9.7")
    for sql in ("CREATE DATABASE d", "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE VIEW v AS SELECT a FROM t"):
        run_definition(parse_ddl(sql), DdlContext(catalog, sql, "d", StatementTime(0, 0)))
    state = SessionState(catalog, database="d", variables={"n": UserVariable("n", 1)})
    catalog.tables["d", "t"].add((1, 1))
    return state


def test_what_happens_in_a_fork_is_not_seen_in_the_state() -> None:
    state = _state()
    fork = state.fork()
    table = fork.catalog.tables["d", "t"]
    table.add((2, 2))
    table.change(0, (1, 7))
    table.lock(0)
    fork.variables["n"] = UserVariable("n", 2)
    fork.unknown.add("m")
    fork.catalog.databases["e"] = 8
    del fork.catalog.objects["view", "d", "v"]
    del fork.catalog.tables["d", "t"]
    kept = state.catalog.tables["d", "t"]
    assert kept.rows == {0: (1, 1)}
    assert kept.conflict((2, 2)) is None
    assert (kept.inserted, kept.locked) == (1, set())
    assert state.variables == {"n": UserVariable("n", 1)}
    assert not state.unknown
    assert set(state.catalog.databases) == {"d"}
    assert ("view", "d", "v") in state.catalog.objects


def test_what_happens_in_the_state_is_not_seen_in_its_fork() -> None:
    state = _state()
    fork = state.fork()
    state.catalog.tables["d", "t"].remove(0)
    assert fork.catalog.tables["d", "t"].rows == {0: (1, 1)}


def test_a_fork_shares_the_rows_of_tables_that_nobody_changes() -> None:
    state = _state()
    assert state.fork().catalog.tables["d", "t"].rows is state.catalog.tables["d", "t"].rows


def test_a_prepared_transaction_is_taken_back_in_the_fork_alone() -> None:
    state = _state()
    xa = XaId(b"x")
    table = state.catalog.tables["d", "t"]
    log: UndoLog = [(table, 0, (1, 0))]
    caches: Any = None
    state.prepared.add(xa, Prepared(log, caches), detaches=True)
    state.fork().prepared.forget()
    assert table.rows == {0: (1, 1)}
    assert table.locked == {0}
