"""Cases that are drawn: the same for ever, taken by servers, and decoded to what was planned."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings

pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")

from forge.cli.app import run
from forge.corpus.cases import Case, compile_case
from forge.corpus.judge import Judgement, judge_cases
from forge.corpus.random_cases import ATTEMPTS, RandomCases, kind_of_refusal, random_case, random_slices
from forge.decode.reference import read_reference
from forge.errors import ForgeError, ScenarioError
from forge.scenario import Scenario, plan
from forge.testing.drawn import drawn
from forge.testing.draws.scenarios import scenario_of
from tests.corpus.departure import first_departure
from tests.pages import blocks_of

JUDGE = partial(judge_cases, decoders=["forge"])


def judged(seed: int, first: int, end: int) -> list[Judgement]:
    return list(RandomCases(seed, first, end).judgements(JUDGE, Counter()))


def test_a_case_depends_on_its_seed_and_its_number_alone() -> None:
    whole = judged(7, 0, 12)
    assert [one.case.id for one in whole] == [f"random/7/{number:08d}" for number in range(12)]
    assert judged(7, 0, 5) + judged(7, 5, 12) == whole
    assert [one.files for one in judged(8, 0, 3)] != [one.files for one in whole[:3]]


def test_the_bytes_of_a_seed_never_change() -> None:
    """A change of what is drawn is a change of everybody's corpus: say so in the changelog."""
    shas = [one.files[0].sha256[:12] for one in judged(1, 0, 3)]
    assert shas == ["60fe5d80ac67", "398bb2f8091d", "ae7ccc9c9069"]


def test_cases_are_compiled_and_read_as_they_were_planned() -> None:
    found = judged(2, 0, 40)
    assert {one.status for one in found} == {"compiled"}
    assert {one.against for one in found} == {None}
    assert {one.verdicts[0].outcome for one in found} == {"agree"}
    assert len({one.coverage for one in found}) > 35
    assert len({one.case.server for one in found}) > 6


def test_what_was_drawn_is_decoded_as_it_was_planned() -> None:
    cases = [case for case in (random_case(2, number) for number in range(40)) if not is_refused(case)]
    scenarios = [case.scenario for case in cases if case.scenario is not None]
    read = [[read_reference(file.data) for file in compile_case(case).files] for case in cases]
    assert {first_departure(plan(one), of) for one, of in zip(scenarios, read, strict=True)} == {None}
    assert "row 1" in str(first_departure(plan(scenarios[0]), read[1]))


def is_refused(case: Case) -> bool:
    assert case.scenario is not None
    try:
        plan(case.scenario)
    except ScenarioError:
        return True
    return False


def test_what_no_server_takes_is_drawn_again_and_counted() -> None:
    def refuse_first_attempts(cases: Iterable[Case]) -> Iterator[Judgement]:
        for case in cases:
            first = case.scenario == random_case(4, int(case.id[-8:])).scenario
            yield Judgement(case=case, status="invalid" if first else "compiled", error="a.b: INT cannot hold 'x'")

    refused: Counter[str] = Counter()
    found = list(RandomCases(4, 0, 5).judgements(refuse_first_attempts, refused))
    assert [one.case.id[-1] for one in found] == list("01234")
    assert refused == {"INT cannot hold ...": 5}


def test_a_case_that_cannot_be_drawn_ends_the_build() -> None:
    def refuse(cases: Iterable[Case]) -> Iterator[Judgement]:
        return (Judgement(case=case, status="invalid", error="no") for case in cases)

    with pytest.raises(ForgeError, match="nothing that is drawn for random/4/00000002 is a scenario"):
        list(RandomCases(4, 2, 5).judgements(refuse, Counter()))
    assert ATTEMPTS > 10


def test_slices_are_all_numbers() -> None:
    slices = [one for one in random_slices(1, 1000) if isinstance(one, RandomCases)]
    assert [number for one in slices for number in range(one.first, one.end)] == list(range(1000))


def test_refusals_of_one_kind_have_one_name() -> None:
    assert kind_of_refusal("db.`a b`.c: FLOAT(7,3) cannot hold 'x'; expected a number") == "FLOAT(#,#) cannot hold ..."
    assert kind_of_refusal("table a already has a row whose primary key is x 1") == "two rows have one key"


@settings(max_examples=20)
@given(drawn(scenario_of, "drawn"))
def test_hypothesis_draws_the_same_scenarios(scenario: Scenario) -> None:
    case = replace(random_case(0, 0), scenario=scenario, server=scenario.server)
    [judgement] = JUDGE([case])
    assert judgement.status in ("compiled", "invalid")
    assert judgement.against is None


def test_the_blocks_of_the_page_run() -> None:
    blocks = [block.text for block in blocks_of("corpus.md") if block.language == "python" and "random" in block.text]
    blocks += [block.text for block in blocks_of("corpus.md") if "test_my_tool" in block.text]
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "corpus.md", "exec"), {"__name__": "page"})


def test_a_build_of_drawn_cases_says_what_was_drawn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--random", "9", "--seed", "3", "--decoders", "forge", "--out", str(tmp_path / "out")]
    assert run(["corpus", "build", *options]) == 0
    assert "drawn with the seed 3: 9, of which 0 cover what others do;" in capfd.readouterr().out
    assert run(["corpus", "build", *options, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["random"]["drawn"] == 9
    assert run(["corpus", "build", *options, "--scenarios", str(tmp_path)]) == 2
    assert "give one of --random and --scenarios" in capfd.readouterr().err
    assert run(["corpus", "build", *options, "--decoders", "forgd"]) == 2
    assert "unknown decoder 'forgd'" in capfd.readouterr().err
