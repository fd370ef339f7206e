"""The search against live replicas: its cells come from their numbers, and the counted runs found nothing."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

pytest.importorskip("pymysql", reason="the extra `check` is not installed")

from forge.errors import ForgeError
from tests.counted_runs import counted
from tests.long.replicas.drawing import drawn
from tests.long.replicas.searching import RUNS
from tests.replay.built import build_log, row_events
from tests.replay.cells import line_of


def test_a_cell_comes_from_its_number_and_many_have_rows() -> None:
    cells = [drawn(Random(f"0/{number}"), str(number)) for number in range(60)]
    again = [drawn(Random(f"0/{number}"), str(number)) for number in range(60)]
    assert list(map(line_of, cells)) == list(map(line_of, again))
    logged = 0
    for cell in cells:
        try:
            logged += any(row_events(build_log(cell, "mysql-9.7")))
        except ForgeError:
            continue
    assert logged >= 15


def test_the_counted_runs_found_nothing_and_do_not_overlap() -> None:
    runs = sorted(counted(RUNS), key=lambda run: (run["line"], run["seed"], run["first"]))
    assert all(run["wrong"] == 0 < run["right"] for run in runs)
    assert all(
        (one["line"], one["seed"]) != (other["line"], other["seed"]) or one["first"] + one["count"] <= other["first"]
        for one, other in pairwise(runs)
    )
