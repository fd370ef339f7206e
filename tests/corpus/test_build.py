"""A build without Spark: in this process, or in several; the folder appears whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")

from forge.corpus.build import SLICE, build_corpus, sliced
from forge.corpus.cases import Case
from forge.corpus.judge import CaseFile, DecoderVerdict, Judgement, Jury
from forge.corpus.manifest import CASES_PER_PART, parts, read_case, read_entries, read_summary
from forge.corpus.workers import Processes, ThisProcess, Workers
from forge.errors import ForgeError, ScenarioError

JURY = Jury(present={"stub": "1"}, absent={"other": "not on this machine"})


def cases(count: int) -> list[Case]:
    """Not in the order of their ids."""
    numbers = sorted(range(count), key=lambda number: hashlib.sha256(str(number).encode()).digest())
    return [Case(id=f"c/{n:05d}", file="c.yaml", text=str(n), server="mysql-9.7", tags=("a",)) for n in numbers]


def judge(given: Iterable[Case]) -> Iterator[Judgement]:
    for case in given:
        number = int(case.text)
        if number % 10 == 3:
            yield Judgement(case=case, status="unsupported", error="no such thing yet")
            continue
        binlog = hashlib.sha256(case.text.encode()).digest() * (number % 7)
        outcome = DecoderVerdict(decoder="stub", version="1", outcome="disagree" if number % 10 == 4 else "agree")
        file = CaseFile(name="binlog.000001", data=binlog, sha256=hashlib.sha256(binlog).hexdigest(), decode="{}\n")
        yield Judgement(case=case, status="compiled", tags=[str(number % 5)], files=[file], verdicts=[outcome])


def judge_that_dies(given: Iterable[Case]) -> Iterator[Judgement]:
    os._exit(9)


def judge_that_fails(given: Iterable[Case]) -> Iterator[Judgement]:
    raise RuntimeError("infrastructure fails")


def build(out: Path, given: list[Case], workers: Workers | None = None, seed: int | None = None) -> Path:
    build_corpus(sliced(given), judge, out, jury=JURY, workers=workers or ThisProcess(), random_seed=seed)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_manifest_is_sorted_by_case_and_complete(tmp_path: Path) -> None:
    given = cases(CASES_PER_PART + 40)
    made = build(tmp_path / "out", given)
    assert sorted(contents(made)) == ["_corpus.json", "part-00000.parquet", "part-00001.parquet"]
    entries = list(read_entries(made))
    assert [entry.case for entry in entries] == sorted(case.id for case in given)
    failing = {entry.case for entry in entries if entry.failing}
    assert failing == {f"c/{n:05d}" for n in range(len(given)) if n % 10 in (3, 4)}
    assert read_case(made, "c/00008")["files"][0]["bytes"] == hashlib.sha256(b"8").digest()
    assert read_summary(made).cases == len(given)
    assert read_summary(made).absent == JURY.absent
    assert read_summary(made).random is None


@pytest.mark.slow
def test_several_processes_make_what_one_makes(tmp_path: Path) -> None:
    given = cases(3 * SLICE)
    assert contents(build(tmp_path / "2", given, Processes(2))) == contents(build(tmp_path / "1", given))


@pytest.mark.slow
def test_a_killed_process_ends_the_build_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ForgeError, match="a worker process was killed"):
        build_corpus(sliced(cases(3)), judge_that_dies, tmp_path / "out", jury=JURY, workers=Processes(1))
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_is_replaced_as_a_whole(tmp_path: Path) -> None:
    out = build(tmp_path / "out", cases(5))
    build(out, cases(3))
    assert len(list(read_entries(out))) == 3
    assert list(tmp_path.iterdir()) == [out]


def test_a_failed_build_leaves_the_old_corpus_and_nothing_else(tmp_path: Path) -> None:
    out = build(tmp_path / "out", cases(5))
    with pytest.raises(RuntimeError, match="infrastructure fails"):
        build_corpus(sliced(cases(3)), judge_that_fails, out, jury=JURY, workers=ThisProcess())
    assert len(list(read_entries(out))) == 5
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ScenarioError, match="holds something else than a corpus"):
        build(tmp_path, cases(1))
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_two_cases_with_one_id_are_refused() -> None:
    with pytest.raises(ScenarioError, match="two cases have the id 'c/00000'"):
        sliced([*cases(1), *cases(1)])


def test_no_cases_make_an_empty_corpus(tmp_path: Path) -> None:
    made = build(tmp_path / "out", [])
    assert (list(read_entries(made)), parts(made)) == ([], [])


def test_of_drawn_cases_that_cover_the_same_the_smallest_is_kept(tmp_path: Path) -> None:
    made = build(tmp_path / "out", cases(100), seed=1)
    # Five tags, one of them with two outcomes, and the cases that are unsupported, which have no tags.
    kept = {entry.case: entry.size for entry in read_entries(made)}
    assert kept == {"c/00000": 0, "c/00007": 0, "c/00021": 0, "c/00028": 0, "c/00003": 0, "c/00014": 0, "c/00049": 0}
    summary = read_summary(made).random
    assert summary is not None
    assert (summary.seed, summary.drawn, summary.repeated, summary.refused) == (1, 100, 93, {})
