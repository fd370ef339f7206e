"""Table state held to a simple model: a list of rows, searched from end to end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ScenarioError
from forge.plan.plan import Plan
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, Statement, delete, insert, plan, update

TABLE = "CREATE TABLE d.t (k INT{key}, u VARCHAR(3) COLLATE utf8mb4_bin UNIQUE, v INT NOT NULL DEFAULT 5)"
NAMES = ("k", "u", "v")
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "k": st.integers(0, 6),
    "u": st.sampled_from(["a", "b", "A", "ab", None]),
    "v": st.integers(0, 3),
}
Row = dict[str, Any]


def some_cells(least: int = 0) -> st.SearchStrategy[Row]:
    return st.dictionaries(st.sampled_from(NAMES), st.none(), min_size=least).flatmap(
        lambda names: st.fixed_dictionaries({name: CELLS[name] for name in names})
    )


def conditions() -> st.SearchStrategy[Row]:
    numbers = st.integers(0, 6)
    of_number = st.one_of(
        numbers, st.lists(numbers, min_size=1, max_size=3), st.fixed_dictionaries({"ge": numbers, "lt": numbers})
    )
    of_text = st.one_of(CELLS["u"], st.lists(CELLS["u"], min_size=1, max_size=2))
    return st.fixed_dictionaries({}, optional={"k": of_number, "u": of_text, "v": of_number})


OPERATIONS = st.one_of(
    st.tuples(st.just("insert"), st.lists(some_cells(), min_size=1, max_size=3)),
    st.tuples(st.just("update"), conditions(), some_cells(1)),
    st.tuples(st.just("delete"), conditions()),
)


class Refused(Exception):
    """A server would not do this."""


class Model:
    """Rows in a list, in the order of insertion."""

    def __init__(self, keyed: bool) -> None:
        self.keyed = keyed
        self.rows: list[Row] = []

    def apply(self, operation: tuple[Any, ...]) -> None:
        rows = [dict(row) for row in self.rows]
        if operation[0] == "insert":
            for cells in operation[1]:
                if self.keyed and "k" not in cells:
                    raise Refused
                rows.append({"k": None, "u": None, "v": 5} | cells)
                self._check(rows)
        else:
            chosen = [row for row in rows if all(self._meets(row[name], c) for name, c in operation[1].items())]
            if self.keyed:
                chosen.sort(key=lambda row: row["k"])
            for row in chosen:
                if operation[0] == "update":
                    row |= operation[2]
                    self._check(rows)
                else:
                    rows = [other for other in rows if other is not row]
        self.rows = rows

    @staticmethod
    def _meets(value: Any, condition: Any) -> bool:
        if isinstance(condition, dict):
            return value is not None and condition["ge"] <= value < condition["lt"]
        return value in (condition if isinstance(condition, list) else [condition])

    def _check(self, rows: list[Row]) -> None:
        for name in ("k", "u") if self.keyed else ("u",):
            values = [row[name] for row in rows if row[name] is not None]
            if len(set(values)) < len(values):
                raise Refused

    def contents(self) -> list[tuple[Any, ...]]:
        rows = sorted(self.rows, key=lambda row: row["k"]) if self.keyed else self.rows
        return [tuple(row[name] for name in NAMES) for row in rows]


def statement(operation: tuple[Any, ...]) -> Statement:
    if operation[0] == "insert":
        return insert("d.t", *operation[1])
    if operation[0] == "update":
        return update("d.t", where=operation[1], set=operation[2])
    return delete("d.t", where=operation[1])


def statements(result: Plan) -> Iterator[RowsStatement]:
    for group in result.groups:
        if isinstance(group, Transaction):
            yield from group.rows_statements


@given(st.booleans(), st.lists(OPERATIONS, min_size=1, max_size=8))
def test_tables_hold_what_a_simple_model_holds_and_refuse_what_it_refuses(
    keyed: bool, operations: list[tuple[Any, ...]]
) -> None:
    model = Model(keyed)
    scenario = Scenario("x", tables=[TABLE.format(key=" PRIMARY KEY" if keyed else "")])
    for operation in operations:
        longer = scenario.transaction(statement(operation))
        try:
            model.apply(operation)
        except Refused:
            try:
                plan(longer)
            except ScenarioError:
                continue
            raise AssertionError(f"{operation} was not refused") from None
        scenario = longer
        assert list(plan(scenario).contents["d.t"]) == model.contents()


@pytest.mark.slow
@given(st.booleans(), st.lists(OPERATIONS, min_size=1, max_size=8))
def test_row_changes_alone_lead_to_the_contents(keyed: bool, operations: list[tuple[Any, ...]]) -> None:
    scenario = Scenario("x", tables=[TABLE.format(key=" PRIMARY KEY" if keyed else "")])
    for operation in operations:
        longer = scenario.transaction(statement(operation))
        try:
            plan(longer)
        except ScenarioError:
            continue
        scenario = longer
    result = plan(scenario)
    rows: list[Any] = []
    for each in statements(result):
        for change in each.changes:
            assert change.before != change.after
            if change.before is not None:
                rows.remove(change.before)
            if change.after is not None:
                rows.append(change.after)
    assert sorted(rows, key=repr) == sorted(result.contents["d.t"], key=repr)


@given(st.lists(OPERATIONS, max_size=5))
def test_the_same_scenario_gives_the_same_plan(operations: list[tuple[Any, ...]]) -> None:
    scenario = Scenario("x", tables=[TABLE.format(key="")])
    for operation in operations:
        scenario = scenario.transaction(statement(operation))
    try:
        first = plan(scenario)
    except ScenarioError as error:
        try:
            plan(scenario)
        except ScenarioError as again:
            assert str(again) == str(error)
            return
        raise
    assert plan(scenario) == first
