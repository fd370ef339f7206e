"""Strategies for everybody's tests: valid logs with their rows, and logs with one thing wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import forge
from forge import strategies
from forge.charsets import collation
from forge.engine.requests.transactions import Transaction
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.events.event import Event
from forge.events.table_map import TableMap
from forge.events.xid import Xid
from forge.logs import Log
from forge.plan.tables import Row as TableRow
from forge.plan.tables import Table
from forge.testing.mutations import MutatedLog

quick = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


@settings(max_examples=30)
@given(strategies.logs(server=("mysql-9.7", "mysql-5.6", "mariadb-11.8")))
def test_a_log_reads_without_a_problem_and_has_its_rows(log: Log) -> None:
    assert log.problem is None
    assert [row.kind for row in forge.read(log.data).rows] == [row.kind for row in log.rows]
    assert log.server in ("mysql-9.7", "mysql-5.6", "mariadb-11.8")


@settings(max_examples=20)
@given(strategies.logs(types=("decimal", "int"), session=False))
def test_types_can_be_chosen(log: Log) -> None:
    for row in log.rows:
        for value in [*(row.before or {}).values(), *(row.after or {}).values()]:
            assert value is None or isinstance(value, (Decimal, int))


@settings(max_examples=20)
@given(strategies.mutated_logs())
def test_what_was_changed_is_said_and_what_a_reader_may_do(log: MutatedLog) -> None:
    assert log.mutation
    assert isinstance(log.problem, (FormatError, UnsupportedError, type(None)))
    again = forge.read(log.data, "lenient")
    assert (again.rows, str(again.problem)) == (log.rows, str(log.problem))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(3))
def test_what_fails_is_shrunk_to_one_column_one_row_and_the_nearest_value(start: int) -> None:
    found: list[Any] = []

    @seed(start)
    @settings(quick, max_examples=300)
    @given(strategies.logs(types=("INT", "VARCHAR")))
    def reader_that_fails_on_negative_numbers(log: Log) -> None:
        for row in log.rows:
            if any(isinstance(value, int) and value < 0 for value in (row.after or {}).values()):
                found.append([row.after for row in log.rows])
                raise AssertionError

    with pytest.raises(AssertionError):
        reader_that_fails_on_negative_numbers()
    [row] = found[-1]
    assert list(row.values()) == [-1]


@pytest.mark.slow
def test_what_fails_on_a_later_change_is_shrunk_to_one_column_and_that_change() -> None:
    found: list[Any] = []

    @seed(0)
    @settings(quick, max_examples=300)
    @given(strategies.logs(types=("SMALLINT", "VARCHAR")))
    def reader_that_fails_on_deletes_of_large_numbers(log: Log) -> None:
        for row in log.rows:
            values = (row.before or {}).values()
            if row.kind == "delete" and any(isinstance(value, int) and value > 99 for value in values):
                found.append([(row.kind, list(values)) for row in log.rows if row.before])
                raise AssertionError

    with pytest.raises(AssertionError):
        reader_that_fails_on_deletes_of_large_numbers()
    assert found[-1] == [("delete", [100])]


@settings(max_examples=10)
@given(strategies.tables("mariadb-11.8", types="varchar", charsets="latin1", max_columns=3))
def test_tables_have_the_types_and_character_sets_that_were_chosen(table: Table) -> None:
    assert {column.type.name for column in table.columns} <= {"VARCHAR", "VARBINARY"}
    names = {collation(column.type.collation or 63).charset for column in table.columns}
    assert names <= {"latin1", "binary"}  # VARCHAR with the character set binary is VARBINARY.
    assert len(table.columns) <= 3


@settings(max_examples=10)
@given(
    strategies.tables(types=("INT", "ENUM")).flatmap(lambda table: st.tuples(st.just(table), strategies.rows(table)))
)
def test_rows_fit_their_table(drawn: tuple[Table, list[TableRow]]) -> None:
    table, rows = drawn
    assert 1 <= len(rows) <= 3
    assert {len(row) for row in rows} == {len(table.columns)}


@settings(max_examples=10)
@given(strategies.transactions(types="INT", max_columns=1, max_rows=1))
def test_a_transaction_is_one_of_a_scenario(transaction: Transaction) -> None:
    assert transaction.statements


@settings(max_examples=10)
@given(strategies.events(("table_map", "XID")))
def test_events_have_the_types_that_were_chosen(event: Event) -> None:
    assert isinstance(event.body, (TableMap, Xid))


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [
        "from forge.strategies import logs; import hypothesis; from forge import Log, Scenario",
        "import hypothesis; from forge import Log, Scenario",
        "from forge import Log, Scenario; import hypothesis",
    ],
)
def test_types_of_ours_have_their_strategies_whatever_is_imported_first(order: str) -> None:
    asked = "from hypothesis import strategies as st\nfor one in (Log, Scenario):\n    st.from_type(one).validate()\n"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{order}\n{asked}"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_hypothesis_loads_nothing_of_ours_but_the_entry_point() -> None:
    loaded = "import hypothesis, sys; print(*sorted(one for one in sys.modules if one.split('.')[0] == 'forge'))"
    ended = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["forge", "forge.hypothesis_types"]


def test_types_of_ours_have_their_strategies() -> None:
    @settings(quick, max_examples=2)
    @given(st.from_type(Log))
    def logs(log: Log) -> None:
        assert log.data[:4] == b"\xfebin"

    logs()


@pytest.mark.parametrize(
    ("strategy", "wrong", "sentence"),
    [
        (strategies.scenarios, {"server": "mysql-9.9"}, "mysql-9.9"),
        (strategies.scenarios, {"types": ("DECIMALS",)}, "there is no type 'DECIMALS'; did you mean 'DECIMAL'"),
        (strategies.tables, {"server": "mysql-9.9"}, "mysql-9.9"),
        (strategies.tables, {"types": "JSONN"}, "there is no type 'JSONN'; did you mean 'JSON'"),
        (strategies.events, {"types": "TABLEMAP"}, "there is no event type 'TABLEMAP'; did you mean 'TABLE_MAP'"),
    ],
)
def test_a_wrong_name_is_told_at_once(strategy: Callable[..., Any], wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        strategy(**wrong)
