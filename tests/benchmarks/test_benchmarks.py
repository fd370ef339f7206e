"""What is made of the times that the benchmarks take."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.lines import LINES, Key, Line
from tests.benchmarks.measure import Cost, Pass
from tests.benchmarks.page import groups, results
from tests.benchmarks.plot import plot
from tests.benchmarks.results import document, figure_of, table
from tests.benchmarks.run import Run, together

ROOT = Path(__file__).resolve().parents[2]
OURS, PEER, OTHER = ("decode", "w1_load"), ("go-mysql", "w1_load"), ("java-connector", "w1_load")
LINE = Line("D2", "W1", "fastest peer / decode", (PEER, OTHER), OURS, ">=", 10)


def run_of(costs: dict[tuple[str, str], list[Cost]]) -> Run:
    return Run(rounds=3, costs=costs)


def test_a_figure_is_the_median_of_the_ratios_within_rounds() -> None:
    ours = [Cost(1, 1), Cost(2, 1), Cost(4, 1)]
    figure = figure_of(LINE, run_of({OURS: ours, PEER: [Cost(10, 30)] * 3}))
    assert figure.wall is not None
    assert (figure.wall.median, figure.wall.least, figure.wall.greatest) == (5, 2.5, 10)
    assert figure.cpu is not None
    assert figure.cpu.median == 30
    # By the processor.
    assert figure.is_met is True


def test_the_quickest_peer_counts_and_a_missing_one_is_named() -> None:
    costs = {OURS: [Cost(1, 1)] * 3, PEER: [Cost(30, 30)] * 3, OTHER: [Cost(12, 12)] * 3}
    assert figure_of(LINE, run_of(costs)).is_met is True
    del costs[OTHER]
    run = run_of(costs)
    run.missing[OTHER] = "java is not installed"
    assert figure_of(LINE, run).remarks == ("missing: java is not installed",)
    assert "missing: java is not installed" in table([figure_of(LINE, run)])


def test_a_line_without_its_subject_has_no_figure_and_says_why() -> None:
    run = run_of({PEER: [Cost(30, 30)] * 3})
    run.failed[OURS] = "ValueError: no rows"
    figure = figure_of(LINE, run)
    assert (figure.wall, figure.is_met) == (None, None)
    assert figure.remarks == ("failed: decode w1_load: ValueError: no rows",)


@dataclass
class Pretended:
    """A subject whose passes take so long, and which notes in ``made`` that it made one."""

    key: Key
    wall: float
    made: list[Key]

    def prepare(self) -> None:
        return

    def started(self) -> AbstractContextManager[Pass]:
        return nullcontext(self._once)

    def _once(self) -> Cost:
        self.made.append(self.key)
        if self.wall < 0:
            raise ValueError("it ended")
        return Cost(self.wall, self.wall)


def made_by(walls: dict[Key, float], rounds: int) -> tuple[list[Key], Run]:
    """The passes that are made for a line whose subjects take so long, in their order."""
    made: list[Key] = []
    run = Run(rounds)
    run.measure([LINE], lambda key: Pretended(key, walls[key], made), lambda _: None)
    return made, run


def test_the_subjects_of_a_figure_take_turns_and_make_as_many_passes() -> None:
    made, _ = made_by({PEER: 0.5, OTHER: 0.8, OURS: 0.1}, rounds=1)
    assert made == [PEER, OTHER, OURS, PEER, OTHER, OURS]
    made, _ = made_by({PEER: 0.05, OTHER: 0.08, OURS: 0.01}, rounds=1)
    assert made == [PEER, OTHER, OURS] * 9


def test_what_takes_long_is_timed_in_the_first_rounds_alone_and_its_figure_is_of_those() -> None:
    made, run = made_by({PEER: 30, OTHER: 40, OURS: 1}, rounds=5)
    assert (made.count(PEER), len(run.costs[OURS])) == (3, 5)
    figure = figure_of(LINE, run)
    assert figure.wall is not None
    assert figure.wall.median == 30


def test_a_subject_that_fails_is_named_and_the_others_go_on() -> None:
    made, run = made_by({PEER: -1, OTHER: 0.4, OURS: 0.4}, rounds=2)
    assert (made.count(PEER), made.count(OURS), run.failed) == (1, 8, {PEER: "ValueError: it ended"})
    assert figure_of(LINE, run).is_met is False


def test_a_run_that_is_stopped_keeps_its_whole_rounds() -> None:
    def stops(said: str) -> None:
        if said.startswith("round 3"):
            raise KeyboardInterrupt

    run = Run(5)
    run.measure([LINE], lambda key: Pretended(key, 1, []), stops)
    assert (run.rounds, len(run.costs[OURS])) == (2, 2)


def test_subjects_are_together_that_figures_compare_with_each_other() -> None:
    floor, copy, text = ("read-floor", "w1_load"), ("memcpy", "w3j"), ("json-binary", "w3j")
    lines = [LINE, Line("J2", "W3", "", (text,), copy, "<=", 1), Line("D3", "W1", "", (OURS,), floor, "<=", 6)]
    assert together(lines) == [[text, copy], [PEER, OTHER, OURS, floor]]


def test_growth_is_the_difference_of_peaks() -> None:
    line = Line("R5", "rows", "memory", (("build", "all"),), ("build", "tenth"), "<=", 300, "B/row")
    costs = {("build", "all"): [Cost(1, 1, 1000, 5_200_000)] * 3, ("build", "tenth"): [Cost(1, 1, 100, 4_930_000)] * 3}
    figure = figure_of(line, run_of(costs))
    assert figure.wall is not None
    assert (figure.wall.median, figure.is_met) == (300, True)


def test_a_control_takes_out_what_the_machine_gives() -> None:
    alone, pair, loop, loops = ("decode-alone", ""), ("decode-pair", ""), ("spin-alone", ""), ("spin-pair", "")
    line = Line("S1", "W2", "two processes", (alone,), pair, ">=", 0.8, control=(loop, loops))
    costs = {alone: [Cost(3, 3)] * 3, pair: [Cost(2, 2)] * 3, loop: [Cost(2, 2)] * 3, loops: [Cost(1, 1)] * 3}
    figure = figure_of(line, run_of(costs))
    assert figure.wall is not None
    assert (figure.wall.median, figure.is_met) == (0.75, False)


def test_the_page_has_a_row_for_every_line_and_the_plot_every_program_that_was_timed() -> None:
    costs = {OURS: [Cost(1, 1, 3000)] * 3, PEER: [Cost(30, 30, 3000)] * 3}
    run = run_of(costs)
    run.missing[OTHER] = "java is not installed"
    written = document(run, [figure_of(LINE, run)], {"numba": "1.0"})
    page = results(json.loads(json.dumps(written)))
    assert "| D2 W1 | fastest peer / decode | 30.0 | 30.0..30.0 | 30.0 | >= 10 |" in page
    assert "java is not installed" in page
    drawing = plot(groups(written))
    assert "binlog-forge" in drawing
    assert "go-mysql" in drawing
    assert "Java" not in drawing


@pytest.mark.nightly
@pytest.mark.slow
def test_every_line_has_a_figure_or_names_what_is_missing(tmp_path: Path, servers: object) -> None:
    pytest.importorskip("numba", reason="the extra [rows] is not installed")
    names = ["E1", "D2", "D6", "R2"]
    output, workloads = tmp_path / "benchmarks.json", tmp_path / "workloads"
    options = ["--tiny", "--rounds=1", f"--only={','.join(names)}", f"--json={output}"]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", *options, f"--folder={workloads}"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    written = json.loads(output.read_text())
    assert [line["name"] for line in written["lines"]] == [line.name for line in LINES if line.name in names]
    assert written["failed"] == {}
    for line in written["lines"]:
        assert line["wall"] is not None or line["remarks"], line
        assert line["name"] != "R2" or line["remarks"] == [
            "missing: no revision to compare with: name one with --before"
        ]
