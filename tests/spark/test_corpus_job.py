"""A corpus build on Spark: any division of the work gives the bytes that one process makes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")

from forge.corpus import random_cases
from forge.corpus.build import SLICE, build_corpus, sliced
from forge.corpus.cases import Case
from forge.corpus.judge import CaseFile, DecoderVerdict, Judge, Judgement, Jury, judge_cases
from forge.corpus.manifest import parts, read_entries
from forge.corpus.random_cases import random_slices
from forge.corpus.workers import ThisProcess
from forge.errors import ForgeError
from forge.spark.corpus import spark_workers
from forge.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

JURY = Jury(present={"stub": "1"}, absent={"other": "not on this machine"})


def cases(count: int) -> list[Case]:
    """Not in the order of their ids."""
    numbers = sorted(range(count), key=lambda number: hashlib.sha256(str(number).encode()).digest())
    return [Case(id=f"c/{n:05d}", file="c.yaml", text=str(n), server="mysql-9.7", tags=("a",)) for n in numbers]


def stub_judgement(case: Case) -> Judgement:
    number = int(case.text or case.id[-2:])
    if number % 10 == 3:
        return Judgement(case=case, status="unsupported", error="no such thing yet")
    binlog = hashlib.sha256(case.text.encode()).digest() * (number % 7)
    verdict = DecoderVerdict(decoder="stub", version="1", outcome="agree")
    if number % 10 == 4:
        verdict = DecoderVerdict(decoder="stub", version="1", outcome="disagree", detail="row 1")
    sha256 = hashlib.sha256(binlog).hexdigest()
    file = CaseFile(name="binlog.000001", data=binlog, sha256=sha256, decode="{}\n")
    return Judgement(case=case, status="compiled", files=[file], verdicts=[verdict])


def judge_of(judge_one: Callable[[Case], Judgement]) -> Judge:
    """A judge that travels to the workers by value."""

    def judge(given: Iterable[Case]) -> Iterator[Judgement]:
        return map(judge_one, given)

    return judge


def build(out: Path, given: Sequence[Case], judge: Judge | None = None, partitions: int | None = None) -> Path:
    with spark_workers(partitions=partitions) as workers:
        build_corpus(sliced(given), judge or judge_of(stub_judgement), out, jury=JURY, workers=workers)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_any_number_of_partitions_gives_the_manifest_that_one_process_makes(tmp_path: Path) -> None:
    given = cases(5 * SLICE + 7)
    judge = judge_of(stub_judgement)
    build_corpus(sliced(given), judge, tmp_path / "here", jury=JURY, workers=ThisProcess())
    for count in (1, 3, 16):
        assert contents(build(tmp_path / str(count), given, partitions=count)) == contents(tmp_path / "here")


def test_random_cases_are_the_same_wherever_they_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_cases, "SLICE", 16)
    judge = partial(judge_cases, decoders=("forge",))
    for count in (1, 3):
        with spark_workers(partitions=count) as workers:
            out = tmp_path / str(count)
            build_corpus(random_slices(5, 60), judge, out, jury=JURY, workers=workers, random_seed=5)
    build_corpus(random_slices(5, 60), judge, tmp_path / "here", jury=JURY, workers=ThisProcess(), random_seed=5)
    assert contents(tmp_path / "1") == contents(tmp_path / "3") == contents(tmp_path / "here")


def test_the_folder_is_a_dataset_for_spark(tmp_path: Path) -> None:
    folder = build(tmp_path / "out", cases(3))
    with spark_session() as session:
        rows = session.read.parquet(str(folder)).select("case").collect()
    assert sorted(row["case"] for row in rows) == [f"c/{n:05d}" for n in range(3)]


def test_a_killed_worker_is_replaced_and_no_case_is_lost(tmp_path: Path) -> None:
    mark = tmp_path / "killed"

    def judge(case: Case) -> Judgement:
        if case.text == "7" and not mark.exists():
            mark.touch()
            os._exit(9)
        return stub_judgement(case)

    whole = build(tmp_path / "whole", cases(70), partitions=4)
    struck = build(tmp_path / "struck", cases(70), judge_of(judge), partitions=4)
    assert mark.exists()
    assert [path.read_bytes() for path in parts(struck)] == [path.read_bytes() for path in parts(whole)]
    assert sorted(contents(struck)) == ["_corpus.json", "part-00000.parquet"]


def test_a_failed_job_leaves_the_old_corpus_and_nothing_else(tmp_path: Path) -> None:
    def judge(case: Case) -> Judgement:
        raise RuntimeError(f"infrastructure fails at {case.id}")

    out = build(tmp_path / "out", cases(5))
    with pytest.raises(
        ForgeError, match="the Spark job failed: RuntimeError: infrastructure fails at c/0000"
    ) as failure:
        build(out, cases(3), judge_of(judge))
    assert "\n" not in str(failure.value)
    assert len(list(read_entries(out))) == 5
    assert list(tmp_path.iterdir()) == [out]


def test_progress_is_told(spark: SparkSession, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def judge(case: Case) -> Judgement:
        time.sleep(0.005)
        return stub_judgement(case)

    assert spark.sparkContext.defaultParallelism == 2
    with spark_workers(partitions=6) as workers:
        build_corpus(
            sliced(cases(6 * SLICE)),
            judge_of(judge),
            tmp_path / "out",
            jury=JURY,
            workers=workers,
            progress=lambda *seen: told.append(seen),
        )
    assert 6 in {total for _, total in told}
    assert all(0 <= done <= total for done, total in told)
