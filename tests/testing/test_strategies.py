"""Strategies for everybody's tests: valid logs with their rows, and logs with one thing wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import forge
from forge import strategies
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.testing.logs import Log
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


def test_what_fails_is_shrunk_to_one_row_and_plain_values() -> None:
    found: list[Any] = []

    @settings(quick, max_examples=300, derandomize=True, database=None)
    @given(strategies.logs(types=("INT", "VARCHAR"), session=False))
    def reader_that_fails_on_negative_numbers(log: Log) -> None:
        for row in log.rows:
            if any(isinstance(value, int) and value < 0 for value in (row.after or {}).values()):
                found.append([row.after for row in log.rows])
                raise AssertionError

    with pytest.raises(AssertionError):
        reader_that_fails_on_negative_numbers()
    assert len(found[-1]) == 1
    values = list(found[-1][0].values())
    assert -1 in values
    assert set(values) <= {-1, 0, "", None}


def test_types_of_ours_have_their_strategies() -> None:
    strategies.register()

    @settings(quick, max_examples=2)
    @given(st.from_type(Log))
    def logs(log: Log) -> None:
        assert log.data[:4] == b"\xfebin"

    logs()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"server": "mysql-9.9"}, "mysql-9.9"),
        ({"types": ("DECIMALS",)}, "there is no type 'DECIMALS'; did you mean 'DECIMAL'"),
    ],
)
def test_a_wrong_name_is_told_at_once(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        strategies.scenarios(**wrong)
