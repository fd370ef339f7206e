"""Numbers of AUTO_INCREMENT in steps (recorded on 9.7, MariaDB 10.11 and 11.8)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.engine.rows.numbering import Numbering
from forge.errors import ScenarioError
from forge.scenario import Scenario, Session, insert, plan


def numbers(*inserts: list[dict[str, Any]], options: str = "", **session: Any) -> list[Any]:
    table = f"CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT){options}"
    scenario = Scenario("s", session=Session(**session), tables=[table])
    for rows in inserts:
        scenario = scenario.transaction(insert("d.t", *rows))
    return [row[0] for row in plan(scenario).contents["d.t"]]


def test_numbers_are_those_of_the_servers() -> None:
    steps: dict[str, Any] = {"auto_increment_increment": 5, "auto_increment_offset": 3}
    two = [{"v": 1}, {"v": 2}]
    assert numbers(two, [{"v": 3}], [{"id": 20, "v": 4}], [{"v": 5}], **steps) == [3, 8, 13, 20, 23]
    found = numbers(two, two[:1], [{"id": 100}], two, [{"id": 201}], two, options=" AUTO_INCREMENT=50", **steps)
    assert found == [53, 58, 63, 100, 103, 108, 201, 203, 208]


def test_a_zero_of_its_own_counts_once_the_engine_has_given_a_number() -> None:
    modes = {"sql_mode": "NO_AUTO_VALUE_ON_ZERO"}
    assert numbers([{"v": 1}], [{"id": 0}], [{"v": 2}], **modes) == [0, 1, 3]
    assert numbers([{"id": 0}], [{"v": 1}], **modes) == [0, 1]
    assert numbers([{"v": 1}], [{"id": 0}], [{"v": 2}], options=" ENGINE=MyISAM", **modes) == [0, 1, 2]


@given(start=st.integers(1, 1000), rows=st.integers(1, 20), step=st.integers(1, 10), data=st.data())
def test_generated_numbers_belong_to_the_series_and_grow(start: int, rows: int, step: int, data: st.DataObject) -> None:
    offset = data.draw(st.integers(1, step))
    numbering = Numbering(start, rows, increment=step, offset=offset)
    made = [numbering.generated() for _ in range(rows)]
    assert made[0] >= start
    assert all(later == before + step for before, later in itertools.pairwise(made))
    assert step == 1 or all(number % step == offset % step for number in made)
    assert numbering.following > made[-1]


def test_a_locale_that_no_server_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(ScenarioError, match=r"not a locale.*de_DE"):
        numbers([{"v": 1}], lc_time_names="de_DD")
