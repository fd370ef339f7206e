"""`{sql: ...}` in SET of an UPDATE: what each row gets, and what is refused."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.plan.statements import RowsStatement
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, insert, plan, update

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(5), n INT, j JSON, at DATETIME)"
ROWS = insert("d.t", {"id": 1, "v": "a", "n": 5}, {"id": 2, "v": None, "n": 7})


def test_each_row_gets_its_own_value_and_later_entries_see_earlier_ones() -> None:
    scenario = Scenario("x", tables=[TABLE]).transaction(ROWS)
    changed = {"id": {"sql": "id + 10"}, "v": {"sql": "CONCAT(v, id)"}, "n": {"sql": "IF(v IS NULL, -1, n)"}}
    planned = plan(scenario.transaction(update("d.t", set=changed)))
    assert [row[:3] for row in planned.contents["d.t"]] == [(11, "a11", 5), (12, None, -1)]
    group = planned.groups[-1]
    assert isinstance(group, Transaction)
    [statement] = group.statements
    assert isinstance(statement, RowsStatement)
    assert statement.text.sql == (
        "UPDATE `d`.`t` SET `id` = id + 10, `v` = CONCAT(v, id), `n` = IF(v IS NULL, -1, n) ORDER BY `id`"
    )


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ({"v": {"sql": "SOUNDEX(v)"}}, "is not supported yet; expected a literal for one row, or `logged`"),
        ({"v": {"sql": "v +"}}, "is not an expression"),
        ({"v": {"sql": ""}}, "is not an expression; expected {sql: text}"),
        ({"v": {"sql": "missing"}}, "missing"),
        ({"v": {"sql": "CONCAT(v, 'long text')"}}, "long text"),
        ({"n": {"sql": "n * 1000000000000"}}, "5000000000000"),
        ({"id": {"sql": "id + 1"}}, "already has a row whose primary key is id 2"),
        ({"n": {"sql": "v + 1"}}, "no number"),
        ({"j": {"sql": "1"}}, "it is no document"),
    ],
)
def test_what_is_not_computed_or_does_not_fit_is_refused(cell: dict[str, object], problem: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        plan(Scenario("x", tables=[TABLE]).transaction(ROWS).transaction(update("d.t", set=cell)))
    assert problem in str(caught.value)
