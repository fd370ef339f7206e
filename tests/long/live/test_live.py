"""The search against live servers: its cases come from their numbers, and the counted ones found nothing new."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from forge.events.query import Query
from tests.counted_runs import counted
from tests.long.live.differences import Difference, differences, known_differences
from tests.long.live.ours import CaseOutcome, Logged, Outcome, session_of, tried
from tests.long.live.searching import FIELDS, RUNS, Run
from tests.long.live.theirs import Answers
from tests.long.live.watch import Watch


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS)
def test_a_case_comes_from_its_number_and_what_is_drawn_is_taken_and_refused(field: str) -> None:
    session, said = session_of(None, "full", "+00:00"), Counter[bool]()
    for number in range(20):
        case = FIELDS[field](Random(f"{field}/{number}"), "d.t")
        assert case == FIELDS[field](Random(f"{field}/{number}"), "d.t")
        outcomes = tried(case, "mysql-9.7", session).outcomes
        said.update(outcome.refused is None for outcome in outcomes)
        assert all(one.logged or one.refused or not one.text for one in outcomes[:1])
    assert said[True] > 5
    assert said[False] > 0


def test_the_counted_runs_found_nothing_new_and_do_not_overlap() -> None:
    runs = sorted((Run(**told) for told in counted(RUNS)), key=lambda run: (run.field, run.server, run.seed, run.first))
    assert [run for run in runs if run.new] == []
    assert all(
        (one.field, one.server, one.seed) != (other.field, other.server, other.seed)
        or one.first + one.count <= other.first
        for one, other in pairwise(runs)
    )


def test_a_known_difference_has_a_reason_and_says_what_it_covers() -> None:
    nothing = Difference("bytes", "", None, (), "", "", "")
    assert [known for known in known_differences() if not known.reason or known.covers(nothing)] == []


def test_what_was_logged_of_a_text_is_not_compared_if_it_may_be_of_another_statement_that_is_not_compared() -> None:
    delete = Outcome("DELETE FROM d.t", "DELETE FROM d.t")
    refused = Outcome("INSERT INTO d.t VALUES (1), (1)", refused="two rows have one key")
    create = Outcome("CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=MyISAM")
    logged: dict[str, list[Logged]] = {"DELETE FROM d.t": [(Query(query="DELETE FROM d.t"),)]}
    session = session_of(None, "full", "+00:00")
    for outcomes, told in (((create, delete), 1), ((create, delete, refused, delete), 0)):
        answers = Answers({(0, 2): "1062 Duplicate entry"}, logged, {})
        found = list(differences("mysql-9.7", session, [CaseOutcome(outcomes, None)], answers))
        assert [one.kind for one in found] == ["bytes"] * told


def test_a_watch_counts_no_seconds_in_which_it_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 2.0, 600.0, 603.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    watch = Watch(longest=5.0)
    assert [watch.seconds for _ in range(3)] == [2.0, 7.0, 10.0]
