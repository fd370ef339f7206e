"""The runs that are counted, of mutants for our readers and of those that are listed and assembled again."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest

from tests.counted_runs import Run, command, counted
from tests.fuzz import runs as fuzz
from tests.long import round_trips


@pytest.mark.parametrize("path", [fuzz.RUNS, round_trips.RUNS], ids=["fuzz", "round trips"])
def test_the_counted_runs_found_nothing_and_do_not_overlap(path: Path) -> None:
    runs = sorted(counted(path), key=lambda run: (run["seed"], run["first"]))
    assert runs
    assert [run for run in runs if run["failures"]] == []
    pairs = pairwise(runs)
    assert all(one["seed"] != other["seed"] or one["first"] + one["count"] <= other["first"] for one, other in pairs)


def test_a_run_goes_on_behind_the_counted_ones_and_is_counted_unless_something_failed(tmp_path: Path) -> None:
    def run(seed: int, first: int, count: int, *, seconds: float | None) -> Run:
        return Run(
            seed, first, count, failures=[(number, "odd") for number in range(first, first + count) if number == 5]
        )

    def ask(*arguments: str) -> int:
        with mock.patch.object(sys, "argv", ["run", *arguments]):
            return command("", run, lambda seed, number: b"%d" % number, counts, out=str(tmp_path / "out"), count=2)

    counts = tmp_path / "runs.jsonl"
    assert [ask(), ask(), ask("--seed", "1", "--first", "7"), ask("--uncounted", "--count", "1"), ask()] == [
        0,
        0,
        0,
        0,
        1,
    ]
    assert [(run["seed"], run["first"], run["count"]) for run in counted(counts)] == [(0, 0, 2), (0, 2, 2), (1, 7, 2)]
    assert (tmp_path / "out" / "0-5").read_bytes() == b"5"
    assert json.loads(counts.read_text().splitlines()[0])["failures"] == []


def test_a_long_run_is_counted_in_pieces(tmp_path: Path) -> None:
    counts = tmp_path / "runs.jsonl"

    def run(seed: int, first: int, count: int, *, seconds: float | None) -> Run:
        if first:
            raise KeyboardInterrupt
        return Run(seed, first, count)

    with mock.patch.object(sys, "argv", ["run", "--count", "1000000"]), pytest.raises(KeyboardInterrupt):
        command("", run, lambda seed, number: b"", counts, out=str(tmp_path), count=2)
    assert [(piece["first"], piece["count"]) for piece in counted(counts)] == [(0, 100_000)]
