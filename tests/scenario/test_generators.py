"""Generated cells (forge.scenario.generators)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.engine.requests.cells import ColumnPlace
from forge.errors import ScenarioError
from forge.plan.plan import Plan
from forge.scenario import Scenario, insert, insert_many, plan, update
from forge.scenario.generators import Generators


def made(cell: dict[str, Any], row: int = 0, **place: Any) -> Any:
    return Generators(0)(cell, ColumnPlace(**{"table": "d.t", "column": "c", **place})).literal(row)


GENERATORS: list[dict[str, Any]] = [
    {"sequence": 5},
    {"sequence": {"start": 5, "step": -2}},
    {"choice": ["a", "b", None]},
    {"cycle": [1, 2, 3]},
    {"random_int": {"min": -5, "max": 5}},
    {"text": {"min": 2, "length": 9}},
    {"bytes": 4},
    {"datetime": {"from": "2020-01-01", "to": "2020-01-02 00:00:00"}},
    {"faker": "name"},
    {"faker": "pyint", "args": {"min_value": 3, "max_value": 7}},
    {"faker": "city", "locale": "de_DE"},
]


@pytest.mark.parametrize("cell", GENERATORS, ids=lambda cell: next(iter(cell)))
def test_a_cell_depends_on_its_place_alone(cell: dict[str, Any]) -> None:
    forwards = [made(cell, row) for row in range(12)]
    backwards = [made(cell, row) for row in reversed(range(12))]
    assert forwards == backwards[::-1]
    assert len({repr(value) for value in forwards}) > 1


def test_values_are_what_their_generators_say() -> None:
    assert [made({"sequence": 5}, row) for row in range(3)] == [5, 6, 7]
    assert [made({"sequence": {"start": 0, "step": 10}}, row) for row in range(3)] == [0, 10, 20]
    assert [made({"cycle": ["a", "b"]}, row) for row in range(3)] == ["a", "b", "a"]
    assert Counter(made({"choice": ["a", "b"]}, row) for row in range(200)).keys() == {"a", "b"}
    assert {made({"random_int": {"min": 1, "max": 3}}, row) for row in range(100)} == {1, 2, 3}
    assert {len(made({"text": {"min": 1, "length": 4}}, row)) for row in range(100)} == {1, 2, 3, 4}
    assert len(made({"bytes": {"length": 7}})) == 7
    assert made({"datetime": {"from": "2020-01-01", "to": "2020-01-01"}}) == "2020-01-01 00:00:00.000000"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"choice": list("abcdefgh")}, ["b", "b", "a"]),
        ({"random_int": {"min": -5, "max": 99}}, [12, 12, -4]),
        (
            {"random_int": {"max": 10**30}},
            [575049487622901151042590065955, 333709406928748747272250705931, 797570700843215701182007816709],
        ),
        ({"text": {"min": 2, "length": 9}}, ["6he", "4x4", "7t"]),
        ({"bytes": 4}, [bytes.fromhex("b0974c6a"), bytes.fromhex("66ef425f"), bytes.fromhex("69c7384f")]),
        (
            {"datetime": {"from": "2020-01-01", "to": "2030-01-01"}},
            ["2021-08-19 02:43:19.311596", "2021-08-25 17:05:01.827142", "2020-02-14 21:54:28.189947"],
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_values_never_change_from_one_version_to_the_next(cell: dict[str, Any], expected: list[Any]) -> None:
    column = Generators(7)(cell, ColumnPlace("d.t", "c"))
    assert [column.literal(row) for row in range(3)] == expected


@given(seed=st.integers(0, 9), table=st.sampled_from("ab"), column=st.sampled_from("ab"), row=st.integers(0, 9))
def test_every_part_of_the_place_counts(seed: int, table: str, column: str, row: int) -> None:
    def value(seed: int, table: str, column: str, row: int, update: int = 0) -> Any:
        return Generators(seed)({"bytes": 16}, ColumnPlace(table, column, update)).literal(row)

    others = {
        value(seed + 1, table, column, row), value(seed, table + "x", column, row),
        value(seed, table, column + "x", row), value(seed, table, column, row + 1),
        value(seed, table, column, row, 1),
    }  # fmt: skip
    assert value(seed, table, column, row) not in others


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"fakr": "name"}, "'fakr' does not name a generator.*did you mean 'faker'"),
        ({}, "nothing does not name a generator"),
        ({"cycle": [1], "choice": [1]}, "'cycle', 'choice' does not name a generator"),
        ({"faker": "date_time"}, "depends on today's date"),
        ({"faker": "profile"}, "depends on today's date"),
        ({"faker": "seed_instance"}, "has no provider"),
        ({"faker": "name", "locale": "xx_XX"}, "has no locale"),
        ({"faker": "pyint", "args": {"minimum": 1}}, "faker pyint failed"),
        ({"faker": "name", "lcale": "de_DE"}, "faker has no option 'lcale'.*did you mean 'locale'"),
        ({"choice": []}, "choice needs a list"),
        ({"cycle": "abc"}, "cycle needs a list"),
        ({"random_int": {"min": 5, "max": 1}}, "random_int needs two whole numbers"),
        ({"random_int": 5}, "random_int needs a mapping"),
        ({"text": {"length": -1}}, "text needs a length"),
        ({"bytes": {"length": 1 << 40}}, "bytes needs a length"),
        ({"datetime": {"from": "2020-01-02", "to": "2020-01-01"}}, "datetime needs two moments"),
        ({"sequence": "x"}, "sequence needs whole numbers"),
        ({"generate": 5}, "generate has no generator"),
    ],
)
def test_generators_that_do_not_work_are_errors(cell: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        made(cell)


def table(columns: str, *rows: dict[str, Any]) -> Plan:
    return plan(Scenario("x", tables=[f"CREATE TABLE d.t ({columns})"]).transaction(insert("d.t", *rows)))


def test_rows_count_on_from_one_statement_to_the_next() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a INT)"])
    for count in (2, 3):
        scenario = scenario.transaction(insert_many("d.t", count, {"a": {"sequence": 1}}))
    assert plan(scenario).contents["d.t"] == ((1,), (2,), (3,), (4,), (5,))


def test_an_update_generates_anew() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, a CHAR(9))"])
    scenario = scenario.transaction(insert_many("d.t", 3, {"id": {"sequence": 1}, "a": {"text": 9}}))
    changed = scenario.transaction(update("d.t", set={"a": {"text": 9}}))
    again = changed.transaction(update("d.t", set={"a": {"text": 9}}))
    cells = {row for each in (scenario, changed, again) for row in plan(each).contents["d.t"]}
    assert len(cells) == 9


def test_fakers_text_is_cut_to_the_column_and_to_its_characters() -> None:
    columns = "a VARCHAR(3), b TINYTEXT CHARACTER SET ascii"
    (row,) = table(columns, {"a": {"faker": "name"}, "b": {"faker": "name", "locale": "ja_JP"}}).contents["d.t"]
    assert isinstance(row[0], str)
    assert len(row[0]) == 3
    assert isinstance(row[1], str)
    assert set(row[1]) <= {"?", " "}


def test_text_that_a_person_wrote_is_never_cut() -> None:
    with pytest.raises(ScenarioError, match="cannot hold 4 characters"):
        table("a VARCHAR(3)", {"a": {"choice": ["four"]}})


def test_in_json_columns_a_mapping_is_a_document() -> None:
    rows: list[dict[str, Any]] = [
        {"j": {"faker": "name"}},
        {"j": {"generate": {"choice": [{"faker": "name"}]}}},
        {"j": {"value": {"generate": 1}}},
        {"j": '{"faker": "name"}'},
    ]
    found = table("j JSON", *rows).contents["d.t"]
    assert found[0] == found[1] == found[3] != found[2]


PROGRAM = """
from forge.scenario import Scenario, insert_many, plan
cells = {"a": {"faker": "name"}, "b": {"text": 9}, "c": {"choice": [1, 2, 3]}, "d": {"random_int": {"max": 99}}}
table = "CREATE TABLE d.t (a VARCHAR(60), b CHAR(9), c INT, d INT)"
print(plan(Scenario("x", seed=3, tables=[table]).transaction(insert_many("d.t", 20, cells))).contents)
"""


@pytest.mark.slow
def test_another_process_generates_the_same() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(outputs) == 1
    assert "'d.t'" in outputs.pop()
